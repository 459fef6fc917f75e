/*
 * DAT_SRQ_CREATE below reads the table of the adapter. Other headers of 1.2 read the table
 * through the last argument, which does not contain a handle before the call, so that their macro
 * cannot work.
 */
