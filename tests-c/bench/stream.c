/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stream.c - many transfers one way, some of them under way at a time.
 *
 * A message needs a buffer at the receiver. The sender counts credits, one for each posted buffer; the
 * receiver returns them by a message for each quarter of its buffers. RDMA goes to a process that makes
 * no call meanwhile.
 */
#include "hot.h"

#include <stdlib.h>
#include <string.h>

/* A message from the receiver. */
struct credits {
    DAT_UINT64 count;
    DAT_UINT64 all_received;
};

/* What one side knows of each connection. */
struct lane {
    long number;  /* messages sent, or received */
    int credits;  /* the sender's; or those that the receiver did not yet return */
};

/* Of a shared receive queue, all connections have the credits together. */
static struct lane *purse(struct node *n, struct lane *lanes, int c)
{
    return &lanes[n->srq != DAT_HANDLE_NULL ? 0 : c];
}

/* ---- Sends ---- */

static int take_credits(struct node *n, struct lane *lanes, const DAT_EVENT *event)
{
    struct credits got;
    long slot = slot_of(event);

    memcpy(&got, n->in.base + (size_t)slot * n->in.slot, sizeof got);
    lanes[posted_for(event)].credits += (int)got.count;
    post_recv(n, posted_for(event), slot);
    return got.all_received != 0;
}

static void send_all(struct node *n, struct lane *lanes, long messages, struct clock *clock)
{
    const struct plan *plan = n->plan;
    DAT_EVENT event;
    int c = 0, done = 0;

    for (long i = 0; i < messages; i++) {
        struct lane *lane = &lanes[c], *from = purse(n, lanes, c);
        long slot = plan->verify ? c * plan->outstanding + lane->number % plan->outstanding : 0;

        while (n->requests >= plan->outstanding)
            reap(n);
        /* Those that are there, before they are needed. */
        if (from->credits < n->depth / 2)
            while (try_fetch(n, n->recv, &event))
                done |= take_credits(n, lanes, &event);
        while (from->credits == 0) {
            fetch(n, n->recv, &event);
            done |= take_credits(n, lanes, &event);
        }
        if (plan->verify)
            stamp_bytes(n->out.base + (size_t)slot * n->out.slot, plan->size, c, lane->number);
        post_send(n, c, plan->size, slot);
        from->credits--;
        lane->number++;
        if (++c == plan->active)
            c = 0;
        clock_step(clock);
    }
    reap_all(n);
    while (!done) {
        fetch(n, n->recv, &event);
        done |= take_credits(n, lanes, &event);
    }
}

static void give_credits(struct node *n, struct lane *lane, int c, int all)
{
    struct credits *message;

    /* One buffer for them: the one before has been reaped. */
    reap_all(n);
    message = (struct credits *)(void *)n->out.base;
    message->count = (DAT_UINT64)lane->credits;
    message->all_received = (DAT_UINT64)all;
    lane->credits = 0;
    post_send(n, c, sizeof *message, 0);
}

static void receive_all(struct node *n, struct lane *lanes, long messages)
{
    const struct plan *plan = n->plan;
    int quarter = n->depth / 4;
    DAT_EVENT event;

    for (long i = 0; i < messages; i++) {
        int c;

        fetch(n, n->recv, &event);
        c = posted_for(&event);
        if (event.event_data.dto_completion_event_data.transfered_length != plan->size)
            fail("a message of %lu bytes instead of %zu",
                 (unsigned long)event.event_data.dto_completion_event_data.transfered_length,
                 plan->size);
        if (plan->verify) {
            int from = connection_of(n, event.event_data.dto_completion_event_data.ep_handle);

            check_bytes(n->in.base + (size_t)slot_of(&event) * n->in.slot, plan->size, from,
                        lanes[from].number++);
        }
        post_recv(n, c, slot_of(&event));
        if (++lanes[c].credits >= quarter && i + 1 < messages)
            give_credits(n, &lanes[c], c, 0);
    }
    give_credits(n, &lanes[0], 0, 1);
    reap_all(n);
}

/* ---- RDMA ---- */

