/* connections.c - properties of connection management that programs need. */
#define _DEFAULT_SOURCE
#include "common/fixture.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <string.h>

static DAT_RETURN connect_to(struct side *s, const struct sockaddr_in *to, DAT_CONN_QUAL qual)
{
    struct sockaddr_in copy = *to;

    return dat_ep_connect(s->ep, (DAT_IA_ADDRESS_PTR)&copy, qual, env_us(SOON_MS), 0, NULL,
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

/* Returns whether a connection to this address works. */
static bool reaches(struct fx *fx, const struct sockaddr_in *to)
{
    struct side a, b;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
    DAT_EVENT e;
    bool good = false;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    if (connect_to(&a, to, qual) == DAT_SUCCESS && wait_number(fx->cr, DAT_CONNECTION_REQUEST_EVENT,
                                                               &e)) {
        must_rc(dat_cr_accept(e.event_data.cr_arrival_event_data.cr_handle, b.ep, 0, NULL),
                DAT_SUCCESS, "dat_cr_accept");
        good = wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) && sides_talk(&a, &b);
    }
    side_free(&a);
    side_free(&b);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    return good;
}

static void addresses(struct fx *fx)
{
    DAT_IA_ATTR one, two;
    struct sockaddr_in mine, to;

    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, &one, 0, NULL), DAT_SUCCESS,
            "dat_ia_query");
    must_rc(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &two, 0, NULL), DAT_SUCCESS,
            "dat_ia_query");
    if (one.ia_address_ptr->sa_family != AF_INET) {
        skip_named("12: ia_address_ptr is a sockaddr_in", "the adapter has an IPv6 address");
        return;
    }
    memcpy(&mine, one.ia_address_ptr, 16);
    ok(memcmp(one.ia_address_ptr, two.ia_address_ptr, 16) == 0,
       "12: ia_address_ptr: 16 bytes that compare equal each time");
    ok(mine.sin_addr.s_addr != 0 && all_bytes(mine.sin_zero, sizeof mine.sin_zero, 0),
       "12: ia_address_ptr: a complete sockaddr_in");
    ok(reaches(fx, &mine), "12: ia_address_ptr: connects");
    to = mine;
    to.sin_port = htons(12345);
    ok(reaches(fx, &to), "12: the port inside the address is ignored");
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ok(reaches(fx, &to), "12: 127.0.0.1: connects");
    if (env_is_shm()) {
        struct ifaddrs *list = NULL, *i;
        int n = 0;

        if (getifaddrs(&list) == 0)
            for (i = list; i != NULL && n < 8; i = i->ifa_next)
                if (i->ifa_addr != NULL && i->ifa_addr->sa_family == AF_INET) {
                    char text[INET_ADDRSTRLEN] = "";

                    memcpy(&to, i->ifa_addr, sizeof to);
                    inet_ntop(AF_INET, &to.sin_addr, text, sizeof text);
                    ok(reaches(fx, &to), "12: own address %s: connects", text);
                    n++;
                }
        if (list != NULL)
            freeifaddrs(list);
    }
}

