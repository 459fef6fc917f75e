/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * connections.c - memory and time of --iterations further connections of two processes that have FIRST connections.
 *
 * The endpoints have default attributes and one receive. Up to --outstanding connections are in progress. The time ends
 * when both processes have all events. Then each connection carries a message of 8 bytes in each direction.
 */
#define _POSIX_C_SOURCE 200809L
#include "hot.h"

#include <stdlib.h>

#define FIRST           10
#define CONNECT_TIMEOUT 60000000 /* microseconds */

static DAT_EP_HANDLE *eps;

static DAT_EVD_HANDLE dispatcher(const struct node *n, long events, DAT_EVD_FLAGS kind)
{
    DAT_EVD_HANDLE evd;

    must("dat_evd_create", dat_evd_create(n->ia, (DAT_COUNT)events, DAT_HANDLE_NULL, kind, &evd));
    return evd;
}

static void make_endpoint(struct node *n, long i)
{
    must("dat_ep_create", dat_ep_create(n->ia, n->pz, n->recv, n->request, n->conn, NULL, &eps[i]));
    n->ep = eps[i];
    post_recv(n);
}

/* Connects endpoints first to end - 1. */
static void connect_range(struct node *n, DAT_CONN_QUAL qual, long first, long end)
{
    int pending = 0;
    DAT_EVENT event;

    for (long i = first; i < end; i++) {
        make_endpoint(n, i);
        if (n->second) {
            expect(n->cr, DAT_CONNECTION_REQUEST_EVENT, &event);
            must("dat_cr_accept", dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, eps[i], 0, NULL));
        } else {
            must("dat_ep_connect", dat_ep_connect(eps[i], n->attr.ia_address_ptr, qual, CONNECT_TIMEOUT, 0, NULL,
                                                  DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
        }
        if (++pending > n->plan->outstanding) {
            expect(n->conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
            pending--;
        }
    }
    for (; pending > 0; pending--)
        expect(n->conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
    meet();
}

/* Sends a message in both directions of each connection. */
static void use_range(struct node *n, long first, long end)
{
    DAT_EVENT event;

    for (long i = first; i < end; i++) {
        n->ep = eps[i];
        post_send(n, 8);
    }
    for (long i = first; i < end; i++)
        fetch(n, n->recv, &event);
    reap_all(n);
    meet();
}

void run_connections(struct plan *plan, void *node)
{
    struct node *n = node;
    long all = FIRST + plan->iterations;
    struct memory_use before, idle, used;
    DAT_CONN_QUAL qual = 0;
    double began, seconds;

    eps = calloc((size_t)all, sizeof *eps);
    if (eps == NULL)
        fail("no memory");
    n->recv = dispatcher(n, all, DAT_EVD_DTO_FLAG);
    n->request = dispatcher(n, all, DAT_EVD_DTO_FLAG);
    n->conn = dispatcher(n, all, DAT_EVD_CONNECTION_FLAG);
    n->cr = dispatcher(n, all, DAT_EVD_CR_FLAG);
    if (n->second) {
        must("dat_psp_create_any", dat_psp_create_any(n->ia, &qual, n->cr, DAT_PSP_CONSUMER_FLAG, &n->psp));
        tell(&qual, sizeof qual);
    } else {
        hear(&qual, sizeof qual);
    }
    connect_range(n, qual, 0, FIRST);
    use_range(n, 0, FIRST);
    before = memory_of_both();
    began = now();
    connect_range(n, qual, FIRST, all);
    seconds = now() - began;
    idle = memory_of_both();
    use_range(n, FIRST, all);
    used = memory_of_both();
    if (!n->second)
        connections_result(plan->iterations, seconds, &before, &idle, &used);
}
