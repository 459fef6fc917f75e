/*
 * windows.h - remote access by contexts of regions and windows, with virtual or zero-based addresses.
 */
#ifndef TESTS_C_V20_WINDOWS_H
#define TESTS_C_V20_WINDOWS_H

#include "common/fixture.h"

#define READ_WRITE (DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

/* Segments from that address. */
DAT_LMR_TRIPLET local_bytes(DAT_LMR_CONTEXT context, DAT_VADDR first, size_t length);
DAT_RMR_TRIPLET remote_bytes(DAT_RMR_CONTEXT context, DAT_VADDR first, size_t length);

/* Registers a region's memory again. */
DAT_RETURN register_again(struct fx *fx, const struct region *r, unsigned privileges, DAT_VA_TYPE type,
                          struct region *made);

/* dat_rmr_bind, and its completion. */
DAT_RETURN bind_as(struct side *s, DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET t, unsigned privileges,
                   DAT_VA_TYPE type, DAT_RMR_CONTEXT *context);
bool bind_ends(struct side *s, DAT_RMR_HANDLE rmr);

/* Both of them, which must succeed. */
void must_bind(struct side *s, DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET t, unsigned privileges,
               DAT_VA_TYPE type, DAT_RMR_CONTEXT *context);

/* Returns the bytes of the bound window, or 0. */
size_t window_length(DAT_RMR_HANDLE rmr);

/*
 * Tests an RDMA access of p->a to memory of p->b, with local memory r. After an expected failure, which breaks the
 * connection, the function reconnects the pair.
 */
void access_is(struct fx *fx, struct pair *p, struct region *r, DAT_RMR_TRIPLET t, bool write, bool allowed,
               const char *what);

#endif
