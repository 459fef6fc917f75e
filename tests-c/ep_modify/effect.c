/*
 * effect.c - dat_ep_modify: a connection uses the modified EVDs, PZ and completion flags.
 * effect_limits.c tests limits, effect_passive.c the passive side.
 */
#define _POSIX_C_SOURCE 200809L
#include "modify_common.h"

#include "common/waiter.h"

#include <string.h>

static struct fx fx;

static DAT_RETURN modify_pz(DAT_EP_HANDLE ep, DAT_PZ_HANDLE pz)
{
    DAT_EP_PARAM p;

    param_rubbish(&p);
    p.pz_handle = pz;
    return dat_ep_modify(ep, DAT_EP_FIELD_PZ_HANDLE, &p);
}

/* ---- EVDs ---- */

/* Receives that are posted before the receive EVD is modified complete on the new EVD. */
static void receive_evd(void)
{
    struct side a, b;
    struct values v;
    struct region in, out;
    DAT_EP_PARAM p;
    DAT_EVD_HANDLE old;

    values_make(&v, &fx);
    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    region_make(&fx, &in, 4096, MEM_LOCAL);
    region_make(&fx, &out, 4096, MEM_LOCAL);
    old = b.recv;
    for (DAT_UINT64 i = 0; i < 4; i++)
        must_rc(post_recv(&b, &in, (size_t)i * 100, 100, i), DAT_SUCCESS, "dat_ep_post_recv");
    param_rubbish(&p);
    p.recv_evd_handle = v.recv[0];
    is_success(dat_ep_modify(b.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &p),
               "dat_ep_modify: receive EVD, four receives posted: success");
    is_success(post_recv(&b, &in, 400, 100, 4), "dat_ep_post_recv: after it: success");
    sides_connect(&a, &b);
    pattern_fill(out.mem, 4096, 3);
    for (DAT_UINT64 i = 0; i < 5; i++)
        must_rc(post_send(&a, &out, (size_t)i * 100, 100, i), DAT_SUCCESS, "dat_ep_post_send");
    for (DAT_UINT64 i = 0; i < 5; i++) {
        DAT_EVENT e;

        ok(wait_dto(v.recv[0], i, DAT_DTO_SUCCESS, &e) && e.evd_handle == v.recv[0] &&
               e.event_data.dto_completion_event_data.ep_handle == b.ep,
           "receive EVD changed: completion %d is on the new one", (int)i);
    }
    ok(quiet(old), "receive EVD changed: nothing on the old one");
    ok(pattern_check(in.mem, 500, 3) < 0, "receive EVD changed: the messages are whole");
    is_success(dat_evd_free(old), "dat_evd_free: the old receive EVD, connected: success");
    b.recv = DAT_HANDLE_NULL;
    side_free(&a);
    side_free(&b);
    region_free(&in);
    region_free(&out);
}

