/*
 * traffic.h - connections that are busy all the time, with books kept of each post: the books must
 * be right after cables are pulled, processes killed or queues flooded, and so must each byte that arrives.
 */
#ifndef TESTS_C_TRAFFIC_H
#define TESTS_C_TRAFFIC_H

#include "srq/srq_common.h"

enum { FLOW_DEPTH = 6, FLOW_MESSAGE = 1024, FLOW_BULK = 8192, POOL_MAX = 256 };

/* A shared receive queue with books on the place of each buffer. */
struct pool {
    struct srq q;
    bool posted[POOL_MAX];
    int out;    /* buffers that the queue has */
    int lost;   /* buffers that were missed and reported */
    int faults; /* completions that cannot be */
};

void pool_open(struct pool *p, struct fx *fx, DAT_COUNT buffers);
void pool_close(struct pool *p);
/* Posts every buffer that the queue does not have. */
void pool_fill(struct pool *p);
/* Waits until the queue counts exactly the buffers that it was given and has not returned. */
bool pool_whole(struct pool *p);

/* One end of a connection, which receives from a pool. */
struct flow {
    struct side s;
    struct pool *pool;
    struct region r;
    DAT_RMR_TRIPLET theirs;  /* length 0: no RDMA */
    uint64_t posted, completed, good, heard;
    bool up;                 /* ESTABLISHED came */
    int ends;                /* events that end a connection or an attempt */
    DAT_EVENT_NUMBER end;    /* the first of them */
    bool refused;            /* a post was answered with an error */
    int faults;              /* anything that cannot be, wrong bytes among it */
};

/* An unconnected endpoint with its EVDs and memory. */
void flow_make(struct flow *f, struct pool *pool);
/* Frees everything; all calls must succeed. */
void flow_free(struct flow *f);

/* Posts up to the depth while the connection is up, where post says so, and takes events off. */
void flow_step(struct flow *f, bool post);

/* Over, and all that was posted has completed. */
bool flow_done(const struct flow *f);

/* Makes the endpoint for a request and accepts; private data of the right size tell theirs. */
void flow_accept(struct flow *f, struct pool *pool, const DAT_EVENT *request);

/* Connections that come and go: accepts every request, frees what is over. */
enum { SERVICE_FLOWS = 16, CONNECTION_EVENTS = 16 };

struct service {
    struct fx fx;
    struct pool pool;
    struct flow flow[SERVICE_FLOWS];
    bool used[SERVICE_FLOWS];
    bool posts; /* sends, writes and reads itself */
    int connections, up, faults;
    int ends[CONNECTION_EVENTS]; /* how often each event ended one; see service_ends() */
};

void service_open(struct service *s, DAT_COUNT buffers, bool posts);
/* Frees every object and closes gracefully: subtests that nothing was left. */
void service_close(struct service *s);
/* One look at everything. */
void service_step(struct service *s);
/* A place for a connection that this side begins; NULL when all are taken. */
struct flow *service_place(struct service *s);
int service_busy(const struct service *s);
/*
 * Serves until every connection has ended and every buffer is back. Returns false at the deadline, after a remark on the
 * remaining connections, which it frees. If a peer leaves after an acceptance and its only packet about that is lost, the
 * kernel sends the acceptance 16 times, one every 4.3 seconds, before it reports the end: the deadline is SETTLE_MS.
 */
enum { SETTLE_MS = 90000 };
bool service_settle(struct service *s, const char *what);
int service_ends(const struct service *s, DAT_EVENT_NUMBER event);
void service_say(const struct service *s);

#endif
