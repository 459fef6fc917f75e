/* connect.c - connection setup: states, events, private data, within and between processes. */
#include "common/fixture.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of private data in each direction. */
struct talk {
    DAT_COUNT to_passive;
    DAT_COUNT to_active;
};

static void in_one_process(struct fx *fx)
{
    static const char hello[] = "private data of the active side, 48 bytes of it";
    static const char answer[] = "private data of the passive side, also 48 bytes";
    struct side a, b;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
    DAT_CR_ARRIVAL_EVENT_DATA *arrival;
    DAT_CONNECTION_EVENT_DATA *established;
    DAT_HANDLE_TYPE type = (DAT_HANDLE_TYPE)77;
    DAT_CR_PARAM cr;
    DAT_EP_PARAM p;
    DAT_EVENT event;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);

    is_success(dat_ep_connect(a.ep, fx_address(fx), qual, env_us(SOON_MS), 48, (DAT_PVOID)hello,
                              DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
               "dat_ep_connect: to a service point: success");
    is_state(ep_state(a.ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
             "dat_ep_connect: the endpoint is ACTIVE_CONNECTION_PENDING");
    is_success(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &p), "dat_ep_query: while connecting: success");
    ok(same_address(p.remote_ia_address_ptr, fx_address(fx)),
       "dat_ep_query: while connecting: remote_ia_address_ptr is the address given");
    ok(p.remote_port_qual == qual, "dat_ep_query: while connecting: remote_port_qual is true");

    if (!ok(wait_number(fx->cr, DAT_CONNECTION_REQUEST_EVENT, &event),
            "request: an event on the service point's EVD"))
        bail("no request, no connection");
    arrival = &event.event_data.cr_arrival_event_data;
    is_ptr(event.evd_handle, fx->cr, "request: evd_handle: true");
    is_ptr(arrival->sp_handle.psp_handle, psp, "request: sp_handle: the service point");
    ok(arrival->conn_qual == qual, "request: conn_qual: true");
    ok(same_address(arrival->local_ia_address_ptr, fx_address(fx)),
       "request: local_ia_address_ptr: the adapter's address");
    is_success(dat_get_handle_type(arrival->cr_handle, &type), "request: cr_handle: a handle");
    is_int(type, DAT_HANDLE_TYPE_CR, "request: cr_handle: of a CR");
    /* Over verbs, the port is known once the address is resolved, which precedes the request. */
    is_success(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &p), "dat_ep_query: while connecting, requested: success");
    ok(p.local_port_qual != 0, "dat_ep_query: while connecting, requested: local_port_qual is set");
    ok(quiet(a.conn), "request: unanswered: nothing happens on the active side");

    is_success(dat_cr_query(arrival->cr_handle, DAT_CR_FIELD_ALL, &cr), "dat_cr_query: success");
    ok(cr.private_data_size >= 48 && memcmp(cr.private_data, hello, 48) == 0,
       "dat_cr_query: private data: all 48 bytes");
    ok(cr.remote_ia_address_ptr != NULL &&
           cr.remote_ia_address_ptr->sa_family == fx->address.ss_family,
       "dat_cr_query: remote_ia_address_ptr: of the adapter's family");
    is_ptr(cr.local_ep_handle, DAT_HANDLE_NULL, "dat_cr_query: local_ep_handle: none");

    is_success(dat_cr_accept(arrival->cr_handle, b.ep, 48, (DAT_PVOID)answer),
               "dat_cr_accept: with private data: success");
    {
        DAT_EP_STATE s = ep_state(b.ep);

        ok(s == DAT_EP_STATE_COMPLETION_PENDING || s == DAT_EP_STATE_CONNECTED,
           "dat_cr_accept: the endpoint is COMPLETION_PENDING, or CONNECTED already");
    }
    is_success(dat_ep_query(b.ep, DAT_EP_FIELD_ALL, &p), "dat_ep_query: accepted: success");
    ok(p.local_port_qual != 0, "dat_ep_query: accepted: local_port_qual is set");
    if (!ok(wait_number(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event),
            "active side: ESTABLISHED"))
        bail("no connection");
    is_state(ep_state(a.ep), DAT_EP_STATE_CONNECTED,
             "active side: CONNECTED once the event can be fetched");
    established = &event.event_data.connect_event_data;
    is_ptr(event.evd_handle, a.conn, "active side: evd_handle: true");
    is_ptr(established->ep_handle, a.ep, "active side: ep_handle: true");
    ok(established->private_data_size >= 48 && memcmp(established->private_data, answer, 48) == 0,
       "active side: private data: what the passive side accepted with");

    ok(wait_number(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event), "passive side: ESTABLISHED");
    is_state(ep_state(b.ep), DAT_EP_STATE_CONNECTED,
             "passive side: CONNECTED once the event can be fetched");
    is_ptr(event.event_data.connect_event_data.ep_handle, b.ep, "passive side: ep_handle: true");
    is_int(event.event_data.connect_event_data.private_data_size, 0,
           "passive side: private_data_size: 0");

    is_success(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &p), "dat_ep_query: active, connected: success");
    is_state(p.ep_state, DAT_EP_STATE_CONNECTED, "dat_ep_query: active, connected: ep_state is true");
    ok(same_address(p.local_ia_address_ptr, fx_address(fx)),
       "dat_ep_query: active, connected: local_ia_address_ptr is the adapter's");
    ok(same_address(p.remote_ia_address_ptr, fx_address(fx)) && p.remote_port_qual == qual,
       "dat_ep_query: active, connected: remote address and qualifier as given");
    is_success(dat_ep_query(b.ep, DAT_EP_FIELD_ALL, &p),
               "dat_ep_query: passive, connected: success");
    ok(p.remote_ia_address_ptr != NULL,
       "dat_ep_query: passive, connected: remote_ia_address_ptr is set");
    ok(p.local_port_qual != 0, "dat_ep_query: passive, connected: local_port_qual is set");

    ok(sides_talk(&a, &b), "connected: messages both ways");
    is_success(dat_psp_free(psp), "dat_psp_free: with a live connection: success");
    ok(sides_talk(&a, &b), "dat_psp_free: the connection goes on");
    ok(quiet(a.conn) && quiet(b.conn), "connected: one ESTABLISHED a side and no more");
    side_free(&a);
    side_free(&b);
}