static void qualifiers(struct fx *fx)
{
    const DAT_CONN_QUAL wide[] = {
        unique_qual(true), unique_qual(true) | 0x8000000000000000u, 0xffffffffffffffffu - unique_qual(false),
        ((DAT_CONN_QUAL)7 << 32) | unique_qual(false), ((DAT_CONN_QUAL)8 << 32) | unique_qual(false),
        70000u + unique_qual(false),
    };
    DAT_PSP_HANDLE psp[6], clash = UNTOUCHED;
    int made = 0, right = 0;

    for (int i = 0; i < 6; i++) {
        DAT_RETURN rc = dat_psp_create(fx->ia, wide[i], fx->cr, DAT_PSP_CONSUMER_FLAG, &psp[i]);

        psp[i] = rc == DAT_SUCCESS ? psp[i] : DAT_HANDLE_NULL;
        made += rc == DAT_SUCCESS;
        if (rc != DAT_SUCCESS)
            diag("qualifier 0x%llx: %s", (unsigned long long)wide[i], rc_text(rc));
    }
    is_int(made, 6, "13: 64-bit qualifiers, some with a rank in the upper half: success");
    for (int i = 0; i < 6; i++) {
        struct side s;
        DAT_EVENT e;

        if (psp[i] == DAT_HANDLE_NULL)
            continue;
        side_make(&s, fx, NULL);
        must_rc(side_connect(&s, fx_address(fx), wide[i]), DAT_SUCCESS, "dat_ep_connect");
        right += wait_number(fx->cr, DAT_CONNECTION_REQUEST_EVENT, &e) &&
                 e.event_data.cr_arrival_event_data.sp_handle.psp_handle == psp[i] &&
                 e.event_data.cr_arrival_event_data.conn_qual == wide[i];
        must_rc(dat_cr_reject(e.event_data.cr_arrival_event_data.cr_handle), DAT_SUCCESS,
                "dat_cr_reject");
        side_free(&s);
    }
    is_int(right, made, "13: 64-bit qualifiers: each request comes to its own service point");
    if (psp[0] != DAT_HANDLE_NULL) {
        is_int(dat_psp_create(fx->ia, wide[0], fx->cr, DAT_PSP_CONSUMER_FLAG, &clash),
               DAT_CONN_QUAL_IN_USE, "13: a qualifier that is taken: exactly DAT_CONN_QUAL_IN_USE");
        is_success(dat_psp_create(fx->ia, unique_qual(true) + 1000, fx->cr, DAT_PSP_CONSUMER_FLAG,
                                  &clash),
                   "13: a qualifier that is taken: the program tries the next");
        dat_psp_free(clash);
    }
    for (int i = 0; i < 6; i++)
        if (psp[i] != DAT_HANDLE_NULL)
            must_rc(dat_psp_free(psp[i]), DAT_SUCCESS, "dat_psp_free");
    right = 0;
    for (int i = 0; i < 20; i++) {
        DAT_CONN_QUAL q = 0;
        DAT_PSP_HANDLE p = fx_listen(fx, &q);

        right += q > 0 && q <= 65535;
        must_rc(dat_psp_free(p), DAT_SUCCESS, "dat_psp_free");
    }
    is_int(right, 20, "13: dat_psp_create_any: at most 65535");
}

