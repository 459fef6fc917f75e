/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hot.h - the measured calls: posts and dequeues or waits.
 */
#ifndef BENCH_HOT_H
#define BENCH_HOT_H

#include "bench.h"

static inline DAT_LMR_TRIPLET segment(const struct memory *m, size_t size)
{
    DAT_LMR_TRIPLET t = { 0 };

    t.lmr_context = m->lmr_context;
    t.virtual_address = (DAT_VADDR)(uintptr_t)m->base;
    t.segment_length = size;
    return t;
}

static inline DAT_RMR_TRIPLET target(const struct node *n, size_t size)
{
    DAT_RMR_TRIPLET t = { 0 };

    t.rmr_context = n->peer_rmr_context;
    t.target_address = n->peer_address;
    t.segment_length = size;
    return t;
}

static inline DAT_DTO_COOKIE no_cookie(void)
{
    DAT_DTO_COOKIE cookie;

    cookie.as_64 = 0;
    return cookie;
}

static inline void post_recv(struct node *n)
{
    DAT_LMR_TRIPLET t = segment(&n->in, n->in.bytes);

    must("dat_ep_post_recv", dat_ep_post_recv(n->ep, 1, &t, no_cookie(), DAT_COMPLETION_DEFAULT_FLAG));
}

static inline void post_send(struct node *n, size_t size)
{
    DAT_LMR_TRIPLET t = segment(&n->out, size);

    n->requests++;
#ifdef DAT2
    if (n->plan->what == DATAGRAM) {
        must("dat_ib_post_send_ud",
             dat_ib_post_send_ud(n->ep, 1, &t, &n->peer, no_cookie(), DAT_COMPLETION_DEFAULT_FLAG));
        return;
    }
#endif
    must("dat_ep_post_send", dat_ep_post_send(n->ep, 1, &t, no_cookie(), DAT_COMPLETION_DEFAULT_FLAG));
}

static inline void post_write(struct node *n, size_t size)
{
    DAT_LMR_TRIPLET t = segment(&n->out, size);
    DAT_RMR_TRIPLET to = target(n, size);

    n->requests++;
    must("dat_ep_post_rdma_write",
         dat_ep_post_rdma_write(n->ep, 1, &t, no_cookie(), &to, DAT_COMPLETION_DEFAULT_FLAG));
}

/* Returns whether the event is the completion of a transfer or of a datagram. */
static inline int is_completion(const DAT_EVENT *event)
{
#ifdef DAT2
    if (event->event_number == (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT)
        return 1;
#endif
    return event->event_number == DAT_DTO_COMPLETION_EVENT;
}

static inline void look_at(const DAT_EVENT *event)
{
    if (__builtin_expect(!is_completion(event) ||
                             event->event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS,
                         0))
        wrong_event(event);
}

/* Dequeues a completion. Returns 0 if there is none. */
static inline int try_fetch(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    DAT_RETURN rc = dat_evd_dequeue(evd, event);

    if (__builtin_expect(rc != DAT_SUCCESS, 0)) {
        if (DAT_GET_TYPE(rc) != DAT_QUEUE_EMPTY)
            must("dat_evd_dequeue", rc);
        return 0;
    }
    look_at(event);
    return 1;
}

/* Fetches a completion by polling or waiting, as in the plan. */
static inline void fetch(const struct node *n, DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    DAT_COUNT more;

    if (n->plan->wait) {
        must("dat_evd_wait", dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, event, &more));
        look_at(event);
    } else {
        while (!try_fetch(evd, event))
            continue;
    }
}

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

#endif
