/*
 * DAT_SRQ_CREATE below reads the table of the adapter. Other headers of 1.2 read it through the last
 * argument, where the result is yet to be written, so that their macro cannot work.
 */