static void other_evds(void)
{
    struct side a, b;
    struct values v;
    struct region in, out;
    DAT_EP_PARAM p;
    DAT_EVENT e;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);

    values_make(&v, &fx);
    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    region_make(&fx, &in, 256, MEM_LOCAL);
    region_make(&fx, &out, 256, MEM_LOCAL);
    param_rubbish(&p);
    p.request_evd_handle = v.request[0];
    p.connect_evd_handle = v.connect[0];
    is_success(dat_ep_modify(
                   a.ep, DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE, &p),
               "dat_ep_modify: request and connect EVD: success");
    must_rc(side_connect(&a, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(next_request(fx.cr), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    ok(wait_number(v.connect[0], DAT_CONNECTION_EVENT_ESTABLISHED, &e) &&
           e.event_data.connect_event_data.ep_handle == a.ep,
       "connect EVD changed: ESTABLISHED is on the new one");
    must(wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
    must_rc(post_recv(&b, &in, 0, 256, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&a, &out, 0, 100, 2), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(v.request[0], 2, DAT_DTO_SUCCESS, &e) &&
           e.event_data.dto_completion_event_data.ep_handle == a.ep,
       "request EVD changed: the Send completes on the new one");
    must_rc(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    ok(wait_connection(v.connect[0], DAT_CONNECTION_EVENT_DISCONNECTED),
       "connect EVD changed: DISCONNECTED is on the new one");
    ok(quiet(a.conn) && quiet(a.req), "request and connect EVD changed: nothing on the old ones");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&a);
    side_free(&b);
    region_free(&in);
    region_free(&out);
}

/* ---- protection zone ---- */

static void zone_that_matches(void)
{
    struct side a, b;
    struct values v;
    struct region in, out;

    values_make(&v, &fx);
    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    region_make(&fx, &out, 256, MEM_LOCAL);
    region_make_in(&fx, v.pz[0], &in, 256, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(out.mem, 256, 4);
    is_success(post_recv(&b, NULL, 0, 0, 1), "dat_ep_post_recv: no memory, old zone: success");
    is_success(modify_pz(b.ep, v.pz[0]), "dat_ep_modify: zone, one receive posted: success");
    is_success(post_recv(&b, &in, 0, 256, 2), "dat_ep_post_recv: memory of the new zone: success");
    sides_connect(&a, &b);
    must_rc(post_send(&a, NULL, 0, 0, 10), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(post_send(&a, &out, 0, 200, 11), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(b.recv, 1, DAT_DTO_SUCCESS, NULL),
       "zone changed: a receive without memory, posted before: succeeds");
    ok(wait_dto(b.recv, 2, DAT_DTO_SUCCESS, NULL) && pattern_check(in.mem, 200, 4) < 0,
       "zone changed: a receive into the new zone: succeeds");
    is_state(ep_state(b.ep), DAT_EP_STATE_CONNECTED, "zone changed: the connection stands");
    side_free(&a);
    side_free(&b);
    region_free(&in);
    region_free(&out);
}

/*
 * When the PZ is modified, a posted receive with memory of the old PZ fails immediately, before the connect.
 * Receives without memory stay posted.
 */
static void zone_that_does_not(void)
{
    struct side a, b;
    struct values v;
    struct region in;
    DAT_EVENT e;
    DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

    values_make(&v, &fx);
    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    region_make(&fx, &in, 256, MEM_LOCAL); /* in the first PZ */
    memset(in.mem, 0xee, 256);
    must_rc(post_recv(&b, NULL, 0, 0, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_recv(&b, &in, 0, 256, 2), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(modify_pz(b.ep, v.pz[0]), "dat_ep_modify: zone, a receive of the old one: success");
    ok(wait_number(b.recv, DAT_DTO_COMPLETION_EVENT, &e) && d->user_cookie.as_64 == 2 &&
           d->status == DAT_DTO_ERR_LOCAL_PROTECTION,
       "zone changed: the receive of the old zone: DAT_DTO_ERR_LOCAL_PROTECTION");
    ok(quiet(b.recv), "zone changed: the receive that matches any zone: still posted");
    must_rc(post_recv(&b, NULL, 0, 0, 3), DAT_SUCCESS, "dat_ep_post_recv");
    sides_connect(&a, &b);
    must_rc(post_send(&a, NULL, 0, 0, 10), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(post_send(&a, NULL, 0, 0, 11), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(b.recv, 1, DAT_DTO_SUCCESS, NULL) && wait_dto(b.recv, 3, DAT_DTO_SUCCESS, NULL),
       "zone changed: the receives before and after the failed one: succeed");
    ok(all_bytes(in.mem, 256, 0xee), "zone changed: not one byte is written there");
    is_state(ep_state(b.ep), DAT_EP_STATE_CONNECTED, "zone changed: the connection stands");
    side_free(&a);
    side_free(&b);
    region_free(&in);
}

/* Sends and RDMA use the PZ that the endpoint has at the time of the connect. */
static void zone_of_requests(void)
{
    struct side a, b;
    struct values v;
    struct region old, new, in;
    DAT_RETURN rc;
    DAT_EVENT e;

    values_make(&v, &fx);
    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    region_make(&fx, &old, 256, DAT_MEM_PRIV_ALL_FLAG);
    region_make_in(&fx, v.pz[0], &new, 256, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &in, 1024, DAT_MEM_PRIV_ALL_FLAG);
    is_success(modify_pz(a.ep, v.pz[0]), "dat_ep_modify: zone of the sending end: success");
    sides_connect(&a, &b);
    pattern_fill(new.mem, 256, 5);
    must_rc(post_recv(&b, &in, 0, 256, 1), DAT_SUCCESS, "dat_ep_post_recv");
    ok(post_send(&a, &new, 0, 256, 2) == DAT_SUCCESS && wait_dto(b.recv, 1, DAT_DTO_SUCCESS, NULL) &&
           wait_dto(a.req, 2, DAT_DTO_SUCCESS, NULL) && pattern_check(in.mem, 256, 5) < 0,
       "zone changed: a Send from the new zone: succeeds");
    ok(post_write(&a, &new, 0, 256, target(&in, 512, 256), 3) == DAT_SUCCESS &&
           wait_dto(a.req, 3, DAT_DTO_SUCCESS, NULL) && written(in.mem + 512, 256, 5),
       "zone changed: RDMA write from the new zone: succeeds");
    pattern_fill(old.mem, 256, 6);
    ok(post_write(&b, &in, 0, 256, target(&new, 0, 256), 4) == DAT_SUCCESS &&
           wait_dto(b.req, 4, DAT_DTO_SUCCESS, NULL) && written(new.mem, 256, 5),
       "zone changed: RDMA write into the new zone: succeeds");
    rc = post_send(&a, &old, 0, 256, 5);
    if (rc == DAT_SUCCESS)
        ok(wait_number(a.req, DAT_DTO_COMPLETION_EVENT, &e) &&
               e.event_data.dto_completion_event_data.status == DAT_DTO_ERR_LOCAL_PROTECTION,
           "zone changed: a Send from the old zone: DAT_DTO_ERR_LOCAL_PROTECTION");
    else
        is_type(rc, DAT_PROTECTION_VIOLATION,
                "zone changed: a Send from the old zone: DAT_PROTECTION_VIOLATION");
    side_free(&a);
    side_free(&b);
    region_free(&old);
    region_free(&new);
    region_free(&in);
}

/* ---- completion flags ---- */

static DAT_RETURN modify_recv_flags(DAT_EP_HANDLE ep, DAT_COMPLETION_FLAGS flags)
{
    DAT_EP_PARAM p;

    param_rubbish(&p);
    p.ep_attr.recv_completion_flags = flags;
    return dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, &p);
}

/* The receive completion flags cannot be modified while a receive is posted. */
static void receive_flags_fixed(void)
{
    struct side a, b;
    DAT_EP_PARAM before, p;

    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    is_success(modify_recv_flags(b.ep, DAT_COMPLETION_UNSIGNALLED_FLAG),
               "dat_ep_modify: receive flags, nothing posted: success");
    is_success(modify_recv_flags(b.ep, DAT_COMPLETION_EVD_THRESHOLD_FLAG),
               "dat_ep_modify: receive flags, back again: success");
    must_rc(post_recv(&b, NULL, 0, 0, 1), DAT_SUCCESS, "dat_ep_post_recv");
    before = ep_param(b.ep);
    is_type(modify_recv_flags(b.ep, DAT_COMPLETION_UNSIGNALLED_FLAG), DAT_INVALID_STATE,
            "dat_ep_modify: receive flags, a receive is posted: DAT_INVALID_STATE");
    param_rubbish(&p);
    p.ep_attr.recv_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    p.ep_attr.max_message_size = 4096;
    is_type(dat_ep_modify(b.ep,
                          DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS |
                              DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE,
                          &p),
            DAT_INVALID_STATE,
            "dat_ep_modify: receive flags and a good field, a receive is posted: "
            "DAT_INVALID_STATE");
    is_same(b.ep, &before, "dat_ep_modify: receive flags, a receive is posted: nothing changes");
    is_success(dat_ep_modify(b.ep, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, &p),
               "dat_ep_modify: another field, a receive is posted: success");

    sides_connect(&a, &b);
    must_rc(post_send(&a, NULL, 0, 0, 2), DAT_SUCCESS, "dat_ep_post_send");
    must(wait_dto(b.recv, 1, DAT_DTO_SUCCESS, NULL), "no completion");
    must_rc(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    must_rc(dat_ep_reset(b.ep), DAT_SUCCESS, "dat_ep_reset");
    is_success(modify_recv_flags(b.ep, DAT_COMPLETION_UNSIGNALLED_FLAG),
               "dat_ep_modify: receive flags, the receive has completed: success");
    side_free(&a);
    side_free(&b);
}

static void solicited(void)
{
    struct side a, b;
    struct waiter w;

    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    is_success(modify_recv_flags(b.ep, DAT_COMPLETION_SOLICITED_WAIT_FLAG),
               "dat_ep_modify: receive flags SOLICITED_WAIT: success");
    for (DAT_UINT64 i = 0; i < 2; i++)
        must_rc(post_recv(&b, NULL, 0, 0, i), DAT_SUCCESS, "dat_ep_post_recv");
    sides_connect(&a, &b);
    waiter_start(&w, b.recv, env_us(SOON_MS), 1);
    must(post_send(&a, NULL, 0, 0, 10) == DAT_SUCCESS && wait_dto(a.req, 10, DAT_DTO_SUCCESS, NULL),
         "no arrival");
    /* Soft-iWARP drops the sender's flag, so that every message wakes the waiter there. */
    if (env_is_iwarp())
        skip_named("receive flags SOLICITED_WAIT: a plain message", "soft-iWARP announces every message");
    else
        ok(!waiter_done(&w, QUIET_MS), "receive flags SOLICITED_WAIT: a plain message wakes no waiter");
    must_rc(dat_ep_post_send(a.ep, 0, NULL, cookie(11), DAT_COMPLETION_SOLICITED_WAIT_FLAG),
            DAT_SUCCESS, "dat_ep_post_send");
    ok(waiter_done(&w, SOON_MS), "receive flags SOLICITED_WAIT: a solicited one does");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS && w.event.event_data.dto_completion_event_data.user_cookie.as_64 == 0 &&
           wait_dto(b.recv, 1, DAT_DTO_SUCCESS, NULL),
       "receive flags SOLICITED_WAIT: both completions are there, in order");
    side_free(&a);
    side_free(&b);
}

static void unsignalled_requests(void)
{
    struct pair before;
    struct side a, b;
    struct waiter w;
    DAT_EP_PARAM p;

    pair_open(&before, &fx, NULL);
    is_type(dat_ep_post_send(before.a.ep, 0, NULL, cookie(1), DAT_COMPLETION_UNSIGNALLED_FLAG),
            DAT_INVALID_PARAMETER,
            "dat_ep_post_send: UNSIGNALLED, endpoint of EVD_THRESHOLD: DAT_INVALID_PARAMETER");
    pair_close(&before);

    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    param_rubbish(&p);
    p.ep_attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    is_success(dat_ep_modify(a.ep, DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, &p),
               "dat_ep_modify: request flags UNSIGNALLED: success");
    for (DAT_UINT64 i = 0; i < 2; i++)
        must_rc(post_recv(&b, NULL, 0, 0, i), DAT_SUCCESS, "dat_ep_post_recv");
    sides_connect(&a, &b);
    waiter_start(&w, a.req, env_us(SOON_MS), 1);
    is_success(dat_ep_post_send(a.ep, 0, NULL, cookie(20), DAT_COMPLETION_UNSIGNALLED_FLAG),
               "dat_ep_post_send: UNSIGNALLED, endpoint of UNSIGNALLED: success");
    must(wait_dto(b.recv, 0, DAT_DTO_SUCCESS, NULL), "no arrival");
    ok(!waiter_done(&w, QUIET_MS), "request flags UNSIGNALLED: such a Send wakes no waiter");
    is_success(dat_ep_post_send(a.ep, 0, NULL, cookie(21), DAT_COMPLETION_DEFAULT_FLAG),
               "dat_ep_post_send: signalled: success");
    ok(waiter_done(&w, SOON_MS), "request flags UNSIGNALLED: a signalled Send does");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS && w.event.event_data.dto_completion_event_data.user_cookie.as_64 == 20 &&
           wait_dto(a.req, 21, DAT_DTO_SUCCESS, NULL),
       "request flags UNSIGNALLED: both completions are there, in order");
    side_free(&a);
    side_free(&b);
}

/* A request can have these flags with each value of the request completion flags. */
static void flags_of_each_request(DAT_COMPLETION_FLAGS flags, const char *name)
{
    const DAT_COMPLETION_FLAGS each = (DAT_COMPLETION_FLAGS)(
        DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG);
    struct side a, b;
    DAT_EP_PARAM p;

    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    param_rubbish(&p);
    p.ep_attr.request_completion_flags = flags;
    must_rc(dat_ep_modify(a.ep, DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, &p), DAT_SUCCESS, "dat_ep_modify");
    for (DAT_UINT64 i = 0; i < 2; i++)
        must_rc(post_recv(&b, NULL, 0, 0, i), DAT_SUCCESS, "dat_ep_post_recv");
    sides_connect(&a, &b);
    is_success(dat_ep_post_send(a.ep, 0, NULL, cookie(30), each),
               "request flags %s: a Send with SUPPRESS, SOLICITED_WAIT and BARRIER_FENCE: success", name);
    must_rc(dat_ep_post_send(a.ep, 0, NULL, cookie(31), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(b.recv, 0, DAT_DTO_SUCCESS, NULL) && wait_dto(b.recv, 1, DAT_DTO_SUCCESS, NULL) &&
           wait_dto(a.req, 31, DAT_DTO_SUCCESS, NULL),
       "request flags %s: it arrives, and its completion is suppressed", name);
    side_free(&a);
    side_free(&b);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    receive_evd();
    other_evds();
    zone_that_matches();
    zone_that_does_not();
    zone_of_requests();
    receive_flags_fixed();
    solicited();
    unsignalled_requests();
    flags_of_each_request(DAT_COMPLETION_EVD_THRESHOLD_FLAG, "EVD_THRESHOLD");
    flags_of_each_request(DAT_COMPLETION_UNSIGNALLED_FLAG, "UNSIGNALLED");
    fx_close(&fx);
    return done_testing();
}
