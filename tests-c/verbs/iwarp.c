/*
 * iwarp.c - iWARP devices, on which a message without a receive ends the connection: every posted
 * receive can take a message. The connecting side has to send first.
 */
#define _GNU_SOURCE
#include "adapters.h"
#include "srq/srq_common.h"

#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 64, LONG = 64 << 10, ROUNDS = 20 };

static struct fx fx;

/* Sends n messages to posted receives. Returns whether all sends and receives complete and the connection remains. */
static bool takes(struct side *tx, struct side *rx, DAT_COUNT n)
{
    struct region out;
    bool good = true;

    region_make(&fx, &out, SIZE, MEM_LOCAL);
    for (DAT_COUNT i = 0; good && i < n; i++)
        good = post_send(tx, &out, 0, SIZE, 1) == DAT_SUCCESS && wait_dto(tx->req, 1, DAT_DTO_SUCCESS, NULL);
    good = good && drain_dtos(rx->recv, n) == n && ep_state(rx->ep) == DAT_EP_STATE_CONNECTED;
    region_free(&out);
    return good;
}

/* Connects endpoints on a shared receive queue of 10. */
static void open_queue(struct srq *q, struct pair *p, DAT_COUNT buffers)
{
    srq_open(q, &fx, 10, buffers, SIZE);
    side_make(&p->a, &fx, NULL);
    side_make_srq(&p->b, &fx, q->handle, NULL);
    sides_connect(&p->a, &p->b);
}

static void resized(void)
{
    struct srq q;
    struct pair p;

    open_queue(&q, &p, 40);
    is_success(dat_srq_resize(q.handle, 40), "dat_srq_resize: from 10 to 40: success");
    srq_fill(&q, 0, 40);
    ok(takes(&p.a, &p.b, 20), "dat_srq_resize: from 10 to 40: 20 messages arrive");
    ok(takes(&p.a, &p.b, 20), "dat_srq_resize: from 10 to 40: 20 more");
    pair_close(&p);
    srq_close(&q);
}

/* Resizes the queue stepwise until the device has no room. */
static void beyond(void)
{
    DAT_SRQ_PARAM before;
    DAT_RETURN rc = DAT_SUCCESS;
    DAT_IA_ATTR ia;
    struct srq q;
    struct pair p;
    DAT_COUNT size;

    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS, "dat_ia_query");
    open_queue(&q, &p, 40);
    srq_fill(&q, 0, 5);
    for (size = 40; rc == DAT_SUCCESS && size <= ia.max_recv_per_srq / 2; size *= 2) {
        before = srq_param(q.handle);
        rc = dat_srq_resize(q.handle, size);
    }
    if (rc == DAT_SUCCESS) {
        skip_named("dat_srq_resize: beyond the room of the device", "the device resizes queues");
    } else {
        is_type(rc, DAT_INSUFFICIENT_RESOURCES, "dat_srq_resize: beyond the room of the device: DAT_INSUFFICIENT_RESOURCES");
        is_unchanged(q.handle, &before, "dat_srq_resize: beyond the room of the device: nothing changes");
    }
    srq_fill(&q, 5, 35);
    ok(takes(&p.a, &p.b, 40), "dat_srq_resize: beyond the room of the device: every buffer takes a message");
    pair_close(&p);
    srq_close(&q);
}

