/*
 * effect_passive.c - dat_ep_modify before dat_cr_accept: on an endpoint that the provider has created, on a
 * reserved endpoint, and on an endpoint that the consumer passes to dat_cr_accept.
 */
#define _POSIX_C_SOURCE 200809L
#include "modify_common.h"

#include <string.h>

static const DAT_EP_PARAM_MASK zone_and_evds =
    DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE |
    DAT_EP_FIELD_CONNECT_EVD_HANDLE;

/* The provider creates the endpoint without a PZ and EVDs. dat_ep_modify sets them. */
static void tentative(void)
{
    struct stage g;
    struct values v;
    struct region in, out;
    DAT_EP_PARAM p, now;
    DAT_LMR_TRIPLET t;
    DAT_EVENT e;
    const char *why = "";

    if (!stage_open(&g, DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING, &why)) {
        skip_named("TENTATIVE_CONNECTION_PENDING", why);
        return;
    }
    values_make(&v, &g.fx);
    region_make_in(&g.fx, v.pz[0], &in, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&g.fx, &out, 4096, DAT_MEM_PRIV_ALL_FLAG);
    now = ep_param(g.ep);
    ok(now.pz_handle == DAT_HANDLE_NULL && now.recv_evd_handle == DAT_HANDLE_NULL &&
           now.request_evd_handle == DAT_HANDLE_NULL && now.connect_evd_handle == DAT_HANDLE_NULL,
       "endpoint of the provider: no zone, no dispatchers");
    is_type(dat_cr_accept(g.cr, DAT_HANDLE_NULL, 0, NULL), DAT_INVALID_HANDLE,
            "dat_cr_accept: endpoint without zone and dispatchers: DAT_INVALID_HANDLE");
    is_state(ep_state(g.ep), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
             "dat_cr_accept: refused: still tentative");

    /* Without EVDs, an endpoint of the provider accepts queue lengths above 0, also unchanged ones. */
    is_success(dat_ep_modify(g.ep,
                             DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS |
                                 DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
                             &now),
               "dat_ep_modify: tentative, no dispatchers: max_recv_dtos and max_request_dtos as "
               "they are: success");
    is_same(g.ep, &now, "dat_ep_modify: tentative: the sizes as they are: nothing changes");
    param_rubbish(&p);
    p.ep_attr.max_recv_dtos = 20;
    p.ep_attr.max_request_dtos = 20;
    is_success(dat_ep_modify(g.ep,
                             DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS |
                                 DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
                             &p),
               "dat_ep_modify: tentative, no dispatchers: other sizes: success");
    is_type(dat_cr_accept(g.cr, DAT_HANDLE_NULL, 0, NULL), DAT_INVALID_HANDLE,
            "dat_cr_accept: endpoint with sizes alone: DAT_INVALID_HANDLE");

    param_rubbish(&p);
    p.pz_handle = v.pz[0];
    p.recv_evd_handle = v.recv[0];
    p.request_evd_handle = v.request[0];
    p.connect_evd_handle = v.connect[0];
    p.ep_attr.max_recv_dtos = 20;
    p.ep_attr.max_request_dtos = 20;
    p.ep_attr.max_recv_iov = 2;
    if (!is_success(dat_ep_modify(g.ep,
                                  zone_and_evds | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS |
                                      DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS |
                                      DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV,
                                  &p),
                    "dat_ep_modify: tentative: zone, dispatchers and sizes: success")) {
        stage_close(&g);
        return;
    }
    now = ep_param(g.ep);
    ok(now.pz_handle == v.pz[0] && now.recv_evd_handle == v.recv[0] &&
           now.request_evd_handle == v.request[0] && now.connect_evd_handle == v.connect[0] &&
           now.ep_attr.max_recv_dtos == 20 && now.ep_attr.max_request_dtos == 20 &&
           now.ep_attr.max_recv_iov == 2,
       "dat_ep_query: tentative: the new values");
    for (DAT_UINT64 i = 0; i < 20; i++) {
        DAT_RETURN rc;

        t = segment(&in, (size_t)i * 200, 200);
        rc = dat_ep_post_recv(g.ep, 1, &t, cookie(i), DAT_COMPLETION_DEFAULT_FLAG);
        if (rc != DAT_SUCCESS || i == 19)
            is_success(rc, "dat_ep_post_recv: tentative: receive %d of 20: success", (int)i + 1);
        if (rc != DAT_SUCCESS)
            break;
    }
    /* Change the receive EVD again, with posted receives. */
    p.recv_evd_handle = v.recv[1];
    is_success(dat_ep_modify(g.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &p),
               "dat_ep_modify: tentative: another receive EVD, receives posted: success");

    is_success(dat_cr_accept(g.cr, DAT_HANDLE_NULL, 0, NULL), "dat_cr_accept: success");
    ok(wait_number(v.connect[0], DAT_CONNECTION_EVENT_ESTABLISHED, &e) &&
           e.event_data.connect_event_data.ep_handle == g.ep,
       "tentative, accepted: ESTABLISHED on the EVD that dat_ep_modify gave");
    ok(wait_connection(g.other.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
       "tentative, accepted: ESTABLISHED at the other end");
    pattern_fill(out.mem, 4096, 6);
    for (DAT_UINT64 i = 0; i < 20; i++)
        ok(post_send(&g.other, &out, (size_t)i * 200, 200, i) == DAT_SUCCESS &&
               wait_dto(v.recv[1], i, DAT_DTO_SUCCESS, &e) &&
               e.event_data.dto_completion_event_data.ep_handle == g.ep,
           "tentative, accepted: receive %d completes on the last receive EVD", (int)i);
    ok(pattern_check(in.mem, 4000, 6) < 0, "tentative, accepted: the messages are whole");
    ok(quiet(v.recv[0]), "tentative, accepted: nothing on the receive EVD before it");

    drain_dtos(g.other.req, 20);
    must_rc(post_recv(&g.other, &out, 0, 200, 50), DAT_SUCCESS, "dat_ep_post_recv");
    t = segment(&in, 0, 200);
    is_success(dat_ep_post_send(g.ep, 1, &t, cookie(51), DAT_COMPLETION_DEFAULT_FLAG),
               "dat_ep_post_send: tentative, accepted: success");
    ok(wait_dto(v.request[0], 51, DAT_DTO_SUCCESS, NULL) &&
           wait_dto(g.other.recv, 50, DAT_DTO_SUCCESS, NULL),
       "tentative, accepted: a Send from the new zone completes on the new EVD");
    is_code(dat_pz_free(v.pz[0]), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE,
            "dat_pz_free: zone of the accepted endpoint: DAT_INVALID_STATE");
    in.lmr = out.lmr = DAT_HANDLE_NULL; /* freed with the adapter */
    stage_close(&g);
    region_free(&in);
    region_free(&out);
}

/*
 * Modifies the EVDs of a reserved endpoint before and after its request arrives. The connection uses the EVDs
 * that are set last.
 */
static void reserved(void)
{
    struct stage g;
    struct values v;
    DAT_EP_PARAM p;
    DAT_EVENT e;
    const char *why = "";

    if (!stage_open(&g, DAT_EP_STATE_RESERVED, &why)) {
        skip_named("RESERVED", why);
        return;
    }
    values_make(&v, &g.fx);
    for (DAT_UINT64 i = 0; i < 3; i++)
        must_rc(post_recv(&g.side, NULL, 0, 0, i), DAT_SUCCESS, "dat_ep_post_recv");
    param_rubbish(&p);
    p.recv_evd_handle = v.recv[0];
    p.connect_evd_handle = v.connect[0];
    is_success(dat_ep_modify(g.ep, DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
                             &p),
               "dat_ep_modify: reserved: receive and connect EVD: success");
    side_make(&g.other, &g.fx, NULL);
    must_rc(side_connect(&g.other, fx_address(&g.fx), g.qual), DAT_SUCCESS, "dat_ep_connect");
    g.cr = next_request(g.requests);
    is_state(ep_state(g.ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, "the request is there: passive");
    p.recv_evd_handle = v.recv[1];
    p.connect_evd_handle = v.connect[1];
    p.request_evd_handle = v.request[1];
    p.ep_attr.max_recv_dtos = 40;
    is_success(dat_ep_modify(g.ep,
                             DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE |
                                 DAT_EP_FIELD_REQUEST_EVD_HANDLE |
                                 DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
                             &p),
               "dat_ep_modify: passive: the three EVDs and max_recv_dtos: success");
    for (DAT_UINT64 i = 3; i < 40; i++)
        if (post_recv(&g.side, NULL, 0, 0, i) != DAT_SUCCESS) {
            fail("dat_ep_post_recv: passive, max_recv_dtos enlarged: receive %d of 40", (int)i + 1);
            break;
        }
    is_success(dat_cr_accept(g.cr, DAT_HANDLE_NULL, 0, NULL), "dat_cr_accept: success");
    ok(wait_number(v.connect[1], DAT_CONNECTION_EVENT_ESTABLISHED, &e) &&
           e.event_data.connect_event_data.ep_handle == g.ep,
       "passive, accepted: ESTABLISHED on the last connect EVD");
    must(wait_connection(g.other.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
    for (DAT_UINT64 i = 0; i < 40; i++)
        if (post_send(&g.other, NULL, 0, 0, i) != DAT_SUCCESS ||
            !wait_dto(g.other.req, i, DAT_DTO_SUCCESS, NULL) ||
            !wait_dto(v.recv[1], i, DAT_DTO_SUCCESS, NULL)) {
            fail("passive, accepted: receive %d", (int)i);
            break;
        } else if (i == 39) {
            pass("passive, accepted: all 40 receives complete on the last receive EVD, in order");
        }
    ok(quiet(v.recv[0]) && quiet(v.connect[0]) &&
           quiet(g.side.recv) && quiet(g.side.conn),
       "passive, accepted: nothing on the EVDs before them");
    must_rc(post_recv(&g.other, NULL, 0, 0, 60), DAT_SUCCESS, "dat_ep_post_recv");
    ok(post_send(&g.side, NULL, 0, 0, 61) == DAT_SUCCESS &&
           wait_dto(v.request[1], 61, DAT_DTO_SUCCESS, NULL),
       "passive, accepted: a Send completes on the last request EVD");
    stage_close(&g);
}

/* Modifies an unconnected endpoint, which then accepts a request of a PSP in consumer mode. */
static void accepted(void)
{
    struct fx fx;
    struct values v;
    struct side a, b;
    DAT_EP_PARAM p;
    DAT_CR_HANDLE cr;
    DAT_CONN_QUAL qual = 0;

    fx_open(&fx);
    values_make(&v, &fx);
    fx_listen(&fx, &qual);
    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    must_rc(side_connect(&a, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    cr = next_request(fx.cr);
    param_rubbish(&p);
    p.connect_evd_handle = v.connect[0];
    p.recv_evd_handle = v.recv[0];
    is_success(dat_ep_modify(b.ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE,
                             &p),
               "dat_ep_modify: unconnected, the request waits: success");
    must_rc(post_recv(&b, NULL, 0, 0, 1), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(dat_cr_accept(cr, b.ep, 0, NULL), "dat_cr_accept: success");
    ok(wait_connection(v.connect[0], DAT_CONNECTION_EVENT_ESTABLISHED),
       "consumer's endpoint, accepted: ESTABLISHED on the new connect EVD");
    must(wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
    ok(post_send(&a, NULL, 0, 0, 2) == DAT_SUCCESS && wait_dto(v.recv[0], 1, DAT_DTO_SUCCESS, NULL),
       "consumer's endpoint, accepted: the receive completes on the new EVD");
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    tentative();
    reserved();
    accepted();
    return done_testing();
}
