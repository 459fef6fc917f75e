/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stream.c - concurrent transfers in one direction.
 *
 * A message needs a posted receive. The sender counts credits, one for each receive. The receiver returns them in a
 * message for each quarter of its buffers. The target of RDMA makes no call.
 */
#include "hot.h"

#include <string.h>

struct credits {
    DAT_UINT64 count;
    DAT_UINT64 all_received;
};

/* ---- Sends ---- */

static int take_credits(struct node *n, int *credits)
{
    struct credits got;

    memcpy(&got, n->in.base, sizeof got);
    *credits += (int)got.count;
    post_recv(n);
    return got.all_received != 0;
}

static void send_all(struct node *n, int *credits, long messages, struct clock *clock)
{
    const struct plan *plan = n->plan;
    DAT_EVENT event;
    int done = 0;

    for (long i = 0; i < messages; i++) {
        while (n->requests >= plan->outstanding)
            reap(n);
        /* Takes available credits before they are needed. */
        if (*credits < n->depth / 2)
            while (try_fetch(n->recv, &event))
                done |= take_credits(n, credits);
        while (*credits == 0) {
            fetch(n, n->recv, &event);
            done |= take_credits(n, credits);
        }
        post_send(n, plan->size);
        --*credits;
        clock_step(clock);
    }
    reap_all(n);
    while (!done) {
        fetch(n, n->recv, &event);
        done |= take_credits(n, credits);
    }
}

/* Sends messages, and dequeues once from each dispatcher after each post. */
static void send_in_turn(struct node *n, int *credits, long messages, struct clock *clock)
{
    const struct plan *plan = n->plan;
    DAT_EVENT event;
    int done = 0;

    while (messages > 0 || n->requests > 0 || !done) {
        if (messages > 0 && *credits > 0 && n->requests < plan->outstanding) {
            post_send(n, plan->size);
            --*credits;
            messages--;
            clock_step(clock);
        }
        if (n->requests > 0 && try_fetch(n->request, &event))
            n->requests--;
        if (try_fetch(n->recv, &event))
            done |= take_credits(n, credits);
    }
}

static void return_credits(struct node *n, int *credits, int all)
{
    struct credits *message;

    /* All credit messages use one buffer, so the last one must have completed. */
    reap_all(n);
    message = (struct credits *)(void *)n->out.base;
    message->count = (DAT_UINT64)*credits;
    message->all_received = (DAT_UINT64)all;
    *credits = 0;
    post_send(n, sizeof *message);
}

static void receive_all(struct node *n, int *credits, long messages)
{
    const struct plan *plan = n->plan;
    DAT_EVENT event;

    for (long i = 0; i < messages; i++) {
        fetch(n, n->recv, &event);
        if (event.event_data.dto_completion_event_data.transfered_length != plan->size)
            fail("a message of %lu bytes instead of %zu",
                 (unsigned long)event.event_data.dto_completion_event_data.transfered_length,
                 plan->size);
        post_recv(n);
        if (++*credits >= n->depth / 4 && i + 1 < messages)
            return_credits(n, credits, 0);
    }
    return_credits(n, credits, 1);
    reap_all(n);
}

/* ---- RDMA ---- */

static void rdma_all(struct node *n, long transfers, struct clock *clock)
{
    const struct plan *plan = n->plan;
    int window = plan->outstanding;

    if (plan->what == READ && window > n->attr.max_rdma_read_per_ep_out)
        window = n->attr.max_rdma_read_per_ep_out;
    for (long i = 0; i < transfers; i++) {
        while (n->requests >= window)
            reap(n);
        if (plan->what == WRITE)
            post_write(n, plan->size);
        else
            post_read(n, plan->size);
        clock_step(clock);
    }
    reap_all(n);
}

/* The target of RDMA polls its memory until the first process reports the end. */
static void poll_memory(struct node *n)
{
    volatile unsigned char *last = n->in.base + n->plan->size - 1;
    unsigned char ends = 0, done;

    while (!link_ready())
        for (int i = 0; i < 10000; i++)
            ends ^= *last;
    hear(&done, sizeof done);
    (void)ends;
}

static void all(struct node *n, int *credits, long transfers, struct clock *clock)
{
    if (n->plan->what == SEND && n->plan->in_turn)
        send_in_turn(n, credits, transfers, clock);
    else if (n->plan->what == SEND)
        send_all(n, credits, transfers, clock);
    else
        rdma_all(n, transfers, clock);
}

void run_stream(struct plan *plan, void *node)
{
    struct node *n = node;
    static struct clock clock;
    int credits = n->second ? 0 : n->depth;
    double seconds, median;

    meet();
    if (n->second && plan->what == SEND) {
        receive_all(n, &credits, plan->warmup);
        receive_all(n, &credits, plan->iterations);
    } else if (n->second) {
        poll_memory(n);
    } else {
        clock_start(&clock);
        all(n, &credits, plan->warmup, &clock);
        clock_start(&clock);
        all(n, &credits, plan->iterations, &clock);
        seconds = clock_end(&clock, &median);
        if (plan->what != SEND) {
            unsigned char done = 1;

            tell(&done, sizeof done);
        }
        result("median", median * 1e9, "ns");
        result("overall", seconds / (double)plan->iterations * 1e9, "ns");
        result("rate", (double)plan->iterations / seconds, "1/s");
        result("bandwidth", (double)plan->iterations * (double)plan->size / seconds / 1e6, "MB/s");
    }
}
