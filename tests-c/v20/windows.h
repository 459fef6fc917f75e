/*
 * windows.h - memory as peers reach it: by contexts of regions and of windows, whose bytes are counted from an
 * address or from 0.
 */
#ifndef TESTS_C_V20_WINDOWS_H
#define TESTS_C_V20_WINDOWS_H

#include "common/fixture.h"

#define READ_WRITE (DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

/* Segments whose first byte has that number. */
DAT_LMR_TRIPLET local_bytes(DAT_LMR_CONTEXT context, DAT_VADDR first, size_t length);
DAT_RMR_TRIPLET remote_bytes(DAT_RMR_CONTEXT context, DAT_VADDR first, size_t length);

/* Registers the bytes of a region once more. */
DAT_RETURN register_again(struct fx *fx, const struct region *r, unsigned privileges, DAT_VA_TYPE type,
                          struct region *made);

/* dat_rmr_bind with a cookie, and its event. */
DAT_RETURN bind_as(struct side *s, DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET t, unsigned privileges,
                   DAT_VA_TYPE type, DAT_RMR_CONTEXT *context);
bool bind_ends(struct side *s, DAT_RMR_HANDLE rmr);

/* The two of them, which must work. */
void must_bind(struct side *s, DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET t, unsigned privileges,
               DAT_VA_TYPE type, DAT_RMR_CONTEXT *context);

/* The bytes that a window shows; 0 for one that is not bound. */
size_t window_length(DAT_RMR_HANDLE rmr);

/*
 * An access of a to memory of b, with the first bytes of that local region. The pair is broken, and renewed, when
 * it fails.
 */
void access_is(struct fx *fx, struct pair *p, struct region *r, DAT_RMR_TRIPLET t, bool write, bool allowed,
               const char *what);

#endif
