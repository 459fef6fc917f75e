/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * latency.c - round trips, one message, datagram or RDMA write after the other.
 *
 * While a message is in transit, the sender does the other work: it posts the receive again, and reaps the completion
 * of the previous send. So each round reaps both completions. The target of a write watches the last byte, and dequeues
 * after every --looks looks.
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

/* Waits for the peer's write, whose last byte is `token`. */
static void watch(struct node *n, unsigned char token)
{
    const unsigned char *last = n->in.base + n->plan->size - 1;
    DAT_EVENT event;

    for (int looks = 1; __atomic_load_n(last, __ATOMIC_ACQUIRE) != token; looks++)
        if (looks % n->plan->looks == 0 && try_fetch(n->request, &event))
            n->requests--;
}

static void watched_rounds(struct node *n, long count, struct clock *clock)
{
    size_t size = n->plan->size;

    for (long i = 0; i < count; i++) {
        unsigned char token = (unsigned char)(1 + i % 255);

        if (n->second)
            watch(n, token);
        n->out.base[size - 1] = token;
        post_write(n, size);
        if (!n->second)
            watch(n, token);
        while (n->requests > 1)
            reap(n);
        clock_step(clock);
    }
}

void run_latency(struct plan *plan, void *node)
{
    struct node *n = node;
    static struct clock clock;
    double seconds, median;
    void (*run)(struct node *, long, struct clock *) = plan->what == WRITE ? watched_rounds : rounds;

    meet();
    clock_start(&clock);
    run(n, plan->warmup, &clock);
    meet();
    n->in.base[plan->size - 1] = 0;
    meet();
    clock_start(&clock);
    run(n, plan->iterations, &clock);
    seconds = clock_end(&clock, &median);
    reap_all(n);
    if (n->second)
        return;
    result("median", median / 2 * 1e9, "ns");
    result("p99", clock_percentile(&clock, 99) / 2 * 1e9, "ns");
    result("overall", seconds / (double)plan->iterations / 2 * 1e9, "ns");
}
