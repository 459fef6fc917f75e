/*
 * iwarp.c - iWARP devices, on which a message without a receive ends the connection: every posted
 * receive can take a message.
 */
#include "adapters.h"
#include "srq/srq_common.h"

#include <string.h>

enum { SIZE = 64 };

static struct fx fx;

/* Sends n messages to posted receives. Returns whether all sends and receives complete and the connection remains. */
static bool takes(struct side *tx, struct side *rx, DAT_COUNT n)
{
    struct region out;
    bool good = true;

    region_make(&fx, &out, SIZE, MEM_LOCAL);
    for (DAT_COUNT i = 0; good && i < n; i++)
        good = post_send(tx, &out, 0, SIZE, 1) == DAT_SUCCESS && wait_dto(tx->req, 1, DAT_DTO_SUCCESS, NULL);
    good = good && drain_dtos(rx->recv, n) == n && ep_state(rx->ep) == DAT_EP_STATE_CONNECTED;
    region_free(&out);
    return good;
}

/* Connects endpoints on a shared receive queue of 10. */
static void open_queue(struct srq *q, struct pair *p, DAT_COUNT buffers)
{
    srq_open(q, &fx, 10, buffers, SIZE);
    side_make(&p->a, &fx, NULL);
    side_make_srq(&p->b, &fx, q->handle, NULL);
    sides_connect(&p->a, &p->b);
}

static void resized(void)
{
    struct srq q;
    struct pair p;

    open_queue(&q, &p, 40);
    is_success(dat_srq_resize(q.handle, 40), "dat_srq_resize: from 10 to 40: success");
    srq_fill(&q, 0, 40);
    ok(takes(&p.a, &p.b, 20), "dat_srq_resize: from 10 to 40: 20 messages arrive");
    ok(takes(&p.a, &p.b, 20), "dat_srq_resize: from 10 to 40: 20 more");
    pair_close(&p);
    srq_close(&q);
}

/* Resizes the queue stepwise until the device has no room. */
static void beyond(void)
{
    DAT_SRQ_PARAM before;
    DAT_RETURN rc = DAT_SUCCESS;
    DAT_IA_ATTR ia;
    struct srq q;
    struct pair p;
    DAT_COUNT size;

    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS, "dat_ia_query");
    open_queue(&q, &p, 40);
    srq_fill(&q, 0, 5);
    for (size = 40; rc == DAT_SUCCESS && size <= ia.max_recv_per_srq / 2; size *= 2) {
        before = srq_param(q.handle);
        rc = dat_srq_resize(q.handle, size);
    }
    if (rc == DAT_SUCCESS) {
        skip_named("dat_srq_resize: beyond the room of the device", "the device resizes queues");
    } else {
        is_type(rc, DAT_INSUFFICIENT_RESOURCES, "dat_srq_resize: beyond the room of the device: DAT_INSUFFICIENT_RESOURCES");
        is_unchanged(q.handle, &before, "dat_srq_resize: beyond the room of the device: nothing changes");
    }
    srq_fill(&q, 5, 35);
    ok(takes(&p.a, &p.b, 40), "dat_srq_resize: beyond the room of the device: every buffer takes a message");
    pair_close(&p);
    srq_close(&q);
}

/* Connects an endpoint without attributes. */
static void without_attributes(void)
{
    struct region in;
    struct pair p;
    DAT_EP_PARAM param;
    DAT_COUNT n;

    side_make(&p.a, &fx, NULL);
    side_make(&p.b, &fx, NULL);
    must_rc(dat_ep_free(p.b.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_create(fx.ia, fx.pz, p.b.recv, p.b.req, p.b.conn, NULL, &p.b.ep), DAT_SUCCESS, "dat_ep_create");
    must_rc(dat_ep_query(p.b.ep, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS, "dat_ep_query");
    n = param.ep_attr.max_recv_dtos;
    must_rc(dat_evd_resize(p.b.recv, n), DAT_SUCCESS, "dat_evd_resize");
    region_make(&fx, &in, SIZE, MEM_LOCAL);
    for (DAT_COUNT i = 0; i < n; i++)
        must_rc(post_recv(&p.b, &in, 0, SIZE, 2), DAT_SUCCESS, "dat_ep_post_recv");
    sides_connect(&p.a, &p.b);
    ok(takes(&p.a, &p.b, n), "no attributes: each of %d receives takes a message", (int)n);
    pair_close(&p);
    region_free(&in);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    if (!env_is_iwarp())
        skip_all("the device is not an iWARP device");
    fx_open(&fx);
    resized();
    beyond();
    without_attributes();
    fx_close(&fx);
    return done_testing();
}