/* The second process: uses two qualifiers of the same adapter. */
static int neighbour(struct link *up)
{
    struct fx fx;
    DAT_CONN_QUAL q[2] = { 0, unique_qual(true) };
    DAT_PSP_HANDLE psp;

    fx_open(&fx);
    fx_listen(&fx, &q[0]);
    must_rc(dat_psp_create(fx.ia, q[1], fx.cr, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS,
            "dat_psp_create");
    must(LINK_SEND(up, q), "the peer has exited");
    link_hear(up, "free");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    link_say(up, "freed");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static void neighbours(struct fx *fx)
{
    DAT_CONN_QUAL q[2], own = 0;
    DAT_PSP_HANDLE psp = UNTOUCHED, mine;
    struct fx other;
    struct peer p;

    peer_start(&p, "neighbour");
    must(LINK_RECV(&p.link, q), "no qualifiers");
    for (int i = 0; i < 2; i++)
        is_type(dat_psp_create(fx->ia, q[i], fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
                DAT_CONN_QUAL_IN_USE, "13: a qualifier that another process listens on: in use");
    fx_open(&other);
    mine = fx_listen(fx, &own);
    is_type(dat_psp_create(other.ia, own, other.cr, DAT_PSP_CONSUMER_FLAG, &psp),
            DAT_CONN_QUAL_IN_USE, "13: a qualifier of another open in this process: in use");
    must_rc(dat_psp_free(mine), DAT_SUCCESS, "dat_psp_free");
    fx_close(&other);
    link_say(&p.link, "free");
    must(link_hear(&p.link, "freed"), "the peer has exited");
    is_success(dat_psp_create(fx->ia, q[1], fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
               "13: once the other process has freed it: success");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    link_say(&p.link, "bye");
    peer_ok(&p, "13: the other process ends well");
    is_success(dat_psp_create(fx->ia, q[0], fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
               "13: once the other process is gone: success");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
}

static void private_data(struct fx *fx)
{
    struct side a, b;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
    char data[56];
    DAT_CR_HANDLE cr;
    DAT_CR_PARAM p;
    DAT_EVENT e, f;
    const char *kept;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    memset(data, 'q', sizeof data);
    must_rc(dat_ep_connect(a.ep, fx_address(fx), qual, env_us(SOON_MS), 56, data,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
    cr = next_request(fx->cr);
    must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &p), DAT_SUCCESS, "dat_cr_query");
    ok(p.private_data_size >= 56 && all_bytes(p.private_data, 56, 'q'),
       "14: 56 bytes of private data in the request");
    memset(p.private_data, 'r', 48);
    is_success(dat_cr_accept(cr, b.ep, 48, p.private_data),
               "14: the request's private data, changed in place, handed to dat_cr_accept: success");
    must(wait_number(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED, &e), "no ESTABLISHED");
    kept = e.event_data.connect_event_data.private_data;
    ok(e.event_data.connect_event_data.private_data_size >= 48 && all_bytes(kept, 48, 'r'),
       "14: the active side's ESTABLISHED has what was accepted with");
    must(wait_number(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED, &f), "no ESTABLISHED");
    is_int(f.event_data.connect_event_data.private_data_size, 0,
           "14: the passive side's ESTABLISHED has size 0");
    ok(sides_talk(&a, &b) && all_bytes(kept, 48, 'r'),
       "14: the pointer in the event is valid until the connection's next event");
    must_rc(dat_ep_disconnect(b.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_state(a.ep, DAT_EP_STATE_DISCONNECTED), "no end");
    ok(all_bytes(kept, 48, 'r'), "14: valid also while that next event is not fetched");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&a);
    side_free(&b);
}

static void self(struct fx *fx)
{
    struct pair p;

    pair_open(&p, fx, NULL);
    ok(sides_talk(&p.a, &p.b), "15: a process connects to itself, both endpoints in one thread");
    pair_close(&p);
}

/* Two sides connect to each other. One connect is rejected, and its endpoint then accepts the other request. */
static void crossing(struct fx *fx)
{
    struct fx other;
    struct side a, b;
    DAT_CONN_QUAL qa, qb;
    DAT_CR_HANDLE at_a, at_b;
    DAT_EVENT e;
    DAT_RETURN rc;

    fx_open(&other);
    fx_listen(fx, &qa);
    fx_listen(&other, &qb);
    side_make(&a, fx, NULL);
    side_make(&b, &other, NULL);
    must_rc(side_connect(&a, fx_address(&other), qb), DAT_SUCCESS, "dat_ep_connect");
    must_rc(side_connect(&b, fx_address(fx), qa), DAT_SUCCESS, "dat_ep_connect");
    at_a = next_request(fx->cr);
    at_b = next_request(other.cr);
    rc = dat_cr_accept(at_a, a.ep, 0, NULL);
    is_type(rc, DAT_INVALID_STATE, "16: accept on a connecting endpoint: DAT_INVALID_STATE");
    is_state(ep_state(a.ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
             "16: accept on a connecting endpoint: its state is unchanged");
    is_success(dat_cr_reject(at_b), "16: the peer rejects: success");
    ok(wait_event(a.conn, &e) && e.event_number != DAT_CONNECTION_EVENT_ESTABLISHED,
       "16: the peer rejects: an event that is not ESTABLISHED");
    is_success(dat_ep_reset(a.ep), "16: dat_ep_reset: success");
    is_state(ep_state(a.ep), DAT_EP_STATE_UNCONNECTED, "16: dat_ep_reset: UNCONNECTED");
    is_success(dat_cr_accept(at_a, a.ep, 0, NULL), "16: then accept: success");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
           wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
       "16: then both are ESTABLISHED");
    ok(sides_talk(&a, &b), "16: then messages both ways");
    side_free(&a);
    side_free(&b);
    fx_close(&other);
}

static void before_the_listener(struct fx *fx)
{
    struct side a, b;
    DAT_CONN_QUAL qual = unique_qual(false);
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_EVENT e;
    int answered = 0, quick = 0;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    for (int i = 0; i < 5; i++) {
        uint64_t start = now_ms();

        must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
        answered += wait_event(a.conn, &e) &&
                    (e.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED ||
                     e.event_number == DAT_CONNECTION_EVENT_PEER_REJECTED);
        quick += now_ms() - start < env_ms(SOON_MS / 4);
        must_rc(dat_ep_reset(a.ep), DAT_SUCCESS, "dat_ep_reset");
    }
    is_int(answered, 5, "17: connecting before the listener exists: refused each time");
    is_int(quick, 5, "17: connecting before the listener exists: an answer soon");
    while (rc_is(dat_psp_create(fx->ia, qual, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
                 DAT_CONN_QUAL_IN_USE))
        qual = unique_qual(false);
    must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(next_request(fx->cr), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
       "17: trying again once the listener is there: ESTABLISHED");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&a);
    side_free(&b);
}

static void both_disconnect(struct fx *fx)
{
    struct pair p;
    struct region r;
    int once = 0, silent = 0, fine = 0;

    region_make(fx, &r, 64, MEM_LOCAL);
    for (int i = 0; i < 5; i++) {
        pair_open(&p, fx, NULL);
        for (int k = 0; k < 3; k++) {
            must_rc(post_recv(&p.a, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
            must_rc(post_recv(&p.b, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
        }
        silent += quiet(p.a.recv) && quiet(p.b.recv);
        must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_DEFAULT), DAT_SUCCESS, "dat_ep_disconnect");
        must(wait_state(p.b.ep, DAT_EP_STATE_DISCONNECTED), "no end");
        fine += dat_ep_disconnect(p.b.ep, DAT_CLOSE_DEFAULT) == DAT_SUCCESS;
        once += wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED) &&
                wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED) && quiet(p.a.conn) &&
                quiet(p.b.conn);
        pair_close(&p);
    }
    is_int(fine, 5, "18: the second side disconnects a DISCONNECTED endpoint: success");
    is_int(once, 5, "18: exactly one DISCONNECTED a side");
    is_int(silent, 5, "18: no flushed completion before the program has asked for the end");
    region_free(&r);
}

static void many(struct fx *fx)
{
    enum { N = 100 };
    static struct side a[N], b[N];
    static DAT_PSP_HANDLE psp[N];
    static DAT_CONN_QUAL qual[N];
    DAT_EVD_HANDLE evd = fx_evd(fx, N, DAT_EVD_CR_FLAG);
    int n = env_count(N, 20), requests = 0, standing = 0;

    for (int i = 0; i < n; i++)
        psp[i] = fx_listen_on(fx, evd, DAT_PSP_CONSUMER_FLAG, &qual[i]);
    pass("19: %d service points", n);
    for (int i = 0; i < n; i++) {
        side_make(&a[i], fx, NULL);
        side_make(&b[i], fx, NULL);
        must_rc(side_connect(&a[i], fx_address(fx), qual[i]), DAT_SUCCESS, "dat_ep_connect");
    }
    for (int i = 0; i < n; i++) {
        DAT_EVENT e;

        if (!wait_number(evd, DAT_CONNECTION_REQUEST_EVENT, &e))
            break;
        requests++;
        for (int k = 0; k < n; k++)
            if (psp[k] == e.event_data.cr_arrival_event_data.sp_handle.psp_handle)
                must_rc(dat_cr_accept(e.event_data.cr_arrival_event_data.cr_handle, b[k].ep, 0,
                                      NULL),
                        DAT_SUCCESS, "dat_cr_accept");
    }
    is_int(requests, n, "19: a burst of %d connections at as many service points: all arrive", n);
    for (int i = 0; i < n; i++)
        standing += wait_connection(a[i].conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
                    wait_connection(b[i].conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    is_int(standing, n, "19: all %d are ESTABLISHED", n);
    for (int i = 0; i < n; i++) {
        side_free(&a[i]);
        side_free(&b[i]);
        must_rc(dat_psp_free(psp[i]), DAT_SUCCESS, "dat_psp_free");
    }
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void one_evd(struct fx *fx)
{
    static const int lengths[] = { 8, 16 };

    for (int i = 0; i < 2; i++) {
        DAT_EVD_HANDLE evd = fx_evd(fx, lengths[i], DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG);
        struct side a, b;
        DAT_EP_ATTR attr;
        DAT_CONN_QUAL qual;
        DAT_PSP_HANDLE psp = fx_listen_on(fx, evd, DAT_PSP_CONSUMER_FLAG, &qual);

        attr_default(&attr);
        side_make(&a, fx, NULL);
        side_make(&b, fx, NULL);
        must_rc(dat_ep_free(b.ep), DAT_SUCCESS, "dat_ep_free");
        must_rc(dat_ep_create(fx->ia, fx->pz, b.recv, b.req, evd, &attr, &b.ep), DAT_SUCCESS,
                "dat_ep_create");
        must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
        must_rc(dat_cr_accept(next_request(evd), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        ok(wait_connection(evd, DAT_CONNECTION_EVENT_ESTABLISHED) &&
               wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
           "20: one EVD of %d for requests and connections: both kinds come", lengths[i]);
        must_rc(dat_ep_disconnect(a.ep, DAT_CLOSE_DEFAULT), DAT_SUCCESS, "dat_ep_disconnect");
        ok(wait_connection(evd, DAT_CONNECTION_EVENT_DISCONNECTED),
           "20: one EVD of %d for requests and connections: DISCONNECTED", lengths[i]);
        side_free(&a);
        side_free(&b);
        must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
        must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    }
}

int main(int argc, char **argv)
{
    struct fx fx;

    static const struct peer_role roles[] = { { "neighbour", neighbour }, { NULL, NULL } };

    env_init(argc, argv, roles);
    fx_open(&fx);
    addresses(&fx);
    qualifiers(&fx);
    neighbours(&fx);
    private_data(&fx);
    self(&fx);
    before_the_listener(&fx);
    both_disconnect(&fx);
    many(&fx);
    one_evd(&fx);
    crossing(&fx);
    fx_close(&fx);
    return done_testing();
}
