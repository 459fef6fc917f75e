/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * latency.c - round trips, one message after the other.
 *
 * While a message is in transit, the sender does the other work: it posts the receive again, and reaps the completion
 * of the previous send. So each round reaps both completions.
 */
#include "hot.h"

static void rounds(struct node *n, long count, struct clock *clock)
{
    const struct plan *plan = n->plan;
    DAT_EVENT event;

    for (long i = 0; i < count; i++) {
        if (!n->second)
            post_send(n, plan->size);
        if (n->requests > 1)
            reap(n);
        fetch(n, n->recv, &event);
        if (n->second)
            post_send(n, plan->size);
        post_recv(n);
        clock_step(clock);
    }
}

void run_latency(struct plan *plan, void *node)
{
    struct node *n = node;
    static struct clock clock;
    double seconds, median;

    meet();
    clock_start(&clock);
    rounds(n, plan->warmup, &clock);
    clock_start(&clock);
    rounds(n, plan->iterations, &clock);
    seconds = clock_end(&clock, &median);
    reap_all(n);
    if (n->second)
        return;
    result("median", median / 2 * 1e9, "ns");
    result("overall", seconds / (double)plan->iterations / 2 * 1e9, "ns");
}
