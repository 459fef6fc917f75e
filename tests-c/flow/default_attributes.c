/*
 * default_attributes.c - an endpoint without attributes supports as many outstanding operations as
 * dat_ep_query returns, even if no completion is dequeued. A device might provide shorter queues.
 */
#include "common/fixture.h"

#include <string.h>

enum { SIZE = 64 };

static bool has_last(void *last)
{
    return *(volatile unsigned char *)last != 0;
}

static void connect_without(struct fx *fx, struct pair *p, DAT_COUNT n)
{
    struct side *const ends[] = {&p->a, &p->b};

    for (int i = 0; i < 2; i++) {
        side_make(ends[i], fx, NULL);
        must_rc(dat_ep_free(ends[i]->ep), DAT_SUCCESS, "dat_ep_free");
        must_rc(dat_evd_resize(ends[i]->req, n), DAT_SUCCESS, "dat_evd_resize");
        must_rc(dat_evd_resize(ends[i]->recv, n), DAT_SUCCESS, "dat_evd_resize");
        must_rc(dat_ep_create(fx->ia, fx->pz, ends[i]->recv, ends[i]->req, ends[i]->conn, NULL, &ends[i]->ep),
                DAT_SUCCESS, "dat_ep_create");
    }
    sides_connect(&p->a, &p->b);
}

int main(int argc, char **argv)
{
    struct fx fx;
    struct pair p;
    struct region r;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_EP_PARAM param;
    DAT_EVD_HANDLE requests, receives;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    requests = fx_evd(&fx, 8, DAT_EVD_DTO_FLAG);
    receives = fx_evd(&fx, 8, DAT_EVD_DTO_FLAG);
    must_rc(dat_ep_create(fx.ia, fx.pz, receives, requests, DAT_HANDLE_NULL, NULL, &ep), DAT_SUCCESS, "dat_ep_create");
    must_rc(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS, "dat_ep_query");
    const DAT_COUNT n = param.ep_attr.max_request_dtos;
    ok(n >= 200 && param.ep_attr.max_recv_dtos == n, "no attributes: %d requests, %d receives", (int)n,
       (int)param.ep_attr.max_recv_dtos);
    must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");

    connect_without(&fx, &p, n);
    region_make(&fx, &r, (size_t)n * 2 * SIZE, MEM_LOCAL);
    bool taken = true;
    for (DAT_COUNT i = 0; i < n; i++) {
        pattern_fill(r.mem + (size_t)i * SIZE, SIZE, (unsigned)i);
        r.mem[(size_t)(i + 1) * SIZE - 1] = 1;
        taken &= post_recv(&p.b, &r, (size_t)(n + i) * SIZE, SIZE, (DAT_UINT64)i) == DAT_SUCCESS;
    }
    ok(taken, "no attributes: all receives are taken");
    for (DAT_COUNT i = 0; i < n; i++)
        taken &= post_send(&p.a, &r, (size_t)i * SIZE, SIZE, (DAT_UINT64)i) == DAT_SUCCESS;
    ok(taken, "no attributes: all sends are taken");
    ok(wait_until(has_last, r.mem + (size_t)n * 2 * SIZE - 1, SOON_MS),
       "no attributes: the last message arrives while nobody dequeues");
    ok(memcmp(r.mem, r.mem + (size_t)n * SIZE, (size_t)n * SIZE) == 0, "no attributes: each message is in its place");
    bool order = true;
    for (DAT_COUNT i = 0; i < n; i++)
        order &= wait_dto(p.b.recv, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL) &&
                 wait_dto(p.a.req, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL);
    ok(order, "no attributes: completions come in order");
    pair_close(&p);
    region_free(&r);
    fx_close(&fx);
    return done_testing();
}
