/*
 * traffic.h - busy connections with a record of each post. The records and all received bytes must be right after links
 * went down, processes were killed or queues were flooded.
 */
#ifndef TESTS_C_TRAFFIC_H
#define TESTS_C_TRAFFIC_H

#include "srq/srq_common.h"

enum { FLOW_DEPTH = 6, FLOW_MESSAGE = 1024, FLOW_BULK = 8192, POOL_MAX = 256 };

/* An SRQ with a record of each buffer. */
struct pool {
    struct srq q;
    bool posted[POOL_MAX];
    int out;    /* posted buffers */
    int lost;   /* lost buffers, already reported */
    int faults; /* wrong completions */
};

void pool_open(struct pool *p, struct fx *fx, DAT_COUNT buffers);
void pool_close(struct pool *p);
/* Posts all buffers that are not posted. */
void pool_fill(struct pool *p);
/*
 * Waits until the counters of the SRQ equal the number of posted buffers. Returns false if they do not, or after a
 * fault.
 */
bool pool_whole(struct pool *p);

/* One end of a connection, which receives from a pool. */
struct flow {
    struct side s;
    struct pool *pool;
    struct region r;
    DAT_RMR_TRIPLET theirs;  /* length 0: no RDMA */
    uint64_t posted, completed, good, heard;
    bool up;                 /* got ESTABLISHED */
    int ends;                /* events that end a connection or an attempt */
    DAT_EVENT_NUMBER end;    /* the first of these events */
    bool refused;            /* a post failed */
    int faults;              /* wrong events and wrong bytes */
};

/* Creates an unconnected endpoint with EVDs and memory. */
void flow_make(struct flow *f, struct pool *pool);
/* Frees everything; all calls must succeed. */
void flow_free(struct flow *f);

/*
 * If post is set and the connection is up, posts requests until FLOW_DEPTH are outstanding. Then dequeues all events.
 */
void flow_step(struct flow *f, bool post);

/* Returns whether the connection has ended and all requests have completed. */
bool flow_done(const struct flow *f);

/* Creates an endpoint and accepts the request. Private data that are long enough become `theirs`. */
void flow_accept(struct flow *f, struct pool *pool, const DAT_EVENT *request);

/* A service that accepts every request, and frees closed connections. */
enum { SERVICE_FLOWS = 16, CONNECTION_EVENTS = 16 };

struct service {
    struct fx fx;
    struct pool pool;
    struct flow flow[SERVICE_FLOWS];
    bool used[SERVICE_FLOWS];
    bool posts; /* the service posts requests, too */
    int connections, up, faults;
    int ends[CONNECTION_EVENTS]; /* number of connections that each event ended; see service_ends() */
};

void service_open(struct service *s, DAT_COUNT buffers, bool posts);
/* Frees all objects and closes gracefully, with subtests. */
void service_close(struct service *s);
/* Accepts a pending request, polls all connections once, and posts the free buffers. */
void service_step(struct service *s);
/* Returns a flow for an outgoing connection, or NULL if all are used. */
struct flow *service_place(struct service *s);
int service_busy(const struct service *s);
/*
 * Serves until every connection has ended. After SETTLE_MS, reports and frees the remaining connections. Returns
 * whether all have ended and every buffer is back. The reason for the time: if a peer leaves after an accept, and its
 * only packet about that is lost, the kernel repeats the accept 16 times, every 4.3 seconds, before it reports the
 * end.
 */
enum { SETTLE_MS = 90000 };
bool service_settle(struct service *s, const char *what);
int service_ends(const struct service *s, DAT_EVENT_NUMBER event);
void service_say(const struct service *s);

#endif
