/*
 * fixture.h - the surroundings that most subtests need, in one call each.
 *
 * A fixture that cannot be set up ends the program ("Bail out!", or exit 1 in
 * a peer): other programs test its parts.
 */
#ifndef TESTS_C_FIXTURE_H
#define TESTS_C_FIXTURE_H

#include "env.h"
#include "peer.h"
#include "tap.h"
#include "wait.h"

#include <netinet/in.h>
#include <stddef.h>

/* Any value that no handle has: for outputs that must stay as they were. */
#define UNTOUCHED ((DAT_HANDLE)(uintptr_t)0x5a5a5a5a5a5a5a50u)

#define MEM_LOCAL (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG)

/* An open interface adapter with a protection zone and an EVD for requests. */
struct fx {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async; /* made by dat_ia_open() */
    DAT_PZ_HANDLE pz;
    DAT_EVD_HANDLE cr;    /* connection requests, DAT_EVD_CR_FLAG */
    struct sockaddr_storage address;
    DAT_COUNT max_private_data;
};

void fx_open(struct fx *fx);
/* Closes abruptly: whatever is left goes with it. A subtest only when it fails. */
void fx_close(struct fx *fx);

/* The adapter's own address: what an endpoint connects to. */
DAT_IA_ADDRESS_PTR fx_address(struct fx *fx);

DAT_EVD_HANDLE fx_evd(struct fx *fx, DAT_COUNT qlen, unsigned flags);

/*
 * Memory (zeroed) and its registration. What is not freed goes with fx_close();
 * region_free() of what has gone so does nothing.
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

/* A local segment, and what a peer needs to reach the same bytes. */
DAT_LMR_TRIPLET segment(const struct region *r, size_t offset, size_t length);
DAT_RMR_TRIPLET target(const struct region *r, size_t offset, size_t length);

/* Such a triplet over a link; the program at the other end may be of the other version of uDAPL. */
bool link_send_target(struct link *l, DAT_RMR_TRIPLET t);
bool link_recv_target(struct link *l, DAT_RMR_TRIPLET *t);

DAT_DTO_COOKIE cookie(DAT_UINT64 value);

/* Bytes that depend on the seed and on the place. */
void pattern_fill(void *mem, size_t size, unsigned seed);
/* -1 when all bytes are right, else the offset of the first wrong one. */
long pattern_check(const void *mem, size_t size, unsigned seed);
bool all_bytes(const void *mem, size_t size, unsigned char value);

/* Attributes that ask for every feature in modest size, EVD_THRESHOLD both ways. */
void attr_default(DAT_EP_ATTR *attr);

/* n, or the most segments of an RDMA read over the adapter that fx_open() opened last: iWARP has one. */
DAT_COUNT read_iov_at_most(DAT_COUNT n);

/*
 * The end of a connection that was accepted after the active side had gone: ACCEPT_COMPLETION_ERROR; on iWARP, where it
 * stands once it is accepted, ESTABLISHED and then DISCONNECTED or BROKEN.
 */
bool wait_accept_failed(DAT_EVD_HANDLE conn);

/* True, with a skip of that name, where no message waits for its receive: it ends an iWARP connection. */
bool none_waits(const char *name);

/* An endpoint with EVDs of its own. */
struct side {
    struct fx *fx;
    DAT_EP_HANDLE ep;
    DAT_EVD_HANDLE recv;
    DAT_EVD_HANDLE req;
    DAT_EVD_HANDLE conn;
};

/* An unconnected endpoint; attr may be NULL for attr_default(). */
void side_make(struct side *s, struct fx *fx, const DAT_EP_ATTR *attr);
/* The same on a shared receive queue. */
void side_make_srq(struct side *s, struct fx *fx, DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr);
/* Frees endpoint and EVDs; what is freed already (NULL) is passed over. */
void side_free(struct side *s);

/* A public service point, consumer mode, on fx->cr; picks the qualifier. */
DAT_PSP_HANDLE fx_listen(struct fx *fx, DAT_CONN_QUAL *qual);
DAT_PSP_HANDLE fx_listen_on(struct fx *fx, DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
                            DAT_CONN_QUAL *qual);

/* dat_ep_connect() without private data, deadline SOON_MS. */
DAT_RETURN side_connect(struct side *s, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual);

/* The next request on that EVD. */
DAT_CR_HANDLE next_request(DAT_EVD_HANDLE evd);

/*
 * Connects two unconnected endpoints of this process, active and passive,
 * through a service point of their own that is gone afterwards. Both have
 * seen ESTABLISHED.
 */
void sides_connect(struct side *active, struct side *passive);

/* Two connected endpoints in one process. */
struct pair {
    struct side a; /* the active side */
    struct side b; /* the passive side */
};

void pair_open(struct pair *p, struct fx *fx, const DAT_EP_ATTR *attr);
void pair_close(struct pair *p);

/*
 * Connects over a link: one process calls side_accept_peer(), the other
 * side_connect_peer(), each with an unconnected endpoint.
 */
void side_accept_peer(struct side *s, struct link *l);
void side_connect_peer(struct side *s, struct link *l);

/* Posts of one segment, or none when length is 0. */
DAT_RETURN post_recv(struct side *s, struct region *r, size_t off, size_t len, DAT_UINT64 cookie);
DAT_RETURN post_send(struct side *s, struct region *r, size_t off, size_t len, DAT_UINT64 cookie);
DAT_RETURN post_write(struct side *s, struct region *r, size_t off, size_t len,
                      DAT_RMR_TRIPLET to, DAT_UINT64 cookie);
DAT_RETURN post_read(struct side *s, struct region *r, size_t off, size_t len,
                     DAT_RMR_TRIPLET from, DAT_UINT64 cookie);

/* One small message each way between two connected endpoints of this process. */
bool sides_talk(struct side *x, struct side *y);

#endif
