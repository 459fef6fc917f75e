/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stream.c - concurrent messages in one direction.
 *
 * A message needs a posted receive. The sender counts credits, one for each receive. The receiver returns them in a
 * message for each quarter of its buffers.
 */
#include "hot.h"

#include <string.h>

struct credits {
    DAT_UINT64 count;
    DAT_UINT64 all_received;
};

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

static void all(struct node *n, int *credits, long messages, struct clock *clock)
{
    if (n->plan->in_turn)
        send_in_turn(n, credits, messages, clock);
    else
        send_all(n, credits, messages, clock);
}

void run_stream(struct plan *plan, void *node)
{
    struct node *n = node;
    static struct clock clock;
    int credits = n->second ? 0 : n->depth;
    double seconds, median;

    meet();
    if (n->second) {
        receive_all(n, &credits, plan->warmup);
        receive_all(n, &credits, plan->iterations);
    } else {
        clock_start(&clock);
        all(n, &credits, plan->warmup, &clock);
        clock_start(&clock);
        all(n, &credits, plan->iterations, &clock);
        seconds = clock_end(&clock, &median);
        result("median", median * 1e9, "ns");
        result("overall", seconds / (double)plan->iterations * 1e9, "ns");
        result("rate", (double)plan->iterations / seconds, "1/s");
        result("bandwidth", (double)plan->iterations * (double)plan->size / seconds / 1e6, "MB/s");
    }
}
