/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * calls.c - the cost of single calls, with one idle connection.
 */
#include "hot.h"

#include <string.h>

#define BATCH   256
#define BATCHES 401

static void cost(const char *name, struct node *n, void (*call)(struct node *))
{
    static double each[BATCHES];

    for (int b = 0; b < BATCHES; b++) {
        double began = now();

        for (int i = 0; i < BATCH; i++)
            call(n);
        each[b] = (now() - began) / BATCH;
    }
    result(name, median_of(each, BATCHES) * 1e9, "ns");
}

static void empty_dequeue(struct node *n)
{
    DAT_EVENT event;

    if (DAT_GET_TYPE(dat_evd_dequeue(n->recv, &event)) != DAT_QUEUE_EMPTY)
        fail("dat_evd_dequeue: an event that nobody caused");
}

static void type_of_live(struct node *n)
{
    DAT_HANDLE_TYPE type;

    must("dat_get_handle_type", dat_get_handle_type(n->ep, &type));
}

static void type_of_null(struct node *n)
{
    DAT_HANDLE_TYPE type;

    (void)n;
    if (DAT_GET_TYPE(dat_get_handle_type(DAT_HANDLE_NULL, &type)) != DAT_INVALID_HANDLE)
        fail("dat_get_handle_type took DAT_HANDLE_NULL");
}

static void status(struct node *n)
{
    DAT_EP_STATE state;
    DAT_BOOLEAN recv_idle, request_idle;

    must("dat_ep_get_status", dat_ep_get_status(n->ep, &state, &recv_idle, &request_idle));
}

static DAT_SRQ_HANDLE srq;

static void query_srq(struct node *n)
{
    DAT_SRQ_PARAM param;

    (void)n;
    must("dat_srq_query", dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
}

static void post_srq(struct node *n)
{
    DAT_LMR_TRIPLET t = segment(&n->in, 8);

    must("dat_srq_post_recv", dat_srq_post_recv(srq, 1, &t, no_cookie()));
}

/* Measures the calls of shared receive queues. A queue has room for BATCH buffers, so each batch uses a new queue. */
static void cost_of_srq_post(struct node *n)
{
    static double each[BATCHES];
    DAT_SRQ_ATTR attr;

    memset(&attr, 0, sizeof attr);
    attr.max_recv_dtos = BATCH;
    attr.max_recv_iov = 1;
    attr.low_watermark = DAT_SRQ_LW_DEFAULT;
    for (int b = 0; b < BATCHES; b++) {
        double began;

        must("dat_srq_create", dat_srq_create(n->ia, n->pz, &attr, &srq));
        if (b == 0)
            cost("dat_srq_query", n, query_srq);
        began = now();
        for (int i = 0; i < BATCH; i++)
            post_srq(n);
        each[b] = (now() - began) / BATCH;
        must("dat_srq_free", dat_srq_free(srq));
    }
    result("dat_srq_post_recv", median_of(each, BATCHES) * 1e9, "ns");
}

void run_calls(struct plan *plan, void *node)
{
    struct node *n = node;

    (void)plan;
    meet();
    if (n->second)
        return;
    cost("dat_evd_dequeue(empty)", n, empty_dequeue);
    cost("dat_get_handle_type(live)", n, type_of_live);
    cost("dat_get_handle_type(NULL)", n, type_of_null);
    cost("dat_ep_get_status", n, status);
    cost_of_srq_post(n);
}