/* Connects an endpoint without attributes. */
static void without_attributes(void)
{
    struct region in;
    struct pair p;
    DAT_EP_PARAM param;
    DAT_COUNT n;

    side_make(&p.a, &fx, NULL);
    side_make(&p.b, &fx, NULL);
    must_rc(dat_ep_free(p.b.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_create(fx.ia, fx.pz, p.b.recv, p.b.req, p.b.conn, NULL, &p.b.ep), DAT_SUCCESS, "dat_ep_create");
    must_rc(dat_ep_query(p.b.ep, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS, "dat_ep_query");
    n = param.ep_attr.max_recv_dtos;
    must_rc(dat_evd_resize(p.b.recv, n), DAT_SUCCESS, "dat_evd_resize");
    region_make(&fx, &in, SIZE, MEM_LOCAL);
    for (DAT_COUNT i = 0; i < n; i++)
        must_rc(post_recv(&p.b, &in, 0, SIZE, 2), DAT_SUCCESS, "dat_ep_post_recv");
    sides_connect(&p.a, &p.b);
    ok(takes(&p.a, &p.b, n), "no attributes: each of %d receives takes a message", (int)n);
    pair_close(&p);
    region_free(&in);
}

/* Connects. The side that is to send first does so as soon as it is connected. Returns false if the attempt fails. */
static bool first_message(bool by_acceptor)
{
    struct side a, b;
    struct side *tx = by_acceptor ? &b : &a, *rx = by_acceptor ? &a : &b;
    struct region out, in;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);
    DAT_EVENT e;
    bool up;

    region_make(&fx, &out, SIZE, MEM_LOCAL);
    region_make(&fx, &in, SIZE, MEM_LOCAL);
    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    must_rc(post_recv(rx, &in, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(side_connect(&a, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(next_request(fx.cr), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    must(wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "accepting side: no ESTABLISHED");
    if (by_acceptor)
        must_rc(post_send(&b, &out, 0, SIZE, 2), DAT_SUCCESS, "dat_ep_post_send");
    must(wait_event(a.conn, &e), "connecting side: no event");
    up = e.event_number == DAT_CONNECTION_EVENT_ESTABLISHED;
    if (up) {
        if (!by_acceptor)
            must_rc(post_send(&a, &out, 0, SIZE, 2), DAT_SUCCESS, "dat_ep_post_send");
        must(wait_dto(rx->recv, 1, DAT_DTO_SUCCESS, NULL), "the message does not arrive");
        must(wait_dto(tx->req, 2, DAT_DTO_SUCCESS, NULL), "the send fails");
    } else {
        must(e.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED, "connecting side: %s",
             event_text(e.event_number));
        must(wait_dto(rx->recv, 1, DAT_DTO_ERR_FLUSHED, NULL), "connecting side: the receive is not flushed");
        must(broken_or_disconnected(b.conn), "accepting side: no end");
    }
    side_free(&a);
    side_free(&b);
    region_free(&in);
    region_free(&out);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    return up;
}

static void who_sends_first(void)
{
    int up = 0;

    for (int i = 0; i < ROUNDS; i++)
        up += first_message(false);
    is_int(up, ROUNDS, "the connecting side sends first: each message arrives");
    up = 0;
    for (int i = 0; i < ROUNDS; i++)
        up += first_message(true);
    pass("the accepting side sends first: the message arrives, or NON_PEER_REJECTED and the end of the other side");
    diag("  %d of %d connections are established", up, ROUNDS);
}

/*
 * Connects to a peer that accepts with `more` bytes of a message in the same TCP segment. Returns the event of the
 * connecting side. The reply of the protocol MPA is the request with another key.
 */
static DAT_EVENT_NUMBER answered_with(size_t more)
{
    static const char key[] = "MPA ID Rep Frame";
    unsigned char frame[1024];
    struct sockaddr_storage address = fx.address;
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
    struct pollfd ready = { .fd = listener, .events = POLLIN };
    struct side s;
    DAT_EVENT e;
    ssize_t n;

    ((struct sockaddr_in *)&address)->sin_port = 0;
    must(bind(listener, (struct sockaddr *)&address, sizeof(struct sockaddr_in)) == 0 && listen(listener, 1) == 0 &&
             getsockname(listener, (struct sockaddr *)&address, &length) == 0,
         "no TCP port");
    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), ntohs(((struct sockaddr_in *)&address)->sin_port)), DAT_SUCCESS,
            "dat_ep_connect");
    must(poll(&ready, 1, (int)env_ms(SOON_MS)) == 1, "no TCP connection");
    fd = accept(listener, NULL, NULL);
    ready.fd = fd;
    must(fd >= 0 && poll(&ready, 1, (int)env_ms(SOON_MS)) == 1, "no request");
    n = recv(fd, frame, sizeof frame - more, 0);
    must(n >= 20 && n == 20 + ((frame[18] << 8) | frame[19]), "a request of %zd bytes", n);
    memcpy(frame, key, 16);
    memset(frame + n, 0, more);
    must(send(fd, frame, (size_t)n + more, 0) == n + (ssize_t)more, "the reply cannot be sent");
    must(wait_event(s.conn, &e), "no event of the attempt");
    close(fd);
    close(listener);
    if (e.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
        must(broken_or_disconnected(s.conn), "no end");
    side_free(&s);
    return e.event_number;
}

static void with_the_reply(void)
{
    is_event(answered_with(0), DAT_CONNECTION_EVENT_ESTABLISHED,
             "dat_ep_connect: a reply without a message: ESTABLISHED");
    is_event(answered_with(SIZE), DAT_CONNECTION_EVENT_NON_PEER_REJECTED,
             "dat_ep_connect: a message in the segment of the reply: NON_PEER_REJECTED");
}

static bool has_arrived(void *last)
{
    return *(volatile unsigned char *)last == 1;
}

/*
 * Posts a long read and a send, which soft-iWARP completes first. Polls immediately, or once the device has completed
 * both. Returns whether the events come in posting order, and the read's event after its data.
 */
static bool send_after_read(struct pair *p, struct region *out, struct region *in, bool both)
{
    bool good;

    memset(in->mem, 0, LONG);
    must_rc(post_recv(&p->b, out, LONG, SIZE, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_read(&p->a, in, 0, LONG, target(out, 0, LONG), 2), DAT_SUCCESS, "dat_ep_post_rdma_read");
    must_rc(post_send(&p->a, out, 0, SIZE, 3), DAT_SUCCESS, "dat_ep_post_send");
    if (both)
        must(wait_until(has_arrived, in->mem + LONG - 1, SOON_MS), "the read does not end");
    good = wait_dto(p->a.req, 2, DAT_DTO_SUCCESS, NULL) && memcmp(in->mem, out->mem, LONG) == 0;
    return wait_dto(p->a.req, 3, DAT_DTO_SUCCESS, NULL) && wait_dto(p->b.recv, 1, DAT_DTO_SUCCESS, NULL) && good;
}

static void sends_after_reads(void)
{
    struct region out, in;
    struct pair p;
    int good[2] = { 0, 0 };

    region_make(&fx, &out, LONG + SIZE, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &in, LONG, DAT_MEM_PRIV_ALL_FLAG);
    memset(out.mem, 1, LONG);
    pair_open(&p, &fx, NULL);
    for (int i = 0; i < ROUNDS; i++)
        for (int both = 0; both < 2; both++)
            good[both] += send_after_read(&p, &out, &in, both);
    is_int(good[0], ROUNDS, "dat_ep_post_rdma_read: before a send: its event follows its data");
    is_int(good[1], ROUNDS, "dat_ep_post_rdma_read: before a send: each gives an event");
    pair_close(&p);
    region_free(&out);
    region_free(&in);
}

/*
 * An iWARP device shares its ports with sockets. Sockets occupy every second port that the kernel can select.
 */
static void any_port(void)
{
    enum { POINTS = 12, MOST = 1 << 15 };
    static int fds[MOST];
    struct sockaddr_storage address = fx.address;
    struct rlimit before, raised;
    DAT_PSP_HANDLE psp[POINTS];
    DAT_CONN_QUAL qual;
    int first, last, n = 0, bound = 0, points = 0, good = 0;
    FILE *range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");

    must(range != NULL && fscanf(range, "%d %d", &first, &last) == 2, "no range of ports");
    fclose(range);
    must(getrlimit(RLIMIT_NOFILE, &before) == 0, "no limit on descriptors");
    raised = before;
    raised.rlim_cur = MOST;
    if (before.rlim_max < MOST)
        raised.rlim_max = MOST;
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0) {
        skip_named("dat_psp_create_any: sockets have every second port", "needs root, for many descriptors");
        return;
    }
    for (int port = first; port <= last; port += 2) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        must(fd >= 0, "no socket");
        ((struct sockaddr_in *)&address)->sin_port = htons((unsigned short)port);
        /* Some ports may be in use already. */
        bound += bind(fd, (struct sockaddr *)&address, sizeof(struct sockaddr_in)) == 0;
        fds[n++] = fd;
    }
    must(bound > n / 2, "%d of %d ports can be bound", bound, n);
    while (points < POINTS &&
           dat_psp_create_any(fx.ia, &qual, fx.cr, DAT_PSP_CONSUMER_FLAG, &psp[points]) == DAT_SUCCESS)
        points++;
    is_int(points, POINTS, "dat_psp_create_any: sockets have every second port: success");
    for (int i = 0; i < points; i++)
        good += dat_psp_free(psp[i]) == DAT_SUCCESS;
    is_int(good, points, "dat_psp_free: each is freed");
    while (n > 0)
        close(fds[--n]);
    raised.rlim_cur = before.rlim_cur;
    must(setrlimit(RLIMIT_NOFILE, &raised) == 0, "the limit on descriptors");
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    if (!env_is_iwarp())
        skip_all("the device is not an iWARP device");
    fx_open(&fx);
    resized();
    beyond();
    without_attributes();
    who_sends_first();
    with_the_reply();
    sends_after_reads();
    any_port();
    fx_close(&fx);
    return done_testing();
}
