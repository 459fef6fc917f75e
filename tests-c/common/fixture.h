/* fixture.h - the objects that most subtests need. A function that fails ends the program. */
#ifndef TESTS_C_FIXTURE_H
#define TESTS_C_FIXTURE_H

#include "env.h"
#include "peer.h"
#include "tap.h"
#include "wait.h"

#include <netinet/in.h>
#include <stddef.h>

/* A value that is no handle, for outputs that a call must not change. */
#define UNTOUCHED ((DAT_HANDLE)(uintptr_t)0x5a5a5a5a5a5a5a50u)

#define MEM_LOCAL (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG)

struct fx {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async; /* created by dat_ia_open() */
    DAT_PZ_HANDLE pz;
    DAT_EVD_HANDLE cr;    /* EVD for connection requests */
    struct sockaddr_storage address;
    DAT_COUNT max_private_data;
    DAT_COUNT max_rmrs; /* 0 if the adapter has no windows */
};

void fx_open(struct fx *fx);
/*
 * Closes the adapter abruptly, which frees all objects, and frees the memory of all regions. Prints a
 * subtest only if the close fails.
 */
void fx_close(struct fx *fx);

DAT_IA_ADDRESS_PTR fx_address(struct fx *fx);

DAT_EVD_HANDLE fx_evd(struct fx *fx, DAT_COUNT qlen, unsigned flags);

/*
 * Zeroed memory and its registration. fx_close() frees remaining regions: do not call region_free()
 * after it.
 */
struct region {
    unsigned char *mem;
    size_t size;
    unsigned long id;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
};

void region_make(struct fx *fx, struct region *r, size_t size, unsigned privileges);
void region_make_in(struct fx *fx, DAT_PZ_HANDLE pz, struct region *r, size_t size,
                    unsigned privileges);
void region_free(struct region *r);

/* segment() returns a local segment, target() the triplet for a peer's access to the same bytes. */
DAT_LMR_TRIPLET segment(const struct region *r, size_t offset, size_t length);
DAT_RMR_TRIPLET target(const struct region *r, size_t offset, size_t length);

/* Transfer a triplet between two processes, which may use different versions of uDAPL. */
bool link_send_target(struct link *l, DAT_RMR_TRIPLET t);
bool link_recv_target(struct link *l, DAT_RMR_TRIPLET *t);

DAT_DTO_COOKIE cookie(DAT_UINT64 value);

/* Fills memory with bytes that depend on seed and offset. */
void pattern_fill(void *mem, size_t size, unsigned seed);
/* Returns the offset of the first wrong byte, or -1. */
long pattern_check(const void *mem, size_t size, unsigned seed);
/*
 * Returns whether a completed RDMA write has written these bytes. Waits for them on iWARP, where the completion precedes
 * the arrival.
 */
bool written(const void *mem, size_t size, unsigned seed);
bool all_bytes(const void *mem, size_t size, unsigned char value);

/* Sets the attributes of a reliable connection, with small limits and EVD_THRESHOLD flags. */
void attr_default(DAT_EP_ATTR *attr);

/*
 * Returns the smaller of n and the maximum number of segments of an RDMA read, which is 1 on iWARP.
 * The maximum is from the adapter that fx_open() opened last.
 */
DAT_COUNT read_iov_at_most(DAT_COUNT n);

/*
 * Waits for the events of a passive side that accepted after the active side had ended. Returns
 * whether they are ACCEPT_COMPLETION_ERROR, or on iWARP ESTABLISHED and then DISCONNECTED or BROKEN.
 */
bool wait_accept_failed(DAT_EVD_HANDLE conn);

/* Waits for DAT_CONNECTION_EVENT_BROKEN or DAT_CONNECTION_EVENT_DISCONNECTED. */
bool broken_or_disconnected(DAT_EVD_HANDLE conn);

/* Waits for DAT_CONNECTION_EVENT_BROKEN, on iWARP also for DAT_CONNECTION_EVENT_DISCONNECTED. */
bool wait_broken(DAT_EVD_HANDLE conn);

/*
 * Returns true on iWARP, where a message without a receive ends the connection, and then prints the
 * subtest `name` as skipped.
 */
bool none_waits(const char *name);

/* An endpoint with its own EVDs. */
struct side {
    struct fx *fx;
    DAT_EP_HANDLE ep;
    DAT_EVD_HANDLE recv;
    DAT_EVD_HANDLE req;
    DAT_EVD_HANDLE conn;
};

/* Creates an unconnected endpoint. If attr is NULL, uses attr_default(). */
void side_make(struct side *s, struct fx *fx, const DAT_EP_ATTR *attr);
/* Same as side_make(), with a shared receive queue. */
void side_make_srq(struct side *s, struct fx *fx, DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr);
/* Frees all handles that are not NULL. */
void side_free(struct side *s);

/* Creates a PSP in consumer mode, with any free qualifier, and stores the qualifier in *qual. */
DAT_PSP_HANDLE fx_listen(struct fx *fx, DAT_CONN_QUAL *qual);
DAT_PSP_HANDLE fx_listen_on(struct fx *fx, DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
                            DAT_CONN_QUAL *qual);

/* Calls dat_ep_connect() with the timeout SOON_MS. */
DAT_RETURN side_connect(struct side *s, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual);

DAT_CR_HANDLE next_request(DAT_EVD_HANDLE evd);

/* Returns whether the addresses are equal, whatever their ports are. */
bool same_address(DAT_IA_ADDRESS_PTR a, DAT_IA_ADDRESS_PTR b);

/* Connects two unconnected endpoints of this process, and takes both ESTABLISHED events. */
void sides_connect(struct side *active, struct side *passive);

/* Two connected endpoints of this process. `a` is the active side. */
struct pair {
    struct side a;
    struct side b;
};

void pair_open(struct pair *p, struct fx *fx, const DAT_EP_ATTR *attr);
void pair_close(struct pair *p);

/* Connect endpoints of two processes. One process calls the first function, the other the second. */
void side_accept_peer(struct side *s, struct link *l);
void side_connect_peer(struct side *s, struct link *l);

/* Post one segment. post_recv() and post_send() post no segment if len is 0. */
DAT_RETURN post_recv(struct side *s, struct region *r, size_t off, size_t len, DAT_UINT64 cookie);
DAT_RETURN post_send(struct side *s, struct region *r, size_t off, size_t len, DAT_UINT64 cookie);
DAT_RETURN post_write(struct side *s, struct region *r, size_t off, size_t len,
                      DAT_RMR_TRIPLET to, DAT_UINT64 cookie);
DAT_RETURN post_read(struct side *s, struct region *r, size_t off, size_t len,
                     DAT_RMR_TRIPLET from, DAT_UINT64 cookie);

/* Sends one message in each direction. Returns whether both arrive intact. */
bool sides_talk(struct side *x, struct side *y);

#endif
