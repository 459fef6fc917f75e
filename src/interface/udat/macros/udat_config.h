/** Thread safety that dat_ia_open requires. To require DAT_TRUE, define it before the include. */
#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif
