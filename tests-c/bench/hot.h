/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hot.h - posting transfers and fetching completions: the calls whose time is taken.
 */
#ifndef BENCH_HOT_H
#define BENCH_HOT_H

#include "bench.h"

static inline DAT_LMR_TRIPLET segment(const struct memory *m, long slot, size_t size)
{
    DAT_LMR_TRIPLET t = { 0 };

    t.lmr_context = m->lmr_context;
    t.virtual_address = (DAT_VADDR)(uintptr_t)m->base + (DAT_VADDR)slot * m->slot;
    t.segment_length = size;
    return t;
}

static inline DAT_RMR_TRIPLET target(const struct node *n, long slot, size_t size)
{
    DAT_RMR_TRIPLET t = { 0 };

    t.rmr_context = n->peer_rmr_context;
    t.target_address = n->peer_address + (DAT_VADDR)slot * n->peer_slot;
    t.segment_length = size;
    return t;
}

/* Posts a buffer for a connection, or for all of them if there is a shared receive queue. */
static inline void post_recv(struct node *n, int connection, long slot)
{
    DAT_LMR_TRIPLET t = segment(&n->in, slot, n->in.bytes);
    DAT_DTO_COOKIE cookie;

    cookie.as_64 = (DAT_UINT64)connection << 32 | (DAT_UINT64)slot;
    if (n->srq != DAT_HANDLE_NULL)
        must("dat_srq_post_recv", dat_srq_post_recv(n->srq, 1, &t, cookie));
    else
        must("dat_ep_post_recv",
             dat_ep_post_recv(n->ep[connection], 1, &t, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static inline void post_send(struct node *n, int connection, size_t size, long slot)
{
    DAT_LMR_TRIPLET t = segment(&n->out, slot, size);
    DAT_DTO_COOKIE cookie;

    cookie.as_64 = (DAT_UINT64)slot;
    n->requests++;
    must("dat_ep_post_send",
         dat_ep_post_send(n->ep[connection], 1, &t, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static inline void post_write(struct node *n, int connection, size_t size, long slot)
{
    DAT_LMR_TRIPLET t = segment(&n->out, slot, size);
    DAT_RMR_TRIPLET to = target(n, slot, size);
    DAT_DTO_COOKIE cookie;

    cookie.as_64 = (DAT_UINT64)slot;
    n->requests++;
    must("dat_ep_post_rdma_write",
         dat_ep_post_rdma_write(n->ep[connection], 1, &t, cookie, &to, DAT_COMPLETION_DEFAULT_FLAG));
}

static inline void post_read(struct node *n, int connection, size_t size, long slot)
{
    DAT_LMR_TRIPLET t = segment(&n->out, slot, size);
    DAT_RMR_TRIPLET from = target(n, slot, size);
    DAT_DTO_COOKIE cookie;

    cookie.as_64 = (DAT_UINT64)slot;
    n->requests++;
    must("dat_ep_post_rdma_read",
         dat_ep_post_rdma_read(n->ep[connection], 1, &t, cookie, &from, DAT_COMPLETION_DEFAULT_FLAG));
}

static inline void look_at(const struct node *n, const DAT_EVENT *event)
{
    if (__builtin_expect(event->event_number != DAT_DTO_COMPLETION_EVENT ||
                             event->event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS,
                         0))
        wrong_event(n, event);
}

/* Fetches a completion if one is there. */
static inline int try_fetch(const struct node *n, DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    DAT_RETURN rc = dat_evd_dequeue(evd, event);

    if (__builtin_expect(rc != DAT_SUCCESS, 0)) {
        if (DAT_GET_TYPE(rc) != DAT_QUEUE_EMPTY)
            must("dat_evd_dequeue", rc);
        return 0;
    }
    look_at(n, event);
    return 1;
}

/* Fetches a completion; polls or waits, as the plan says. */
static inline void fetch(const struct node *n, DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    DAT_COUNT more;

    if (n->plan->wait) {
        must("dat_evd_wait", dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, event, &more));
        look_at(n, event);
    } else {
        while (!try_fetch(n, evd, event))
            continue;
    }
}

/* Reaps the completion of one request. */
static inline void reap(struct node *n)
{
    DAT_EVENT event;

    fetch(n, n->request, &event);
    n->requests--;
}

static inline void reap_all(struct node *n)
{
    while (n->requests > 0)
        reap(n);
}

/* The buffer that a message came into, and its connection without a shared receive queue. */
static inline long slot_of(const DAT_EVENT *event)
{
    return (long)(event->event_data.dto_completion_event_data.user_cookie.as_64 & 0xffffffffu);
}

static inline int posted_for(const DAT_EVENT *event)
{
    return (int)(event->event_data.dto_completion_event_data.user_cookie.as_64 >> 32);
}

#endif
