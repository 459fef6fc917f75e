/*
 * mpi.h - a small message-passing library, which uses uDAPL as the MPI libraries of its time do.
 *
 * Ranks find each other by a table of addresses and connect when there is a first message. Small messages go by RDMA into
 * a ring of slots at the target, which finds them by the footer of a slot in its memory; their slots come back as credits,
 * in messages of the other direction, or by a write of 4 B. Large ones go by rendezvous: announced in a slot, and then read
 * by the receiver, or written by the sender once it knows where to, from and to the program's own memory, whose
 * registrations are kept. Nearly all requests are suppressed. Completions are dequeued now and then.
 *
 * Between two ranks there may be several connections, *rails*. A thread may use one while other threads use others.
 */
#ifndef TESTS_C_MPI_H
#define TESTS_C_MPI_H

#include "common/fixture.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RANKS = 32,           /* at most */
    RAILS = 2,
    ALL_RAILS = -1,
    SLOT = 2048,          /* bytes of a slot */
    CHUNK = 64 << 10,     /* bytes of one write of a rendezvous */
    REQUESTS = 48,        /* max_request_dtos */
    SIGNAL_EVERY = 16,
    CACHED = 256,         /* registrations */
    KEPT = 6,             /* of them, those that nobody uses now */
    LARGEST = 1 << 20     /* bytes of a message */
};

/* A registration of some pages of the program. */
struct cached {
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT local;
    DAT_RMR_CONTEXT remote;
    uintptr_t from, to;
    unsigned users;
    uint64_t used; /* when */
};

/* What a slot holds besides the bytes of a small message. */
enum what { SMALL, ANNOUNCED, WRITE_HERE, FINISHED };

struct header {
    uint32_t what, tag, size, credit;
    uint64_t address;      /* of the announced bytes, or of the place for them */
    uint32_t context;
    uint32_t by_read;
    uint64_t theirs, ours; /* requests of the receiver of this header, and of its sender */
};

/* A message on its way: of the program, which keeps it until it is done. */
struct request {
    bool done;
    unsigned char *mem;
    size_t size;
    uint32_t tag;
    bool by_read;
    struct cached *cached;
    struct vc *vc;
    uint64_t there;        /* its end at the other rank: address, context, request */
    uint32_t there_context;
    uint64_t theirs;
    size_t posted;
    uint32_t last;         /* the number of its last request to the adapter, once posted */
    struct request *next;
};

/* Something that waits for a slot. */
struct item {
    struct header header;
    struct request *small; /* done when its bytes are in the slot */
    struct item *next;
};

/* A message that came before anybody asked for it. */
struct early {
    struct header header;
    unsigned char *bytes;
    struct early *next;
};

enum phase { UNUSED, CALLING, REFUSED, CALLED, GREETING, UP, ENDED };

/* A connection to another rank. */
struct vc {
    int peer, rail;
    int phase;               /* enum phase; other threads look at it */
    DAT_EP_HANDLE ep;
    DAT_CR_HANDLE crossed;   /* a request of the other rank while this one is calling */
    struct region memory;    /* credit, greetings, the ring, and the slots that go out */
    DAT_RMR_TRIPLET there;
    uint32_t sent, taken, told, granted; /* slots */
    uint32_t posted, signalled, retired; /* requests to the adapter; the last one is stored by any thread */
    struct item *items, **items_end;
    struct request *receives, **receives_end; /* posted */
    struct early *early, **early_end;
    struct request *bulk;    /* large ones whose bytes are on their way */
    unsigned ends, flushed;  /* events at the end */
    bool greeted;
};

struct address {
    struct sockaddr_storage ip;
    DAT_CONN_QUAL qual;
};

struct mpi {
    int me, ranks;
    uint32_t slots;          /* of a ring */
    struct fx fx;
    DAT_EVD_HANDLE dto, conn;
    DAT_PSP_HANDLE psp;
    struct address table[RANKS];
    struct vc vcs[RANKS][RAILS];
    struct cached cache[CACHED];
    uint64_t clock;          /* of the cache */
    unsigned hits, misses, crossings;
    pthread_mutex_t lock;    /* of events and of connecting */
    pthread_mutex_t cache_lock;
    int broken;              /* a rank is gone, or something is wrong */
    bool closing;
    char why[160];
};

/* ---- For programs ---- */

/* Opens the adapter and listens; the address is that of this rank. */
void mpi_open(struct mpi *m, int me, int ranks, struct address *own);
/* Sends and receives, to be waited for. Memory of a send stays as it is until then. */
void mpi_isend(struct mpi *m, struct request *r, void *mem, size_t size, int to, int rail, uint32_t tag);
void mpi_irecv(struct mpi *m, struct request *r, void *mem, size_t size, int from, int rail, uint32_t tag);
/* Waits for all of them, and lets one rail go on meanwhile, or all. False if a rank is gone. */
bool mpi_wait(struct mpi *m, struct request *r, int n, int rail);
/*
 * Posts all that this rank has to tell others, such as that it has read their memory. A thread calls it before it lets
 * its rail alone, since they wait for that.
 */
bool mpi_post_all(struct mpi *m, int rail);
bool mpi_barrier(struct mpi *m);
/* Adds up one number of each rank. */
bool mpi_sum(struct mpi *m, uint64_t *number);
/* Block i of `out` goes to rank i, whose block comes into block i of `in`. */
bool mpi_all_to_all(struct mpi *m, unsigned char *out, unsigned char *in, size_t block);
/* Waits until all that was sent has arrived. */
bool mpi_flush(struct mpi *m);
/* Ends all connections, and looks whether each one ends as it should; then closes the adapter. */
bool mpi_close(struct mpi *m);

/* ---- What its files share ---- */

/* Where something is in the memory of a connection. */
enum { CREDIT_AT = 0, HELLO_OUT = 64, HELLO_IN = 128, CREDITS_OUT = 256, RING_AT = 1024 };

#define PHASE(v) ((enum phase)__atomic_load_n(&(v)->phase, __ATOMIC_ACQUIRE))
#define SET_PHASE(v, p) __atomic_store_n(&(v)->phase, (int)(p), __ATOMIC_RELEASE)

/* Notes why nothing goes on any more. */
void mpi_break(struct mpi *m, const char *fmt, ...) TAP_PRINTF(2, 3);

/* mpi_connect.c: connects if that has not been begun; handles all events that have come; true if there were some. */
void mpi_connect(struct mpi *m, struct vc *v);
bool mpi_events(struct mpi *m);

/* mpi_cache.c: a registration that has these bytes, which is kept when nobody uses it any more. */
struct cached *mpi_register(struct mpi *m, const void *mem, size_t size);
void mpi_unregister(struct mpi *m, struct cached *c);
void mpi_cache_end(struct mpi *m);

/* mpi_ring.c: posts a request, if there is a place; its number, or 0. */
uint32_t mpi_post(struct mpi *m, struct vc *v, bool read, DAT_LMR_CONTEXT local, const void *mem, size_t size,
                  DAT_RMR_CONTEXT remote, uint64_t there, bool signalled);
void mpi_queue(struct vc *v, const struct header *h, struct request *small);
/* One round of everything that a connection has to do; true if something was done. */
bool mpi_progress(struct mpi *m, struct vc *v);

bool mpi_has_retired(const struct vc *v, uint32_t number);

/* mpi_messages.c: does what comes of a header; posts what large messages need. */
void mpi_arrived(struct mpi *m, struct vc *v, const struct header *h, const unsigned char *bytes);
bool mpi_bulk(struct mpi *m, struct vc *v);

#endif
