/* handoff.c - dat_cr_handoff: moves a request to another service point. */
#include "common/fixture.h"

#include <string.h>

static DAT_CR_HANDLE ring(struct fx *fx, struct side *caller, DAT_CONN_QUAL qual)
{
    static char data[] = "carried along";

    side_make(caller, fx, NULL);
    must_rc(dat_ep_connect(caller->ep, fx_address(fx), qual, env_us(SOON_MS), sizeof data, data,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
    return next_request(fx->cr);
}

static void to_another(struct fx *fx, DAT_CONN_QUAL first)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_CR_FLAG);
    DAT_CONN_QUAL second = 0;
    DAT_PSP_HANDLE psp = fx_listen_on(fx, evd, DAT_PSP_CONSUMER_FLAG, &second);
    struct side a, b;
    DAT_CR_HANDLE cr = ring(fx, &a, first);
    DAT_CR_ARRIVAL_EVENT_DATA *arrival;
    DAT_CR_PARAM p;
    DAT_EVENT event;

    is_success(dat_cr_handoff(cr, second), "dat_cr_handoff: to another service point: success");
    is_type(dat_cr_reject(cr), DAT_INVALID_HANDLE,
            "dat_cr_reject: after dat_cr_handoff: DAT_INVALID_HANDLE");
    if (ok(wait_number(evd, DAT_CONNECTION_REQUEST_EVENT, &event),
           "dat_cr_handoff: the request arrives there")) {
        arrival = &event.event_data.cr_arrival_event_data;
        is_ptr(arrival->sp_handle.psp_handle, psp, "dat_cr_handoff: sp_handle is the new one");
        must_rc(dat_cr_query(arrival->cr_handle, DAT_CR_FIELD_ALL, &p), DAT_SUCCESS,
                "dat_cr_query");
        ok(p.private_data_size >= 14 && memcmp(p.private_data, "carried along", 14) == 0,
           "dat_cr_handoff: the private data goes along");
        ok(quiet(a.conn), "dat_cr_handoff: the active side notices nothing");
        side_make(&b, fx, NULL);
        is_success(dat_cr_accept(arrival->cr_handle, b.ep, 0, NULL),
                   "dat_cr_accept: handed off: success");
        ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
               wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
           "dat_cr_accept: handed off: both ends ESTABLISHED");
        ok(sides_talk(&a, &b), "dat_cr_handoff: messages both ways");
        side_free(&b);
    }
    side_free(&a);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void to_nobody(struct fx *fx, DAT_CONN_QUAL first)
{
    struct side a;
    DAT_CR_HANDLE cr = ring(fx, &a, first);
    DAT_CONN_QUAL nobody = 0;
    DAT_PSP_HANDLE psp = fx_listen(fx, &nobody);

    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    is_success(dat_cr_handoff(cr, nobody), "dat_cr_handoff: nobody listens there: success");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "dat_cr_handoff: nobody listens there: NON_PEER_REJECTED");
    side_free(&a);
}

static void from_reserved(struct fx *fx, DAT_CONN_QUAL to)
{
    struct side a, b;
    DAT_CONN_QUAL qual;
    DAT_RSP_HANDLE rsp;
    DAT_CR_HANDLE cr;
    DAT_RETURN rc;

    side_make(&b, fx, NULL);
    do
        qual = unique_qual(false);
    while (rc_is(rc = dat_rsp_create(fx->ia, qual, b.ep, fx->cr, &rsp), DAT_CONN_QUAL_IN_USE));
    if (rc_not_implemented(rc)) {
        skip_named("dat_cr_handoff: from a reserved service point", "not implemented");
        side_free(&b);
        return;
    }
    must_rc(rc, DAT_SUCCESS, "dat_rsp_create");
    cr = ring(fx, &a, qual);
    is_success(dat_cr_handoff(cr, to), "dat_cr_handoff: from a reserved service point: success");
    is_state(ep_state(b.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_cr_handoff: from a reserved service point: its endpoint is UNCONNECTED");
    cr = next_request(fx->cr);
    is_success(dat_cr_accept(cr, b.ep, 0, NULL), "dat_cr_accept: with that endpoint: success");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
           wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
       "dat_cr_handoff: from a reserved service point: both ends ESTABLISHED");
    dat_rsp_free(rsp);
    side_free(&a);
    side_free(&b);
}

int main(int argc, char **argv)
{
    struct fx fx;
    DAT_CONN_QUAL first = 0;
    DAT_PSP_HANDLE psp;
    struct side probe;
    DAT_RETURN rc;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    psp = fx_listen(&fx, &first);
    rc = dat_cr_handoff(ring(&fx, &probe, first), first); /* to itself: the request arrives again */
    if (rc_not_implemented(rc)) {
        fx_close(&fx);
        skip_all("dat_cr_handoff: not implemented");
    }
    is_success(rc, "dat_cr_handoff: to the same service point: success");
    is_success(dat_cr_reject(next_request(fx.cr)), "dat_cr_handoff: to the same: arrives again");
    ok(wait_connection(probe.conn, DAT_CONNECTION_EVENT_PEER_REJECTED),
       "dat_cr_reject: after dat_cr_handoff: PEER_REJECTED");
    side_free(&probe);
    to_another(&fx, first);
    to_nobody(&fx, first);
    from_reserved(&fx, first);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    fx_close(&fx);
    return done_testing();
}