static void private_data(struct fx *fx)
{
    DAT_COUNT max = fx->max_private_data;
    DAT_COUNT some = max < 64 ? max : 64;
    const struct talk talks[] = { { 0, 0 },    { 1, 0 },     { 0, 1 },   { 48, some },
                                  { some, 1 }, { max, max }, { max, 0 }, { 0, max } };
    unsigned char *out = malloc((size_t)max), *back = malloc((size_t)max);

    must(out != NULL && back != NULL, "out of memory");
    pattern_fill(out, (size_t)max, 31);
    pattern_fill(back, (size_t)max, 32);
    for (size_t i = 0; i < sizeof talks / sizeof talks[0]; i++) {
        const struct talk *t = &talks[i];
        struct side a, b;
        DAT_CONN_QUAL qual;
        DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
        DAT_CR_HANDLE request;
        DAT_CR_PARAM cr;
        DAT_EVENT event;
        DAT_CONNECTION_EVENT_DATA *e = &event.event_data.connect_event_data;
        bool arrived;

        side_make(&a, fx, NULL);
        side_make(&b, fx, NULL);
        must_rc(dat_ep_connect(a.ep, fx_address(fx), qual, env_us(SOON_MS), t->to_passive,
                               t->to_passive != 0 ? out : NULL, DAT_QOS_BEST_EFFORT,
                               DAT_CONNECT_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_connect");
        request = next_request(fx->cr);
        must_rc(dat_cr_query(request, DAT_CR_FIELD_ALL, &cr), DAT_SUCCESS, "dat_cr_query");
        ok(cr.private_data_size >= t->to_passive &&
               (t->to_passive == 0 || memcmp(cr.private_data, out, (size_t)t->to_passive) == 0),
           "dat_ep_connect: %d bytes of private data: all in the request", (int)t->to_passive);
        must_rc(dat_cr_accept(request, b.ep, t->to_active, t->to_active != 0 ? back : NULL),
                DAT_SUCCESS, "dat_cr_accept");
        arrived = wait_number(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event) &&
                  wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
        ok(arrived && e->private_data_size >= t->to_active &&
               (t->to_active == 0 || memcmp(e->private_data, back, (size_t)t->to_active) == 0),
           "dat_cr_accept: %d bytes of private data: all in ESTABLISHED", (int)t->to_active);
        must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
        side_free(&a);
        side_free(&b);
    }
    free(out);
    free(back);
}

static void copied(struct fx *fx)
{
    struct side a, b;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
    struct sockaddr_storage address = fx->address;
    char data[32];
    DAT_CR_HANDLE request;
    DAT_CR_PARAM cr;
    DAT_EVENT event;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    memset(data, 'a', sizeof data);
    must_rc(dat_ep_connect(a.ep, (DAT_IA_ADDRESS_PTR)&address, qual, env_us(SOON_MS), 32, data,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
    memset(data, 'x', sizeof data);
    memset(&address, 0xff, sizeof address);
    request = next_request(fx->cr);
    must_rc(dat_cr_query(request, DAT_CR_FIELD_ALL, &cr), DAT_SUCCESS, "dat_cr_query");
    ok(all_bytes(cr.private_data, 32, 'a'), "dat_ep_connect: private data and address are copied");
    memset(data, 'b', sizeof data);
    must_rc(dat_cr_accept(request, b.ep, 32, data), DAT_SUCCESS, "dat_cr_accept");
    memset(data, 'x', sizeof data);
    ok(wait_number(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event) &&
           all_bytes(event.event_data.connect_event_data.private_data, 32, 'b'),
       "dat_cr_accept: private data is copied");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&a);
    side_free(&b);
}

static void early_receives(struct fx *fx)
{
    struct side a, b;
    struct region r;
    int good = 1;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    region_make(fx, &r, 16 * 64, MEM_LOCAL);
    for (unsigned i = 0; i < 8; i++)
        good &= post_recv(&b, &r, i * 64, 64, i) == DAT_SUCCESS;
    ok(good, "dat_ep_post_recv: UNCONNECTED: success");
    sides_connect(&a, &b);
    for (unsigned i = 0; i < 8; i++) {
        pattern_fill(r.mem + (8 + i) * 64, 64, i);
        good &= post_send(&a, &r, (8 + i) * 64, 64, i) == DAT_SUCCESS;
    }
    for (unsigned i = 0; i < 8; i++)
        good &= wait_dto(b.recv, i, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(r.mem + i * 64, 64, i) < 0;
    ok(good, "dat_ep_post_recv: before connecting: eight messages arrive in posting order");
    side_free(&a);
    side_free(&b);
    region_free(&r);
}

/* The other process accepts one connection, opens another, and replies to a message on each. */
static int partner(struct link *up)
{
    struct fx fx;
    struct side passive, active;
    struct region both[2];

    fx_open(&fx);
    side_make(&passive, &fx, NULL);
    side_make(&active, &fx, NULL);
    region_make(&fx, &both[0], 128, MEM_LOCAL);
    region_make(&fx, &both[1], 128, MEM_LOCAL);
    must_rc(post_recv(&passive, &both[0], 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_recv(&active, &both[1], 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    side_accept_peer(&passive, up);
    side_connect_peer(&active, up);
    for (int i = 0; i < 2; i++) {
        struct side *s = i == 0 ? &passive : &active;
        struct region *r = &both[i];

        must(wait_dto(s->recv, 1, DAT_DTO_SUCCESS, NULL), "no message");
        must(pattern_check(r->mem, 64, 41) < 0, "the message is damaged");
        pattern_fill(r->mem + 64, 64, 42);
        must_rc(post_send(s, r, 64, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
        must(wait_dto(s->req, 2, DAT_DTO_SUCCESS, NULL), "the answer is not sent");
        must(wait_connection(s->conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
        side_free(s);
        region_free(r);
    }
    must_rc(dat_pz_free(fx.pz), DAT_SUCCESS, "dat_pz_free");
    must_rc(dat_evd_free(fx.cr), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_ia_close(fx.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ia_close, graceful");
    return 0;
}

static void in_two_processes(struct fx *fx)
{
    struct peer p;
    struct side sides[2];

    peer_start(&p, "partner");
    side_make(&sides[0], fx, NULL);
    side_make(&sides[1], fx, NULL);
    side_connect_peer(&sides[0], &p.link);
    pass("two processes: this one connects: ESTABLISHED");
    side_accept_peer(&sides[1], &p.link);
    pass("two processes: this one accepts: ESTABLISHED");
    for (int i = 0; i < 2; i++) {
        struct side *s = &sides[i];
        const char *who = i == 0 ? "active" : "passive";
        struct region r;

        region_make(fx, &r, 128, MEM_LOCAL);
        pattern_fill(r.mem, 64, 41);
        must_rc(post_recv(s, &r, 64, 64, 3), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(s, &r, 0, 64, 4), DAT_SUCCESS, "dat_ep_post_send");
        ok(wait_dto(s->req, 4, DAT_DTO_SUCCESS, NULL), "two processes, %s: a message goes", who);
        ok(wait_dto(s->recv, 3, DAT_DTO_SUCCESS, NULL) && pattern_check(r.mem + 64, 64, 42) < 0,
           "two processes, %s: the answer comes", who);
        is_success(dat_ep_disconnect(s->ep, DAT_CLOSE_GRACEFUL_FLAG),
                   "dat_ep_disconnect: two processes, %s: success", who);
        ok(wait_connection(s->conn, DAT_CONNECTION_EVENT_DISCONNECTED),
           "dat_ep_disconnect: two processes, %s: DISCONNECTED", who);
        side_free(s);
        region_free(&r);
    }
    peer_ok(&p, "two processes: the other side saw the same, and closed gracefully");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "partner", partner }, { NULL, NULL } };
    struct fx fx;

    env_init(argc, argv, roles);
    fx_open(&fx);
    in_one_process(&fx);
    private_data(&fx);
    copied(&fx);
    early_receives(&fx);
    in_two_processes(&fx);
    is_success(dat_pz_free(fx.pz), "dat_pz_free: everything was freed: success");
    is_success(dat_evd_free(fx.cr), "dat_evd_free: everything was freed: success");
    is_success(dat_ia_close(fx.ia, DAT_CLOSE_GRACEFUL_FLAG),
               "dat_ia_close: graceful, everything was freed: success");
    return done_testing();
}
