/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * bench.h - the program bench, for measurements that dat-perf does not make: single calls and, with -DDAT2 (dat2.h),
 * transfers with libraries of uDAPL 2.0. It measures times in the same way as dat-perf.
 *
 * - main.c: options, processes, output
 * - node.c: the objects of one process, and the connection
 * - latency.c: one message or datagram after the other
 * - stream.c: many concurrent messages in one direction
 * - delay.c: writes to a target that makes no call
 * - calls.c: single calls
 * - round.c: rounds in one process, after it has done something else
 * - mesh.c: many processes that are all connected
 * - connections.c: memory and time of connections
 * - link.c: communication of the processes without uDAPL, clocks, memory
 *
 * The program uses only <dat/udat.h> and POSIX.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef DAT2
#include "dat2.h"
#else
#include <dat/udat.h>
#endif

enum what { SEND, WRITE, SILENT, DATAGRAM };

/* Bytes before a datagram in its receive buffer. */
#define GRH 40

/* The measurement; the same in both processes. */
struct plan {
    void (*run)(struct plan *plan, void *node);
    enum what what;
    char *adapter;
    int cpu[2]; /* CPUs of the first process, which measures, and of the second one, or -1 */
    size_t size;            /* bytes of a transfer */
    long iterations;
    long warmup;
    int outstanding; /* concurrent transfers */
    int processes;   /* of a mesh */
    int looks;       /* at watched memory before a dequeue */
    const char *past; /* of a round: see round.c */
    int in_turn;     /* one dequeue from each dispatcher after each post */
    int wait;        /* dat_evd_wait instead of polling with dat_evd_dequeue */
    unsigned limit;  /* seconds */
};

/* Registered memory: one buffer for all transfers. */
struct memory {
    unsigned char *base;
    size_t bytes;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
};

struct node {
    struct plan *plan;
    int second; /* 0 in the process that measures */
    DAT_IA_HANDLE ia;
    DAT_IA_ATTR attr;
    DAT_EVD_HANDLE async, recv, request, conn, cr;
    DAT_PZ_HANDLE pz;
    DAT_PSP_HANDLE psp;
    DAT_EP_HANDLE ep;
    int depth;          /* number of posted receives */
    struct memory out;  /* source of sends and writes, destination of reads */
    struct memory in;   /* receive buffer, and target of the peer */
    DAT_RMR_CONTEXT peer_rmr_context; /* of the peer's `in` */
    DAT_VADDR peer_address;
#ifdef DAT2
    DAT_IB_ADDR_HANDLE peer; /* address of the peer, for datagrams */
#endif
    long requests; /* posted and not completed */
};

/* node.c */
void node_open(struct node *n, struct plan *plan, int second);
void node_connect(struct node *n);
void node_close(struct node *n);
/* Registers zeroed memory. */
void memory_make(struct node *n, struct memory *m, size_t bytes);
/* Waits for this event, or ends the program. */
void expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER wanted, DAT_EVENT *event);
void call_failed(const char *call, DAT_RETURN rc) __attribute__((noreturn, cold));
/* Ends the program after an event that is no successful completion of a transfer. */
void wrong_event(const DAT_EVENT *event) __attribute__((noreturn, cold));

static inline void must(const char *call, DAT_RETURN rc)
{
    if (__builtin_expect(rc != DAT_SUCCESS, 0))
        call_failed(call, rc);
}

/* latency.c, stream.c, delay.c, calls.c, connections.c */
void run_latency(struct plan *plan, void *node);
void run_stream(struct plan *plan, void *node);
void run_delay(struct plan *plan, void *node);
void run_watched(struct plan *plan, void *node);
void run_calls(struct plan *plan, void *node);
void run_connections(struct plan *plan, void *node);

/* mesh.c, round.c: these tests create their own processes and nodes, so there is no node. */
void run_mesh(struct plan *plan, void *node);
void run_round(struct plan *plan, void *node);

/* link.c */
extern const char *role;
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void link_set(int fd);
void tell(const void *data, size_t size);
/* Returns whether the other process has sent something. */
int link_ready(void);
void hear(void *data, size_t size);
void meet(void); /* returns when both processes have called it */
double now(void); /* seconds */
uint64_t ticks(void);
double seconds_of_tick(void); /* the first call measures it */
/* Spins for some microseconds. */
void rest(int microseconds);
/* Times of steps: the last 2048, and the total. */
struct clock {
    uint64_t last;
    double began;
    long count;
    uint32_t kept[2048];
};
void clock_start(struct clock *c);
double clock_end(struct clock *c, double *median); /* total time and median of a step, in seconds */
/* After clock_end: the time that `percent` percent of the steps do not exceed, in seconds. */
double clock_percentile(const struct clock *c, int percent);

static inline void clock_step(struct clock *c)
{
    uint64_t t = ticks(), d = t - c->last;

    c->kept[c->count++ % 2048] = d > UINT32_MAX ? UINT32_MAX : (uint32_t)d;
    c->last = t;
}

/* Sets the start of the current step to `seconds` ago. */
static inline void clock_began(struct clock *c, double seconds)
{
    c->last = ticks() - (uint64_t)(seconds / seconds_of_tick());
}

/* Sorts the values. */
double median_of(double *values, size_t count);
/* Prints "name value unit". */
void result(const char *name, double value, const char *unit);

/* Resident memory of both processes, in KiB. A page that both use counts once. */
struct memory_use {
    double all;
    double shared; /* of files in memory, such as memfds */
};
/* Both processes call it; it returns the same in both. */
struct memory_use memory_of_both(void);
/* Prints the time and the memory of each of `count` connections, `idle` before and `used` after their first messages. */
void connections_result(long count, double seconds, const struct memory_use *before, const struct memory_use *idle,
                        const struct memory_use *used);

#endif
