/* refuse.c - connects that fail: rejected, no listener, backlog full, no reply. */
#include "common/fixture.h"

#include <arpa/inet.h>
#include <string.h>

static DAT_RETURN connect_for(struct side *s, DAT_CONN_QUAL qual, DAT_TIMEOUT timeout)
{
    return dat_ep_connect(s->ep, fx_address(s->fx), qual, timeout, 0, NULL, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG);
}

/* Checks the state and the flushed receives of an ended endpoint, and that no other event follows. */
static void is_over(struct side *s, DAT_UINT64 receive, const char *what)
{
    is_state(ep_state(s->ep), DAT_EP_STATE_DISCONNECTED, "%s: the endpoint is DISCONNECTED", what);
    ok(wait_dto(s->recv, receive, DAT_DTO_ERR_FLUSHED, NULL), "%s: posted receives are flushed",
       what);
    ok(quiet(s->conn), "%s: one event and no more", what);
}

/*
 * Checks the event of a failed connect, the state, flushed receives, and that no other event
 * follows.
 */
static void ended(struct side *s, DAT_EVENT_NUMBER number, DAT_UINT64 receive, const char *what)
{
    DAT_EVENT event;

    if (!ok(wait_number(s->conn, number, &event), "%s: %s", what, event_text(number)))
        return;
    is_ptr(event.event_data.connect_event_data.ep_handle, s->ep, "%s: ep_handle is true", what);
    is_int(event.event_data.connect_event_data.private_data_size, 0, "%s: no private data", what);
    is_over(s, receive, what);
}

/* Checks that the endpoint can connect after a failure and a reset. */
static void again(struct fx *fx, struct side *s, const char *what)
{
    struct side other;

    is_success(dat_ep_reset(s->ep), "dat_ep_reset: %s: success", what);
    is_state(ep_state(s->ep), DAT_EP_STATE_UNCONNECTED, "dat_ep_reset: %s: UNCONNECTED", what);
    side_make(&other, fx, NULL);
    sides_connect(s, &other);
    ok(sides_talk(s, &other), "dat_ep_connect: after %s and reset: messages both ways", what);
    side_free(&other);
}

