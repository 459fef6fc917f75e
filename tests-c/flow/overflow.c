/* overflow.c - more events than fit into an EVD. */
#include "common/fixture.h"

#include <string.h>

#define EXTRA 3

static bool overflowed(struct fx *fx, DAT_EVD_HANDLE evd)
{
    DAT_EVENT e;
    DAT_ASYNCH_ERROR_EVENT_DATA *d = &e.event_data.asynch_error_event_data;
    DAT_HANDLE_TYPE type = (DAT_HANDLE_TYPE)77;

    return wait_number(fx->async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &e) && d->dat_handle == evd &&
           dat_get_handle_type(d->dat_handle, &type) == DAT_SUCCESS &&
           type == DAT_HANDLE_TYPE_EVD && d->reason == DAT_EVD_OVERFLOW_ERROR;
}

/* More receives complete than fit into the EVD. */
static void receives(struct fx *fx, struct region *r)
{
    struct pair p;
    DAT_EP_ATTR attr;
    DAT_EVD_PARAM q;
    int queued = 0, in_order = 1, sent = 0;
    DAT_UINT64 last = 0;
    DAT_EVENT e;

    attr_default(&attr);
    side_make(&p.a, fx, NULL);
    side_make(&p.b, fx, NULL);
    must_rc(dat_ep_free(p.b.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_evd_free(p.b.recv), DAT_SUCCESS, "dat_evd_free");
    p.b.recv = fx_evd(fx, 4, DAT_EVD_DTO_FLAG);
    must_rc(dat_evd_query(p.b.recv, DAT_EVD_FIELD_ALL, &q), DAT_SUCCESS, "dat_evd_query");
    if (q.evd_qlen > 1000) {
        p.b.ep = DAT_HANDLE_NULL;
        pair_close(&p);
        skip_named("overflow by receives", "the provider's shortest EVD is too long to fill");
        return;
    }
    attr.max_recv_dtos = q.evd_qlen + EXTRA;
    must_rc(dat_ep_create(fx->ia, fx->pz, p.b.recv, p.b.req, p.b.conn, &attr, &p.b.ep), DAT_SUCCESS,
            "dat_ep_create");
    sides_connect(&p.a, &p.b);
    for (int i = 0; i < q.evd_qlen + EXTRA; i++)
        must_rc(post_recv(&p.b, r, 0, 32, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    for (int i = 0; i < q.evd_qlen + EXTRA; i++) {
        must_rc(post_send(&p.a, r, 64, 32, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_send");
        sent += drain_dtos(p.a.req, 1);
    }
    is_int(sent, q.evd_qlen + EXTRA, "overflow: the sends complete");
    ok(overflowed(fx, p.b.recv), "overflow: EVD_OVERFLOW with the EVD's handle and reason 0");
    while (dat_evd_dequeue(p.b.recv, &e) == DAT_SUCCESS) {
        DAT_UINT64 got = e.event_data.dto_completion_event_data.user_cookie.as_64;

        /* A device can report the receives after the first lost one late, when there is room again. */
        in_order &= queued < q.evd_qlen ? got == (DAT_UINT64)queued : got > last;
        last = got;
        queued++;
    }
    ok(queued >= q.evd_qlen && queued < q.evd_qlen + EXTRA, "overflow: as many events as there was room for");
    ok(in_order, "overflow: the ones that came first, in order");
    drain(fx->async); /* one event per lost event, or one for all */

    if (ep_state(p.b.ep) == DAT_EP_STATE_CONNECTED) {
        must_rc(post_recv(&p.b, r, 0, 32, 77), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.a, r, 64, 32, 78), DAT_SUCCESS, "dat_ep_post_send");
        ok(wait_dto(p.b.recv, 77, DAT_DTO_SUCCESS, NULL), "overflow: afterwards the EVD works on");
    } else {
        fail("overflow: afterwards the EVD works on");
        diag("the connection has ended");
    }
    pair_close(&p);
}

static void of_the_asynchronous_one(void)
{
    struct fx fx;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;
    DAT_EVD_PARAM q;
    DAT_EVENT e;
    int n = 0;
    struct region r;

    must_rc(dat_ia_open(env_ia(), 1, &async, &ia), DAT_SUCCESS, "dat_ia_open");
    must_rc(dat_evd_query(async, DAT_EVD_FIELD_ALL, &q), DAT_SUCCESS, "dat_evd_query");
    memset(&fx, 0, sizeof fx);
    fx_open(&fx); /* another instance, only to get the address of the adapter */
    must_rc(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ia_close");
    fx.ia = ia;
    fx.async = async;
    must_rc(dat_pz_create(ia, &fx.pz), DAT_SUCCESS, "dat_pz_create");
    fx.cr = fx_evd(&fx, 16, DAT_EVD_CR_FLAG);
    if (q.evd_qlen > 64) {
        skip_named("overflow of the asynchronous EVD", "too long to fill");
        fx_close(&fx);
        return;
    }
    region_make(&fx, &r, 4096, MEM_LOCAL);
    for (int i = 0; i < q.evd_qlen + 5; i++) {
        DAT_EVD_HANDLE small = fx_evd(&fx, 1, DAT_EVD_DTO_FLAG);
        DAT_EVD_PARAM s;
        struct side side;
        DAT_EP_ATTR attr;

        must_rc(dat_evd_query(small, DAT_EVD_FIELD_ALL, &s), DAT_SUCCESS, "dat_evd_query");
        if (s.evd_qlen > 30) {
            must_rc(dat_evd_free(small), DAT_SUCCESS, "dat_evd_free");
            break;
        }
        /* Fill the EVD with flushed receives: a connect without a listener flushes them. */
        attr_default(&attr);
        side_make(&side, &fx, NULL);
        must_rc(dat_ep_free(side.ep), DAT_SUCCESS, "dat_ep_free");
        must_rc(dat_ep_create(fx.ia, fx.pz, small, side.req, side.conn, &attr, &side.ep),
                DAT_SUCCESS, "dat_ep_create");
        for (int k = 0; k < s.evd_qlen + 1; k++)
            must_rc(post_recv(&side, &r, 0, 32, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(side_connect(&side, fx_address(&fx), unique_qual(false)), DAT_SUCCESS,
                "dat_ep_connect");
        must(wait_event(side.conn, &e) && wait_state(side.ep, DAT_EP_STATE_DISCONNECTED), "the connect does not fail");
        side_free(&side);
        must_rc(dat_evd_free(small), DAT_SUCCESS, "dat_evd_free");
        n++;
    }
    ok(dat_ia_query(fx.ia, NULL, 0, NULL, 0, NULL) == DAT_SUCCESS,
       "overflow of the asynchronous EVD: the adapter is usable");
    if (n > 0) {
        struct pair p;

        is_int(drain(async), q.evd_qlen, "overflow of the asynchronous EVD: as many as fit");
        pair_open(&p, &fx, NULL);
        ok(sides_talk(&p.a, &p.b), "overflow of the asynchronous EVD: messages both ways");
        pair_close(&p);
    } else {
        skip_named("overflow of the asynchronous EVD", "the provider's shortest EVD is too long to fill");
    }
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    struct fx fx;
    struct region r;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    receives(&fx, &r);
    fx_close(&fx);
    of_the_asynchronous_one();
    return done_testing();
}
