/*
 * windows.h - remote access by contexts of regions and windows, with virtual or zero-based addresses.
 */
#ifndef TESTS_C_V20_WINDOWS_H
#define TESTS_C_V20_WINDOWS_H

#include "common/fixture.h"

#define READ_WRITE (DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

/* Return a segment of `length` bytes from the address `first`. */
DAT_LMR_TRIPLET local_bytes(DAT_LMR_CONTEXT context, DAT_VADDR first, size_t length);
DAT_RMR_TRIPLET remote_bytes(DAT_RMR_CONTEXT context, DAT_VADDR first, size_t length);

/* Registers a region's memory again. */
DAT_RETURN register_again(struct fx *fx, const struct region *r, unsigned privileges, DAT_VA_TYPE type,
                          struct region *made);

/* bind_as() calls dat_rmr_bind(). bind_ends() returns whether the next event is its successful completion. */
DAT_RETURN bind_as(struct side *s, DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET t, unsigned privileges,
                   DAT_VA_TYPE type, DAT_RMR_CONTEXT *context);
bool bind_ends(struct side *s, DAT_RMR_HANDLE rmr);

/* Calls bind_as() and bind_ends(), which must succeed. */
void must_bind(struct side *s, DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET t, unsigned privileges,
               DAT_VA_TYPE type, DAT_RMR_CONTEXT *context);

/* Returns the length of the window, or 0 if it is unbound. */
size_t window_length(DAT_RMR_HANDLE rmr);

/*
 * Tests an RDMA access of p->a to memory of p->b, with local memory r. An access that is not allowed breaks the
 * connection; then the function opens the pair again.
 */
void access_is(struct fx *fx, struct pair *p, struct region *r, DAT_RMR_TRIPLET t, bool write, bool allowed,
               const char *what);

#endif
