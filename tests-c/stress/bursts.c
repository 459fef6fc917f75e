/*
 * bursts.c - a thousand connections: in bursts of a hundred to one service point, and one after the other to a hundred
 * service points.
 */
#include "common/fixture.h"

#include <stdlib.h>
#include <string.h>

#define BURST 100

/* Endpoints that share their EVDs, since 1000 endpoints would need 3000 EVDs. */
struct crowd {
    struct fx fx;
    DAT_EVD_HANDLE recv, req, conn;
    DAT_EP_HANDLE *ep;
    int n;
    struct region r;
};

static void crowd_open(struct crowd *c, int n)
{
    memset(c, 0, sizeof *c);
    fx_open(&c->fx);
    c->n = n;
    c->ep = calloc((size_t)n, sizeof *c->ep);
    must(c->ep != NULL, "out of memory");
    c->recv = fx_evd(&c->fx, 4 * n, DAT_EVD_DTO_FLAG);
    c->req = fx_evd(&c->fx, 4 * n, DAT_EVD_DTO_FLAG);
    c->conn = fx_evd(&c->fx, 4 * n, DAT_EVD_CONNECTION_FLAG);
    region_make(&c->fx, &c->r, 4096, MEM_LOCAL);
}

static DAT_EP_HANDLE crowd_add(struct crowd *c, int i)
{
    DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_recv_dtos = attr.max_request_dtos = 4;
    must_rc(dat_ep_create(c->fx.ia, c->fx.pz, c->recv, c->req, c->conn, &attr, &c->ep[i]),
            DAT_SUCCESS, "dat_ep_create, number %d", i);
    return c->ep[i];
}

static void crowd_close(struct crowd *c)
{
    fx_close(&c->fx);
    free(c->ep);
}

static int collect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, int n)
{
    int got = 0;

    while (got < n && wait_connection(evd, number))
        got++;
    return got;
}

struct call_order {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
    int total;
};

/* Connects in bursts and sends one message on each connection. */
static int caller(struct link *up)
{
    struct call_order o;
    struct crowd c;
    int up_now = 0, sent = 0;

    must(LINK_RECV(up, o), "no orders");
    crowd_open(&c, o.total);
    for (int first = 0; first < o.total; first += BURST) {
        int n = o.total - first < BURST ? o.total - first : BURST;

        for (int i = first; i < first + n; i++)
            must_rc(dat_ep_connect(crowd_add(&c, i), (DAT_IA_ADDRESS_PTR)&o.address, o.qual,
                                   env_us(4 * SOON_MS), 0, NULL, DAT_QOS_BEST_EFFORT,
                                   DAT_CONNECT_DEFAULT_FLAG),
                    DAT_SUCCESS, "dat_ep_connect, number %d", i);
        up_now += collect(c.conn, DAT_CONNECTION_EVENT_ESTABLISHED, n);
        must(up_now == first + n, "%d of %d connections stand", up_now, first + n);
    }
    must(LINK_SEND(up, up_now), "the peer is gone");
    must(link_hear(up, "talk"), "the peer is gone");
    pattern_fill(c.r.mem, 64, 9);
    for (int i = 0; i < o.total; i++) {
        DAT_LMR_TRIPLET t = segment(&c.r, 0, 64);

        must_rc(dat_ep_post_send(c.ep[i], 1, &t, cookie((DAT_UINT64)i), DAT_COMPLETION_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_post_send");
    }
    sent = drain_dtos(c.req, o.total);
    must(LINK_SEND(up, sent), "the peer is gone");
    must(link_hear(up, "end"), "the peer is gone");
    for (int i = 0; i < o.total; i += 2) /* fx_close() ends the others */
        dat_ep_disconnect(c.ep[i], DAT_CLOSE_ABRUPT_FLAG);
    crowd_close(&c);
    return 0;
}

static void one_service_point(void)
{
    int total = env_count(1000, 100), accepted = 0, up_now, stand, sent = 0, received = 0, ended = 0;
    struct call_order o;
    struct crowd c;
    struct peer p;
    DAT_EVD_HANDLE evd;
    DAT_PSP_HANDLE psp;

    crowd_open(&c, total);
    evd = fx_evd(&c.fx, BURST, DAT_EVD_CR_FLAG);
    memset(&o, 0, sizeof o);
    psp = fx_listen_on(&c.fx, evd, DAT_PSP_CONSUMER_FLAG, &o.qual);
    o.address = c.fx.address;
    o.total = total;
    peer_start(&p, "caller");
    must(LINK_SEND(&p.link, o), "the peer is gone");
    for (int i = 0; i < total; i++) {
        DAT_EVENT e;
        DAT_LMR_TRIPLET t = segment(&c.r, 64, 64);

        if (!wait_number(evd, DAT_CONNECTION_REQUEST_EVENT, &e))
            break;
        crowd_add(&c, i);
        must_rc(dat_ep_post_recv(c.ep[i], 1, &t, cookie((DAT_UINT64)i), DAT_COMPLETION_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(dat_cr_accept(e.event_data.cr_arrival_event_data.cr_handle, c.ep[i], 0, NULL),
                DAT_SUCCESS, "dat_cr_accept");
        accepted++;
    }
    is_int(accepted, total, "%d requests in bursts of %d at one service point: all arrive", total,
           BURST);
    stand = collect(c.conn, DAT_CONNECTION_EVENT_ESTABLISHED, total);
    is_int(stand, total, "%d connections: ESTABLISHED at the passive side", total);
    must(link_recv(&p.link, &up_now, sizeof up_now, 4 * SOON_MS), "the caller does not answer");
    is_int(up_now, total, "%d connections: ESTABLISHED at the active side", total);
    link_say(&p.link, "talk");
    received = drain_dtos(c.recv, total);
    is_int(received, total, "%d connections: a message on each arrives", total);
    must(link_recv(&p.link, &sent, sizeof sent, 4 * SOON_MS), "the caller does not answer");
    is_int(sent, total, "%d connections: a message on each is sent", total);
    ok(pattern_check(c.r.mem + 64, 64, 9) < 0, "%d connections: the bytes are right", total);
    link_say(&p.link, "end");
    while (ended < total) {
        DAT_EVENT e;

        if (!wait_event(c.conn, &e) || (e.event_number != DAT_CONNECTION_EVENT_DISCONNECTED &&
                                        e.event_number != DAT_CONNECTION_EVENT_BROKEN))
            break;
        ended++;
    }
    is_int(ended, total, "%d connections: the end of each is seen", total);
    peer_ok(&p, "%d connections: the caller ends well", total);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    for (int i = 0; i < accepted; i++)
        must_rc(dat_ep_free(c.ep[i]), DAT_SUCCESS, "dat_ep_free");
    ok(quiet(c.fx.async), "%d connections: no asynchronous event", total);
    is_success(dat_evd_free(c.conn), "%d connections: their EVD can be freed", total);
    crowd_close(&c);
}

/* Opens and closes connections to a hundred service points of the same process. */
static void come_and_go(void)
{
    enum { POINTS = 100 };
    static DAT_PSP_HANDLE psp[POINTS];
    static DAT_CONN_QUAL qual[POINTS];
    int points = env_count(POINTS, 20), rounds = env_count(10, 2), stood = 0;
    struct fx fx;
    DAT_EVD_HANDLE evd;

    fx_open(&fx);
    evd = fx_evd(&fx, POINTS, DAT_EVD_CR_FLAG);
    for (int i = 0; i < points; i++)
        psp[i] = fx_listen_on(&fx, evd, DAT_PSP_CONSUMER_FLAG, &qual[i]);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < points; i++) {
            struct side a, b;
            DAT_EVENT e;

            side_make(&a, &fx, NULL);
            side_make(&b, &fx, NULL);
            must_rc(side_connect(&a, fx_address(&fx), qual[i]), DAT_SUCCESS, "dat_ep_connect");
            if (!wait_number(evd, DAT_CONNECTION_REQUEST_EVENT, &e) ||
                e.event_data.cr_arrival_event_data.sp_handle.psp_handle != psp[i])
                break;
            must_rc(dat_cr_accept(e.event_data.cr_arrival_event_data.cr_handle, b.ep, 0, NULL),
                    DAT_SUCCESS, "dat_cr_accept");
            stood += wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
                     wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
            side_free(&a);
            side_free(&b);
        }
    is_int(stood, rounds * points, "%d connections, one after the other, at %d service points",
           rounds * points, points);
    for (int i = 0; i < points; i++)
        must_rc(dat_psp_free(psp[i]), DAT_SUCCESS, "dat_psp_free");
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "caller", caller }, { NULL, NULL } };

    env_init(argc, argv, roles);
    come_and_go();
    one_service_point();
    return done_testing();
}