static void rdma_all(struct node *n, struct lane *lanes, long transfers, struct clock *clock)
{
    const struct plan *plan = n->plan;
    int window = plan->outstanding, c = 0;

    if (plan->what == READ && window > n->attr.max_rdma_read_per_ep_out * plan->active)
        window = n->attr.max_rdma_read_per_ep_out * plan->active;
    for (long i = 0; i < transfers; i++) {
        struct lane *lane = &lanes[c];
        long slot = plan->verify ? c * plan->outstanding + lane->number % plan->outstanding : 0;

        while (n->requests >= window)
            reap(n);
        if (plan->what == WRITE) {
            if (plan->verify)
                stamp_bytes(n->out.base + (size_t)slot * n->out.slot, plan->size, c, slot);
            post_write(n, c, plan->size, slot);
        } else {
            post_read(n, c, plan->size, slot);
        }
        lane->number++;
        if (++c == plan->active)
            c = 0;
        clock_step(clock);
    }
    reap_all(n);
}

/* With verify: each slot that a transfer used has the bytes of its number, at the end. */
static void check_slots(struct node *n, const struct memory *m, const struct lane *lanes)
{
    const struct plan *plan = n->plan;

    for (int c = 0; c < plan->active; c++)
        for (long s = 0; s < plan->outstanding && s < lanes[c].number; s++) {
            long slot = c * plan->outstanding + s;

            check_bytes(m->base + (size_t)slot * m->slot, plan->size, c, slot);
        }
}

static void stamp_slots(struct node *n)
{
    const struct plan *plan = n->plan;

    for (int c = 0; c < plan->active; c++)
        for (long s = 0; s < plan->outstanding; s++) {
            long slot = c * plan->outstanding + s;

            stamp_bytes(n->in.base + (size_t)slot * n->in.slot, plan->size, c, slot);
        }
}

/* The target of RDMA makes no call and looks at its memory, until the link says that all is done. */
static void be_target(struct node *n, struct lane *lanes)
{
    volatile unsigned char *last = n->in.base + n->plan->size - 1;
    unsigned char ends = 0;
    long each;

    while (!link_ready())
        for (int i = 0; i < 10000; i++)
            ends ^= *last;
    hear(&each, sizeof each);
    (void)ends;
    for (int c = 0; c < n->plan->active; c++)
        lanes[c].number = each;
}

void run_stream(struct plan *plan, void *node)
{
    struct node *n = node;
    static struct clock clock;
    struct lane *lanes = calloc((size_t)plan->active, sizeof *lanes);
    double seconds, median;

    if (lanes == NULL)
        fail("no memory");
    for (int c = 0; c < plan->active && !n->second; c++)
        lanes[c].credits = plan->srq && c > 0 ? 0 : n->depth;
    if (plan->what == READ && plan->verify && n->second)
        stamp_slots(n);
    meet();
    if (n->second && plan->what == SEND) {
        receive_all(n, lanes, plan->warmup);
        receive_all(n, lanes, plan->iterations);
    } else if (n->second) {
        be_target(n, lanes);
        if (plan->what == WRITE && plan->verify)
            check_slots(n, &n->in, lanes);
    } else {
        void (*all)(struct node *, struct lane *, long, struct clock *) =
            plan->what == SEND ? send_all : rdma_all;
        clock_start(&clock);
        all(n, lanes, plan->warmup, &clock);
        clock_start(&clock);
        all(n, lanes, plan->iterations, &clock);
        seconds = clock_end(&clock, &median);
        if (plan->what != SEND) {
            long each = lanes[plan->active - 1].number;

            tell(&each, sizeof each);
            if (plan->what == READ && plan->verify)
                check_slots(n, &n->out, lanes);
        }
        result("each", seconds / (double)plan->iterations * 1e9, "ns");
        result("median", median * 1e9, "ns");
        result("rate", (double)plan->iterations / seconds, "1/s");
        result("bandwidth", (double)plan->iterations * (double)plan->size / seconds / 1e6, "MB/s");
    }
    free(lanes);
}