static void rejected(struct fx *fx, struct region *r)
{
    struct side s;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
    DAT_CR_HANDLE cr;

    side_make(&s, fx, NULL);
    must_rc(post_recv(&s, r, 0, 64, 0xf1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(side_connect(&s, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    cr = next_request(fx->cr);
    is_success(dat_cr_reject(cr), "dat_cr_reject: success");
    ended(&s, DAT_CONNECTION_EVENT_PEER_REJECTED, 0xf1, "dat_cr_reject");
    is_type(dat_cr_reject(cr), DAT_INVALID_HANDLE, "dat_cr_reject: again: DAT_INVALID_HANDLE");
    again(fx, &s, "a rejected attempt");
    side_free(&s);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
}

static void nobody(struct fx *fx, struct region *r)
{
    struct side s;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);

    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_make(&s, fx, NULL);
    must_rc(post_recv(&s, r, 0, 64, 0xf2), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(side_connect(&s, fx_address(fx), qual), "dat_ep_connect: nobody listens: success");
    ended(&s, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, 0xf2, "dat_ep_connect: nobody listens");
    again(fx, &s, "an attempt that nobody listened to");
    side_free(&s);
}

/* The queue length of the EVD limits the pending requests of its service point. */
static void backlog(struct fx *fx)
{
    enum { MAX_BACKLOG = 64 };
    DAT_EVD_HANDLE evd = fx_evd(fx, 2, DAT_EVD_CR_FLAG);
    struct side s[MAX_BACKLOG + 1];
    DAT_EVD_PARAM p;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    DAT_EVENT event;
    int pending = 0, refused = 0, wrong = 0, requests = 0;

    must_rc(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p), DAT_SUCCESS, "dat_evd_query");
    if (p.evd_qlen > MAX_BACKLOG) {
        skip_named("backlog", "the provider's shortest EVD is too long for this test");
        must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
        return;
    }
    psp = fx_listen_on(fx, evd, DAT_PSP_CONSUMER_FLAG, &qual);
    for (int i = 0; i <= p.evd_qlen; i++) {
        side_make(&s[i], fx, NULL);
        must_rc(side_connect(&s[i], fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    }
    /* One connect is rejected, not necessarily the last one. */
    {
        uint64_t end = now_ms() + env_ms(SOON_MS);

        while (refused == 0 && wrong == 0 && now_ms() < end)
            for (int i = 0; i <= p.evd_qlen; i++)
                if (dat_evd_dequeue(s[i].conn, &event) == DAT_SUCCESS) {
                    if (event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED)
                        refused++;
                    else
                        wrong++;
                }
    }
    for (int i = 0; i <= p.evd_qlen; i++)
        pending += ep_state(s[i].ep) == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
    is_int(refused, 1, "backlog: one more than the EVD holds: one NON_PEER_REJECTED");
    is_int(wrong, 0, "backlog: one more than the EVD holds: no other event");
    is_int(pending, p.evd_qlen, "backlog: as many as the EVD holds: pending");
    ok(quiet(fx->async), "backlog: exceeded: no asynchronous event");
    while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) {
        requests++;
        dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle);
    }
    is_int(requests, p.evd_qlen, "backlog: as many as the EVD holds: requests");
    for (int i = 0; i <= p.evd_qlen; i++)
        side_free(&s[i]);
    {
        struct side more;

        side_make(&more, fx, NULL);
        must_rc(side_connect(&more, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
        ok(wait_number(evd, DAT_CONNECTION_REQUEST_EVENT, &event),
           "backlog: requests were fetched: there is room again");
        dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle);
        side_free(&more);
    }
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void unanswered(struct fx *fx, struct region *r)
{
    struct side s, late;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
    DAT_CR_HANDLE cr;
    uint64_t start;

    side_make(&s, fx, NULL);
    side_make(&late, fx, NULL);
    must_rc(post_recv(&s, r, 0, 64, 0xf3), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_recv(&late, r, 64, 64, 0xf4), DAT_SUCCESS, "dat_ep_post_recv");
    start = now_ms();
    is_success(connect_for(&s, qual, env_us(1000)), "dat_ep_connect: timeout of a second: success");
    cr = next_request(fx->cr);
    ended(&s, DAT_CONNECTION_EVENT_TIMED_OUT, 0xf3, "dat_ep_connect: not answered in time");
    ok(now_ms() - start + 1 >= env_ms(1000), "dat_ep_connect: not answered in time: not before the timeout");
    is_success(dat_cr_accept(cr, late.ep, 0, NULL),
               "dat_cr_accept: the active side has timed out: success");
    ok(wait_accept_failed(late.conn),
       "dat_cr_accept: the active side has timed out: DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR");
    is_over(&late, 0xf4, "dat_cr_accept: the active side has timed out");
    again(fx, &s, "a timeout");
    must_rc(dat_ep_reset(late.ep), DAT_SUCCESS, "dat_ep_reset");

    must_rc(dat_ep_reset(late.ep), DAT_SUCCESS, "dat_ep_reset");
    {
        struct side other;

        side_make(&other, fx, NULL);
        is_success(connect_for(&other, qual, DAT_TIMEOUT_INFINITE),
                   "dat_ep_connect: infinite timeout: success");
        cr = next_request(fx->cr);
        ok(quiet(other.conn), "dat_ep_connect: infinite timeout: nothing happens by itself");
        must_rc(dat_cr_accept(cr, late.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        ok(wait_connection(other.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
               wait_connection(late.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
           "dat_ep_connect: infinite timeout, answered: ESTABLISHED");
        side_free(&other);
    }
    {
        struct pair p;

        side_make(&p.a, fx, NULL);
        side_make(&p.b, fx, NULL);
        is_success(connect_for(&p.a, qual, env_us(3000)), "dat_ep_connect: three seconds: success");
        must_rc(dat_cr_accept(next_request(fx->cr), p.b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        if (ok(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
               "dat_ep_connect: three seconds, answered in time: ESTABLISHED")) {
            DAT_EVENT event;

            ok(!wait_event_ms(p.a.conn, 3100, &event),
               "dat_ep_connect: after the timeout of a standing connection: no event");
        }
        side_free(&p.a);
        side_free(&p.b);
    }
    side_free(&s);
    side_free(&late);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
}

static void abandoned(struct fx *fx, struct region *r)
{
    for (int graceful = 0; graceful < 2; graceful++) {
        const char *flag = graceful ? "graceful" : "abrupt";
        struct side s;
        DAT_CONN_QUAL qual;
        DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
        DAT_CR_HANDLE cr;
        DAT_EVENT event;

        side_make(&s, fx, NULL);
        must_rc(post_recv(&s, r, 0, 64, 0xf5), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(side_connect(&s, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
        cr = next_request(fx->cr);
        is_success(dat_ep_disconnect(s.ep,
                                     graceful ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG),
                   "dat_ep_disconnect: %s, while connecting: success", flag);
        ok(wait_event(s.conn, &event) && event.event_number > DAT_CONNECTION_EVENT_ESTABLISHED &&
               event.event_number <= DAT_CONNECTION_EVENT_UNREACHABLE,
           "dat_ep_disconnect: %s, while connecting: one event that ends the attempt", flag);
        ok(wait_state(s.ep, DAT_EP_STATE_DISCONNECTED),
           "dat_ep_disconnect: %s, while connecting: DISCONNECTED", flag);
        ok(wait_dto(s.recv, 0xf5, DAT_DTO_ERR_FLUSHED, NULL),
           "dat_ep_disconnect: %s, while connecting: receives are flushed", flag);
        ok(quiet(s.conn), "dat_ep_disconnect: %s, while connecting: one event and no more", flag);
        is_success(dat_cr_reject(cr), "dat_cr_reject: %s, nobody waits for it: success", flag);
        side_free(&s);
        must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    }
}

static void addresses(struct fx *fx)
{
    struct sockaddr_in to;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
    static const struct {
        const char *text;
        const char *what;
    } cases[] = {
        { "192.0.2.1", "address of a documentation network" },
        { "255.255.255.255", "broadcast address" },
        { "224.0.0.1", "multicast address" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct side s;
        DAT_EVENT event;
        DAT_RETURN rc;

        side_make(&s, fx, NULL);
        memset(&to, 0, sizeof to);
        to.sin_family = AF_INET;
        inet_pton(AF_INET, cases[i].text, &to.sin_addr);
        rc = dat_ep_connect(s.ep, (DAT_IA_ADDRESS_PTR)&to, qual, env_us(1000), 0, NULL,
                            DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
        if (rc != DAT_SUCCESS)
            is_type(rc, DAT_INVALID_ADDRESS, "dat_ep_connect: %s: DAT_INVALID_ADDRESS",
                    cases[i].what);
        else
            ok(wait_event(s.conn, &event) &&
                   (event.event_number == DAT_CONNECTION_EVENT_UNREACHABLE ||
                    event.event_number == DAT_CONNECTION_EVENT_TIMED_OUT ||
                    event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
               "dat_ep_connect: %s: UNREACHABLE, TIMED_OUT or NON_PEER_REJECTED", cases[i].what);
        side_free(&s);
    }
    {
        struct side s;
        DAT_RETURN rc;

        side_make(&s, fx, NULL);
        memset(&to, 0, sizeof to);
        to.sin_family = AF_UNIX;
        rc = dat_ep_connect(s.ep, (DAT_IA_ADDRESS_PTR)&to, qual, env_us(1000), 0, NULL,
                            DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
        if (rc != DAT_SUCCESS)
            is_either(rc, DAT_INVALID_ADDRESS, DAT_INVALID_PARAMETER,
                      "dat_ep_connect: address of another family: refused");
        else
            ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_UNREACHABLE),
               "dat_ep_connect: address of another family: UNREACHABLE");
        side_free(&s);
    }
    ok(quiet(fx->cr), "dat_ep_connect: wrong addresses: no request arrives here");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
}

/*
 * Connects to an address that the adapter does not support. If dat_ep_connect rejects the address, the
 * receives stay posted. If the attempt fails later, the receives are flushed.
 */
static void unsupported(struct fx *fx, struct region *r, const void *to, const char *what)
{
    enum { N = 3 };
    struct side s, other;
    DAT_BOOLEAN idle = DAT_TRUE;
    DAT_RETURN rc;
    int good = 0;

    side_make(&s, fx, NULL);
    for (DAT_UINT64 i = 0; i < N; i++)
        must_rc(post_recv(&s, r, i * 64, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
    rc = dat_ep_connect(s.ep, (DAT_IA_ADDRESS_PTR)to, unique_qual(false), env_us(1000), 0, NULL,
                        DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
    if (rc == DAT_SUCCESS) {
        ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_UNREACHABLE),
           "dat_ep_connect: %s: UNREACHABLE", what);
        for (DAT_UINT64 i = 0; i < N; i++)
            good += wait_dto(s.recv, i, DAT_DTO_ERR_FLUSHED, NULL);
        is_int(good, N, "dat_ep_connect: %s, UNREACHABLE: the receives are flushed", what);
        side_free(&s);
        return;
    }
    is_type(rc, DAT_INVALID_ADDRESS, "dat_ep_connect: %s: DAT_INVALID_ADDRESS", what);
    is_state(ep_state(s.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_ep_connect: %s, DAT_INVALID_ADDRESS: UNCONNECTED", what);
    dat_ep_get_status(s.ep, NULL, &idle, NULL);
    is_int(idle, DAT_FALSE, "dat_ep_connect: %s, DAT_INVALID_ADDRESS: receives stay posted", what);
    ok(quiet(s.recv) && quiet(s.conn), "dat_ep_connect: %s, DAT_INVALID_ADDRESS: no event", what);
    side_make(&other, fx, NULL);
    sides_connect(&s, &other);
    for (DAT_UINT64 i = 0; i < N; i++) {
        pattern_fill(r->mem + 1024, 64, (unsigned)i + 1);
        must_rc(post_send(&other, r, 1024, 64, i), DAT_SUCCESS, "dat_ep_post_send");
        good += wait_dto(other.req, i, DAT_DTO_SUCCESS, NULL) &&
                wait_dto(s.recv, i, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(r->mem + i * 64, 64, (unsigned)i + 1) < 0;
    }
    is_int(good, N, "dat_ep_connect: %s, then a good one: the receives take messages", what);
    side_free(&s);
    side_free(&other);
}

static void unsupported_addresses(struct fx *fx, struct region *r)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;

    memset(&four, 0, sizeof four);
    four.sin_family = AF_INET;
    inet_pton(AF_INET, "224.0.0.1", &four.sin_addr);
    unsupported(fx, r, &four, "multicast address");
    inet_pton(AF_INET, "192.0.2.1", &four.sin_addr);
    memset(&six, 0, sizeof six);
    six.sin6_family = AF_INET6;
    inet_pton(AF_INET6, "2001:db8::1", &six.sin6_addr);
    if (fx->address.ss_family == AF_INET)
        unsupported(fx, r, &six, "IPv6 address, IPv4 adapter");
    else
        unsupported(fx, r, &four, "IPv4 address, IPv6 adapter");
    memset(&six, 0, sizeof six);
    six.sin6_family = AF_UNIX;
    unsupported(fx, r, &six, "address that is not of IP");
}

/* The other process: rejects one request, then frees its service point. */
static int server(struct link *up)
{
    struct fx fx;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;

    fx_open(&fx);
    psp = fx_listen(&fx, &qual);
    must(LINK_SEND(up, qual), "the peer has exited");
    must_rc(dat_cr_reject(next_request(fx.cr)), DAT_SUCCESS, "dat_cr_reject");
    must(link_hear(up, "seen"), "the peer has exited");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    link_say(up, "gone");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static void between_processes(struct fx *fx)
{
    struct peer p;
    struct side s;
    DAT_CONN_QUAL qual = 0;

    peer_start(&p, "server");
    must(LINK_RECV(&p.link, qual), "no qualifier");
    side_make(&s, fx, NULL);
    must_rc(side_connect(&s, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_PEER_REJECTED),
       "two processes: dat_cr_reject: PEER_REJECTED");
    link_say(&p.link, "seen");
    must(link_hear(&p.link, "gone"), "the peer has exited");
    must_rc(dat_ep_reset(s.ep), DAT_SUCCESS, "dat_ep_reset");
    must_rc(side_connect(&s, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "two processes: dat_psp_free before the attempt: NON_PEER_REJECTED");
    link_say(&p.link, "bye");
    peer_ok(&p, "two processes: the other one ends well");
    must_rc(dat_ep_reset(s.ep), DAT_SUCCESS, "dat_ep_reset");
    must_rc(side_connect(&s, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "two processes: the listening one is gone: NON_PEER_REJECTED");
    side_free(&s);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "server", server }, { NULL, NULL } };
    struct fx fx;
    struct region r;

    env_init(argc, argv, roles);
    fx_open(&fx);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    rejected(&fx, &r);
    nobody(&fx, &r);
    backlog(&fx);
    unanswered(&fx, &r);
    abandoned(&fx, &r);
    addresses(&fx);
    unsupported_addresses(&fx, &r);
    between_processes(&fx);
    region_free(&r);
    fx_close(&fx);
    return done_testing();
}
