/** Thread safety that dat_ia_open asks for; define it before including to ask for DAT_TRUE. */
#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif
