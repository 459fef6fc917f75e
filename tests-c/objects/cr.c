/* cr.c - connection requests: dat_cr_query, _accept, _reject, _handoff. */
#include "common/zoo.h"

#include <string.h>

static DAT_RETURN do_query(DAT_HANDLE h, void *arg)
{
    DAT_CR_PARAM p;

    (void)arg;
    return dat_cr_query(h, DAT_CR_FIELD_ALL, &p);
}

static DAT_RETURN do_accept(DAT_HANDLE h, void *arg)
{
    return dat_cr_accept(h, arg, 0, NULL);
}

static DAT_RETURN do_accept_ep(DAT_HANDLE h, void *arg)
{
    return dat_cr_accept(arg, h, 0, NULL);
}

static DAT_RETURN do_reject(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_cr_reject(h);
}

static DAT_RETURN do_handoff(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_cr_handoff(h, 4711);
}

/* A PSP with its EVD. */
struct scene {
    struct fx *fx;
    DAT_EVD_HANDLE evd;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual;
};

static void scene_make(struct scene *s, struct fx *fx)
{
    s->fx = fx;
    s->evd = fx_evd(fx, 8, DAT_EVD_CR_FLAG);
    s->psp = fx_listen_on(fx, s->evd, DAT_PSP_CONSUMER_FLAG, &s->qual);
}

static DAT_CR_HANDLE ring(struct scene *s, struct side *caller, void *data, DAT_COUNT size)
{
    side_make(caller, s->fx, NULL);
    must_rc(dat_ep_connect(caller->ep, fx_address(s->fx), s->qual, env_us(SOON_MS), size, data,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
    return next_request(s->evd);
}

static void handles(struct zoo *z, struct scene *s)
{
    struct side caller;
    DAT_CR_HANDLE used = ring(s, &caller, NULL, 0);
    DAT_EP_HANDLE gone;

    must_rc(dat_cr_reject(used), DAT_SUCCESS, "dat_cr_reject");
    gone = caller.ep;
    side_free(&caller);
#define SWEEP(name, fn, arg) \
    zoo_sweep(z, name, DAT_HANDLE_TYPE_CR, DAT_INVALID_HANDLE_CR, used, 0, fn, arg)
    SWEEP("dat_cr_query", do_query, NULL);
    SWEEP("dat_cr_accept", do_accept, z->side.ep);
    SWEEP("dat_cr_reject", do_reject, NULL);
    SWEEP("dat_cr_handoff", do_handoff, NULL);
    zoo_sweep(z, "dat_cr_accept, ep_handle", DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, gone, 0,
              do_accept_ep, z->of[DAT_HANDLE_TYPE_CR]);
    zoo_intact(z, "dat_cr_accept");
    is_state(ep_state(z->side.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_cr_accept: wrong handles: the endpoint is UNCONNECTED");
}

static void query(struct scene *s)
{
    static char data[] = "thirty-two bytes of private data";
    struct side caller;
    DAT_CR_HANDLE cr = ring(s, &caller, data, 32);
    DAT_CR_PARAM p, before;

    memset(&p, 0x5a, sizeof p);
    before = p;
    is_code(dat_cr_query(cr, (DAT_CR_PARAM_MASK)(DAT_CR_FIELD_ALL + 1), &p), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG2, "dat_cr_query: unknown mask bit: DAT_INVALID_PARAMETER");
    ok(memcmp(&p, &before, sizeof p) == 0, "dat_cr_query: error: the structure is untouched");
    is_code(dat_cr_query(cr, DAT_CR_FIELD_ALL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_cr_query: no structure: DAT_INVALID_PARAMETER");
    is_success(dat_cr_query(cr, DAT_CR_FIELD_ALL, &p), "dat_cr_query: all fields: success");
    ok(p.remote_ia_address_ptr != NULL &&
           p.remote_ia_address_ptr->sa_family == s->fx->address.ss_family,
       "dat_cr_query: remote_ia_address_ptr: an address of the adapter's family");
    ok(p.private_data_size >= 32 && memcmp(p.private_data, data, 32) == 0,
       "dat_cr_query: private data: as sent");
    is_ptr(p.local_ep_handle, DAT_HANDLE_NULL, "dat_cr_query: local_ep_handle: none");
    is_success(dat_cr_reject(cr), "dat_cr_reject: success");
    ok(wait_connection(caller.conn, DAT_CONNECTION_EVENT_PEER_REJECTED),
       "dat_cr_reject: the other side sees PEER_REJECTED");
    is_state(ep_state(caller.ep), DAT_EP_STATE_DISCONNECTED,
             "dat_cr_reject: the other side is DISCONNECTED");
    side_free(&caller);
}

/* Tests wrong arguments of dat_cr_accept(). A failed call changes nothing, so the last call can succeed. */
static void accept_parameters(struct scene *s)
{
    static char data[4096];
    struct fx *fx = s->fx, other;
    struct side caller, taker, busy, foreign, bare;
    DAT_CR_HANDLE cr = ring(s, &caller, NULL, 0);
    DAT_EP_ATTR attr;

    side_make(&taker, fx, NULL);
    is_code(dat_cr_accept(cr, taker.ep, -1, data), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_cr_accept: negative private data size: DAT_INVALID_PARAMETER");
    if (fx->max_private_data < (DAT_COUNT)sizeof data)
        is_code(dat_cr_accept(cr, taker.ep, fx->max_private_data + 1, data), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG3,
                "dat_cr_accept: private data above the maximum: DAT_INVALID_PARAMETER");
    is_code(dat_cr_accept(cr, taker.ep, 0x7fffffff, data), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_cr_accept: private data of 2^31 - 1 bytes: DAT_INVALID_PARAMETER");
    is_code(dat_cr_accept(cr, taker.ep, 8, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_cr_accept: private data NULL with a size: DAT_INVALID_PARAMETER");
    is_code(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
            "dat_cr_accept: EP NULL in consumer mode: DAT_INVALID_HANDLE");

    fx_open(&other);
    side_make(&foreign, &other, NULL);
    is_code(dat_cr_accept(cr, foreign.ep, 0, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
            "dat_cr_accept: EP of another open: DAT_INVALID_HANDLE");
    fx_close(&other);

    side_make(&bare, fx, NULL);
    must_rc(dat_ep_free(bare.ep), DAT_SUCCESS, "dat_ep_free");
    attr_default(&attr);
    must_rc(dat_ep_create(fx->ia, DAT_HANDLE_NULL, bare.recv, bare.req, bare.conn, &attr, &bare.ep),
            DAT_SUCCESS, "dat_ep_create");
    is_code(dat_cr_accept(cr, bare.ep, 0, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
            "dat_cr_accept: EP without a zone: DAT_INVALID_HANDLE");
    must_rc(dat_ep_free(bare.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_create(fx->ia, fx->pz, bare.recv, bare.req, DAT_HANDLE_NULL, &attr, &bare.ep),
            DAT_SUCCESS, "dat_ep_create");
    is_code(dat_cr_accept(cr, bare.ep, 0, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
            "dat_cr_accept: EP without a connection EVD: DAT_INVALID_HANDLE");
    side_free(&bare);

    side_make(&busy, fx, NULL);
    sides_connect(&busy, &taker);
    is_code(dat_cr_accept(cr, busy.ep, 0, NULL), DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED,
            "dat_cr_accept: EP connected already: DAT_INVALID_STATE");
    side_free(&busy);
    side_free(&taker);

    side_make(&taker, fx, NULL);
    is_success(dat_cr_accept(cr, taker.ep, 0, NULL),
               "dat_cr_accept: after seven refusals: success");
    ok(wait_connection(caller.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
           wait_connection(taker.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
       "dat_cr_accept: after seven refusals: both ends ESTABLISHED");
    is_type(dat_cr_accept(cr, taker.ep, 0, NULL), DAT_INVALID_HANDLE,
            "dat_cr_accept: a request accepted already: DAT_INVALID_HANDLE");
    is_type(dat_cr_reject(cr), DAT_INVALID_HANDLE,
            "dat_cr_reject: a request accepted already: DAT_INVALID_HANDLE");
    is_type(do_query(cr, NULL), DAT_INVALID_HANDLE,
            "dat_cr_query: a request accepted already: DAT_INVALID_HANDLE");
    side_free(&taker);
    side_free(&caller);
}

/* A request remains valid after its PSP has been freed, and after the active side has given up. */
static void survives(struct fx *fx)
{
    struct scene s;
    struct side one, two, taker;
    DAT_CR_HANDLE a, b;
    DAT_EVENT event;
    DAT_CR_PARAM p;

    scene_make(&s, fx);
    a = ring(&s, &one, NULL, 0);
    b = ring(&s, &two, NULL, 0);
    must_rc(dat_psp_free(s.psp), DAT_SUCCESS, "dat_psp_free");
    is_success(dat_cr_query(a, DAT_CR_FIELD_ALL, &p),
               "dat_cr_query: its service point is freed: success");
    side_make(&taker, fx, NULL);
    is_success(dat_cr_accept(a, taker.ep, 0, NULL),
               "dat_cr_accept: its service point is freed: success");
    ok(wait_connection(one.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
           wait_connection(taker.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
       "dat_cr_accept: its service point is freed: both ends ESTABLISHED");
    is_success(dat_cr_reject(b), "dat_cr_reject: its service point is freed: success");
    ok(wait_connection(two.conn, DAT_CONNECTION_EVENT_PEER_REJECTED),
       "dat_cr_reject: its service point is freed: PEER_REJECTED");
    side_free(&one);
    side_free(&two);
    side_free(&taker);
    must_rc(dat_evd_free(s.evd), DAT_SUCCESS, "dat_evd_free");

    scene_make(&s, fx);
    a = ring(&s, &one, NULL, 0);
    b = ring(&s, &two, NULL, 0);
    must_rc(dat_ep_free(one.ep), DAT_SUCCESS, "dat_ep_free");
    one.ep = DAT_HANDLE_NULL;
    must_rc(dat_ep_disconnect(two.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    ok(wait_event(two.conn, &event) &&
           event.event_number > DAT_CONNECTION_EVENT_ESTABLISHED &&
           event.event_number <= DAT_CONNECTION_EVENT_UNREACHABLE,
       "dat_ep_disconnect: ACTIVE_CONNECTION_PENDING: one connection event that ends it");
    is_success(dat_cr_query(a, DAT_CR_FIELD_ALL, &p),
               "dat_cr_query: the active side has given up: success");
    side_make(&taker, fx, NULL);
    is_success(dat_cr_accept(a, taker.ep, 0, NULL),
               "dat_cr_accept: the active side has given up: success");
    ok(wait_accept_failed(taker.conn),
       "dat_cr_accept: the active side has given up: ACCEPT_COMPLETION_ERROR");
    is_state(ep_state(taker.ep), DAT_EP_STATE_DISCONNECTED,
             "dat_cr_accept: ACCEPT_COMPLETION_ERROR: the endpoint is DISCONNECTED");
    is_success(dat_cr_reject(b), "dat_cr_reject: the active side has given up: success");
    side_free(&one);
    side_free(&two);
    side_free(&taker);
    must_rc(dat_psp_free(s.psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(s.evd), DAT_SUCCESS, "dat_evd_free");
}

static void handoff_parameters(struct scene *s)
{
    struct side caller;
    DAT_CR_HANDLE cr = ring(s, &caller, NULL, 0);
    DAT_CR_PARAM p;

    if (is_code(dat_cr_handoff(cr, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "dat_cr_handoff: qualifier 0: DAT_INVALID_PARAMETER"))
        is_success(dat_cr_query(cr, DAT_CR_FIELD_ALL, &p),
                   "dat_cr_handoff: failed: the request is still there");
    dat_cr_reject(cr);
    side_free(&caller);
}

int main(int argc, char **argv)
{
    struct zoo z;
    struct scene s;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    scene_make(&s, &z.fx);
    handles(&z, &s);
    query(&s);
    accept_parameters(&s);
    survives(&z.fx);
    handoff_parameters(&s);
    zoo_close(&z);
    return done_testing();
}
