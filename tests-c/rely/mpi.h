/*
 * mpi.h - a small message-passing library, which uses uDAPL as MPI libraries do.
 *
 * Ranks know each other's addresses and connect on the first message. A sender writes small messages
 * into a ring of slots at the target, which polls the footer of the next slot. Used slots return as
 * credits, in messages of the other direction or by a write of 4 bytes. Large messages use a
 * rendezvous: a slot announces them, then the receiver reads, or the sender writes, the program's
 * memory, whose registrations are cached. Most requests suppress their completions.
 *
 * Two ranks have several connections, *rails*. Different threads can use different rails.
 */
#ifndef TESTS_C_MPI_H
#define TESTS_C_MPI_H

#include "common/fixture.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MAX_RANKS = 32,
    RAILS = 2,
    ALL_RAILS = -1,
    SLOT = 2048,          /* bytes of a slot */
    CHUNK = 64 << 10,     /* bytes of one write of a rendezvous */
    REQUESTS = 48,        /* max_request_dtos */
    SIGNAL_EVERY = 16,
    MAX_CACHED = 256,     /* registrations */
    MAX_UNUSED = 6,       /* registrations without a user that stay cached */
    LARGEST = 1 << 20     /* bytes of a message */
};

struct cached {
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT local;
    DAT_RMR_CONTEXT remote;
    uintptr_t from, to;
    unsigned users;
    uint64_t used; /* mpi.clock at the last use */
};

/* Kinds of headers in slots. */
enum what { SMALL, ANNOUNCED, WRITE_HERE, FINISHED };

struct header {
    uint32_t what, tag, size, credit;
    uint64_t address;      /* of the announced bytes, or of their destination */
    uint32_t context;
    uint32_t by_read;
    uint64_t theirs, ours; /* requests of the header's receiver and sender */
};

/* A send or receive, which the program owns. */
struct request {
    bool done;
    unsigned char *mem;
    size_t size;
    uint32_t tag;
    bool by_read;
    struct cached *cached;
    struct vc *vc;
    uint64_t there;        /* address of the bytes at the other rank */
    uint32_t there_context;
    uint64_t theirs;       /* request of the other rank */
    size_t posted;
    uint32_t last;         /* number of its last work request */
    struct request *next;
};

/* A header that waits for a slot. */
struct item {
    struct header header;
    struct request *small; /* request that completes when its bytes are in the slot */
    struct item *next;
};

/* A message that has arrived before its receive is posted. */
struct early {
    struct header header;
    unsigned char *bytes;
    struct early *next;
};

enum phase { UNUSED, CALLING, REFUSED, CALLED, GREETING, UP, ENDED };

/* A connection to another rank. */
struct vc {
    int peer, rail;
    int phase;               /* enum phase; other threads read it */
    DAT_EP_HANDLE ep;
    DAT_CR_HANDLE crossed;   /* the other rank's connection request during CALLING */
    struct region memory;    /* credits, greetings, receive ring, send slots */
    DAT_RMR_TRIPLET there;
    uint32_t sent, taken, told, granted; /* counts of slots: sent, received, released by us, released by the peer */
    uint32_t posted, signalled, retired; /* last work request of each kind; any thread stores `retired` */
    struct item *items, **items_end;
    struct request *receives, **receives_end; /* posted */
    struct early *early, **early_end;
    struct request *bulk;    /* large messages in flight */
    unsigned ends, flushed;  /* events at the end of the connection */
    bool greeted;
};

struct address {
    struct sockaddr_storage ip;
    DAT_CONN_QUAL qual;
};

struct mpi {
    int me, ranks;
    uint32_t slots;          /* per ring */
    struct fx fx;
    DAT_EVD_HANDLE dto, conn;
    DAT_PSP_HANDLE psp;
    struct address table[MAX_RANKS];
    struct vc vcs[MAX_RANKS][RAILS];
    struct cached cache[MAX_CACHED];
    uint64_t clock;          /* counts uses of the cache */
    unsigned hits, misses, crossings;
    pthread_mutex_t lock;    /* protects events and connects */
    pthread_mutex_t cache_lock;
    int broken;              /* set after an error, such as the end of a rank */
    bool closing;
    char why[160];
};

/* ---- Public functions ---- */

/* Opens the adapter and listens. Returns this rank's address in *own. */
void mpi_open(struct mpi *m, int me, int ranks, struct address *own);
/* Start a send or a receive, which mpi_wait() completes. Until then the program must not change sent memory. */
void mpi_isend(struct mpi *m, struct request *r, void *mem, size_t size, int to, int rail, uint32_t tag);
void mpi_irecv(struct mpi *m, struct request *r, void *mem, size_t size, int from, int rail, uint32_t tag);
/* Waits for n requests, and progresses one rail or all. Returns false after an error, such as the exit of a rank. */
bool mpi_wait(struct mpi *m, struct request *r, int n, int rail);
/* Posts all pending headers. A thread must call it before it stops using a rail: other ranks wait for the headers. */
bool mpi_post_all(struct mpi *m, int rail);
bool mpi_barrier(struct mpi *m);
/* Replaces *number by the sum over all ranks. */
bool mpi_sum(struct mpi *m, uint64_t *number);
/* Sends block i of `out` to rank i, and receives block i of `in` from rank i. */
bool mpi_all_to_all(struct mpi *m, unsigned char *out, unsigned char *in, size_t block);
/* Waits until all sent data has arrived. */
bool mpi_flush(struct mpi *m);
/* Ends all connections, checks their events, and closes the adapter. */
bool mpi_close(struct mpi *m);

/* ---- Internal functions ---- */

/* Offsets in the memory of a connection. */
enum { CREDIT_AT = 0, HELLO_OUT = 64, HELLO_IN = 128, CREDITS_OUT = 256, RING_AT = 1024 };

#define PHASE(v) ((enum phase)__atomic_load_n(&(v)->phase, __ATOMIC_ACQUIRE))
#define SET_PHASE(v, p) __atomic_store_n(&(v)->phase, (int)(p), __ATOMIC_RELEASE)

/* Records the first error. */
void mpi_break(struct mpi *m, const char *fmt, ...) TAP_PRINTF(2, 3);

/*
 * mpi_connect.c: mpi_connect() connects if the phase is UNUSED. mpi_events() returns whether it
 * handled an event.
 */
void mpi_connect(struct mpi *m, struct vc *v);
bool mpi_events(struct mpi *m);

/* mpi_cache.c: returns a registration of these bytes, which stays cached after its last use. */
struct cached *mpi_register(struct mpi *m, const void *mem, size_t size);
void mpi_unregister(struct mpi *m, struct cached *c);
void mpi_cache_end(struct mpi *m);

/* mpi_ring.c: posts a work request. Returns its number, or 0 if the queue is full or the post fails. */
uint32_t mpi_post(struct mpi *m, struct vc *v, bool read, DAT_LMR_CONTEXT local, const void *mem, size_t size,
                  DAT_RMR_CONTEXT remote, uint64_t there, bool signalled);
void mpi_queue(struct vc *v, const struct header *h, struct request *small);
/* Progresses a connection. Returns whether it did anything. */
bool mpi_progress(struct mpi *m, struct vc *v);

bool mpi_has_retired(const struct vc *v, uint32_t number);

/* mpi_messages.c: handle a received header; post work requests of large messages. */
void mpi_arrived(struct mpi *m, struct vc *v, const struct header *h, const unsigned char *bytes);
bool mpi_bulk(struct mpi *m, struct vc *v);

#endif
