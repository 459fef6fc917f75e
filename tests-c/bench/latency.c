/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * latency.c - one transfer at a time, there and back; of a read, one after the other.
 *
 * What is not needed for the next message is done while it is under way: the buffer is posted again,
 * and the completion of the send before is reaped. So each round reaps both completions.
 */
#include "hot.h"

#include <string.h>

static void rest_before(const struct node *n)
{
    if (n->plan->pause > 0)
        rest(n->plan->pause);
}

static void round_send(struct node *n, int c, long i, int first)
{
    const struct plan *plan = n->plan;
    DAT_EVENT event;

    if (plan->verify)
        stamp_bytes(n->out.base, plan->size, c, i);
    if (first) {
        rest_before(n);
        post_send(n, c, plan->size, 0);
    }
    if (n->requests > 1 || (plan->verify && first))
        reap(n);
    fetch(n, n->recv, &event);
    if (!first) {
        rest_before(n);
        post_send(n, c, plan->size, 0);
    }
    if (plan->verify) {
        check_bytes(n->in.base + (size_t)slot_of(&event) * n->in.slot, plan->size, c, i);
        reap_all(n);
    }
    post_recv(n, c, slot_of(&event));
}

/* Where a write ends: the peer spins on the last bytes, which become visible last. */
static volatile uint64_t *last_word(unsigned char *base, size_t size)
{
    return (volatile uint64_t *)(void *)(base + size - 8);
}

static void set_end(unsigned char *base, size_t size, long i)
{
    if (size >= 8)
        *last_word(base, size) = (uint64_t)i;
    else
        base[size - 1] = (unsigned char)i;
}

static void spin_end(unsigned char *base, size_t size, long i)
{
    if (size >= 8) {
        while (*last_word(base, size) != (uint64_t)i)
            continue;
    } else {
        while (((volatile unsigned char *)base)[size - 1] != (unsigned char)i)
            continue;
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Waits for the peer's write, with its bytes. */
static void spin(struct node *n, int c, long i)
{
    const struct plan *plan = n->plan;

    spin_end(n->in.base, plan->size, i);
    if (plan->verify && plan->size > 8)
        check_bytes(n->in.base, plan->size - 8, c, i);
}

static void round_write(struct node *n, int c, long i, int first)
{
    const struct plan *plan = n->plan;

    if (!first)
        spin(n, c, i);
    if (plan->verify)
        stamp_bytes(n->out.base, plan->size, c, i);
    set_end(n->out.base, plan->size, i);
    post_write(n, c, plan->size, 0);
    reap(n);
    if (first)
        spin(n, c, i);
}

static void round_read(struct node *n, int c, long i, int first)
{
    const struct plan *plan = n->plan;

    (void)i;
    if (!first)
        return;
    if (plan->verify)
        memset(n->out.base, 0, plan->size);
    post_read(n, c, plan->size, 0);
    reap(n);
    if (plan->verify)
        check_bytes(n->out.base, plan->size, 0, 0);
}

static void rounds(struct node *n, long from, long to, struct clock *clock)
{
    static void (*const kinds[])(struct node *, int, long, int) = { round_send, round_write,
                                                                    round_read };
    void (*kind)(struct node *, int, long, int) = kinds[n->plan->what];
    int c = 0;

    for (long i = from; i < to; i++) {
        kind(n, c, i, !n->second);
        if (++c == n->plan->active)
            c = 0;
        clock_step(clock);
    }
}

void run_latency(struct plan *plan, void *node)
{
    struct node *n = node;
    static struct clock clock;
    double seconds, median, rests, ways = plan->what == READ ? 1 : 2;

    if (plan->what == READ && n->second)
        stamp_bytes(n->in.base, plan->size, 0, 0);
    meet();
    clock_start(&clock);
    rounds(n, 1, 1 + plan->warmup, &clock);
    clock_start(&clock);
    rounds(n, 1 + plan->warmup, 1 + plan->warmup + plan->iterations, &clock);
    seconds = clock_end(&clock, &median);
    reap_all(n);
    if (n->second)
        return;
    /* Both processes rest in a round, one after the other. */
    rests = 2 * plan->pause * 1e-6;
    result("median", (median - rests) / ways * 1e9, "ns");
    result("overall", (seconds / (double)plan->iterations - rests) / ways * 1e9, "ns");
}
