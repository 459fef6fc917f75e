/*
 * books.c - the buffers of an SRQ after the end of an endpoint. Buffers that no message has taken stay on the
 * queue. Each taken buffer completes, and its queue entry is free when the completion is dequeued or dropped.
 */
#define _POSIX_C_SOURCE 200809L
#include "interrupted.h"
#include "srq_common.h"

#include <string.h>

static struct fx fx;

/* A queue of ten entries with eight posted buffers. Three have completed and are not dequeued. */
struct scene {
    struct srq q;
    struct side rx;
    struct sender s;
    DAT_COUNT max;
};

static void scene_open(struct scene *c)
{
    srq_open(&c->q, &fx, 10, 64, 256);
    c->max = srq_param(c->q.handle).max_recv_dtos;
    side_make_srq(&c->rx, &fx, c->q.handle, NULL);
    sender_start(&c->s, &c->rx, 1);
    srq_fill(&c->q, 0, 8);
    sender_send(&c->s, 0, 3, 100, 0);
    is_counts(c->q.handle, 5, 8, "eight posted, three arrived: 5, 8");
}

/* Checks that five buffers remain on the queue and that all other entries are free. */
static void balanced(struct scene *c, const char *after)
{
    DAT_COUNT free_entries = c->max - 5, i;

    is_counts(c->q.handle, 5, 5, "%s: the queue holds the five that were not taken: 5, 5", after);
    for (i = 0; i < free_entries && i < c->q.buffers - 10; i++)
        if (srq_post(&c->q, 10 + i) != DAT_SUCCESS)
            break;
    is_int(i, free_entries, "%s: every other entry is free again", after);
    is_type(srq_post(&c->q, 9), DAT_INSUFFICIENT_RESOURCES, "%s: and no more than those", after);
}

static void scene_close(struct scene *c)
{
    if (c->s.peer.pid != 0)
        sender_end(&c->s);
    side_free(&c->rx);
    srq_close(&c->q);
}

/* Dequeues and checks the three completions. */
static void three_are_there(struct scene *c, const char *after)
{
    is_counts(c->q.handle, 5, 8, "%s: nothing is dequeued yet: 5, 8", after);
    for (unsigned i = 0; i < 3; i++)
        ok(srq_take(&c->q, c->rx.recv, c->rx.ep, 100, 0, i) >= 0,
           "%s: completion %u is kept, successful, in order", after, i);
    ok(no_event(c->rx.recv), "%s: buffers that were never taken give no completion", after);
}

static void disconnected_by_us(DAT_CLOSE_FLAGS how, const char *name)
{
    struct scene c;

    scene_open(&c);
    is_success(dat_ep_disconnect(c.rx.ep, how), "%s: success", name);
    ok(wait_connection(c.rx.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "%s: DISCONNECTED", name);
    three_are_there(&c, name);
    balanced(&c, name);
    scene_close(&c);
}

static void disconnected_by_peer(void)
{
    struct scene c;

    scene_open(&c);
    sender_disconnect(&c.s, 0, DAT_CLOSE_ABRUPT_FLAG);
    ok(wait_connection(c.rx.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
       "the peer disconnects: DISCONNECTED");
    three_are_there(&c, "the peer disconnects");
    balanced(&c, "the peer disconnects");
    scene_close(&c);
}

/* The other process closes its adapter abruptly. */
static void closed_by_peer(void)
{
    struct scene c;

    scene_open(&c);
    sender_end(&c.s);
    ok(wait_connection(c.rx.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
       "the peer closes its adapter abruptly: DISCONNECTED");
    three_are_there(&c, "the peer closes its adapter abruptly");
    balanced(&c, "the peer closes its adapter abruptly");
    scene_close(&c);
}

/*
 * Tests dat_ep_free. The provider may drop or deliver the three completions. In both cases the queue entries
 * of their buffers are free when the EVD is empty.
 */
static void freed(void)
{
    struct scene c;
    DAT_SRQ_PARAM p;
    int left;

    scene_open(&c);
    is_success(dat_ep_free(c.rx.ep), "dat_ep_free: connected, completions not dequeued: success");
    c.rx.ep = DAT_HANDLE_NULL;
    p = srq_param(c.q.handle);
    ok(p.available_dto_count == 5 && p.outstanding_dto_count >= 5 && p.outstanding_dto_count <= 8,
       "dat_ep_free: dat_srq_query: 5 available, between 5 and 8 outstanding");
    left = srq_drain(c.rx.recv);
    ok(left == p.outstanding_dto_count - 5, "dat_ep_free: what counts as outstanding is on the EVD");
    balanced(&c, "dat_ep_free");
    scene_close(&c);
}

static void reset(void)
{
    struct scene c;
    DAT_SRQ_PARAM p;
    int left;

    scene_open(&c);
    must_rc(dat_ep_disconnect(c.rx.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(c.rx.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    is_success(dat_ep_reset(c.rx.ep), "dat_ep_reset: completions not dequeued: success");
    p = srq_param(c.q.handle);
    ok(p.available_dto_count == 5 && p.outstanding_dto_count >= 5 && p.outstanding_dto_count <= 8,
       "dat_ep_reset: dat_srq_query: 5 available, between 5 and 8 outstanding");
    left = srq_drain(c.rx.recv);
    ok(left == p.outstanding_dto_count - 5,
       "dat_ep_reset: what counts as outstanding is on the EVD");
    balanced(&c, "dat_ep_reset");

    is_code(dat_srq_free(c.q.handle), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE,
            "dat_srq_free: after dat_ep_reset: DAT_INVALID_STATE, the endpoint is still attached");
    sender_end(&c.s);
    sender_start(&c.s, &c.rx, 1);
    sender_send(&c.s, 0, 4, 50, 0);
    is_counts(c.q.handle, c.max - 4, c.max, "dat_ep_reset: connected again: it takes buffers");
    is_int(drain_dtos(c.rx.recv, 4), 4, "dat_ep_reset: connected again: four completions");
    scene_close(&c);
}

static void shared_evd(void)
{
    struct srq q;
    struct srq_pair p[2];
    DAT_EP_PARAM param;
    DAT_EP_HANDLE gone;
    DAT_EVENT event;
    bool order = true;
    unsigned next = 0;

    srq_open(&q, &fx, 16, 16, 256);
    srq_pair_open(&p[0], &q);
    /* Assign the EVD of the first endpoint before the connect. */
    memset((void *)&param, 0, sizeof param);
    memset(&p[1], 0, sizeof p[1]);
    side_make_srq(&p[1].rx, &fx, q.handle, NULL);
    side_make(&p[1].tx, &fx, NULL);
    region_make(&fx, &p[1].out, 4096, MEM_LOCAL);
    param.recv_evd_handle = p[0].rx.recv;
    if (!is_success(dat_ep_modify(p[1].rx.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param),
                    "dat_ep_modify: two endpoints on one receive EVD: success"))
        return;
    sides_connect(&p[1].tx, &p[1].rx);
    srq_fill(&q, 0, 16);
    for (unsigned i = 0; i < 3; i++)
        must(srq_send(&p[0], 100, i) && srq_send(&p[1], 100, i), "a message does not arrive");
    is_counts(q.handle, 10, 16, "two endpoints on one EVD, three messages each: 10, 16");
    gone = p[0].rx.ep;
    is_success(dat_ep_free(gone), "dat_ep_free: the first of two on one EVD: success");
    p[0].rx.ep = DAT_HANDLE_NULL;
    while (dat_evd_dequeue(p[0].rx.recv, &event) == DAT_SUCCESS) {
        DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;
        DAT_COUNT i = srq_buffer(&q, d->user_cookie.as_64);

        if (d->ep_handle == gone)
            continue;
        order = order && d->ep_handle == p[1].rx.ep && d->status == DAT_DTO_SUCCESS && i >= 0 &&
                message_right(q.mem.mem + (size_t)i * q.slot, 100, 0, next++);
    }
    ok(order && next == 3, "dat_ep_free: the second one's completions are all there, in order");
    is_counts(q.handle, 10, 10, "dat_ep_free: the EVD is empty: 10, 10");
    srq_pair_close(&p[1]);
    srq_pair_close(&p[0]);
    srq_close(&q);
}

static void waiting(bool free_it)
{
    const char *how = free_it ? "dat_ep_free" : "dat_ep_disconnect";
    struct srq q;
    struct side rx;
    struct sender s;

    srq_open(&q, &fx, 10, 10, 256);
    side_make_srq(&rx, &fx, q.handle, NULL);
    sender_start(&s, &rx, 1);
    sender_begin(&s, 0, 5, 100, 0);
    sender_posted(&s);
    is_counts(q.handle, 0, 0, "%s: five messages wait for a buffer: 0, 0", how);
    if (free_it) {
        must_rc(dat_ep_free(rx.ep), DAT_SUCCESS, "dat_ep_free");
        rx.ep = DAT_HANDLE_NULL;
    } else {
        must_rc(dat_ep_disconnect(rx.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        must(wait_connection(rx.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    }
    is_int(sender_arrived(&s), 0, "%s: none of the waiting messages arrives", how);
    srq_fill(&q, 0, 5);
    is_counts(q.handle, 5, 5, "%s: five buffers posted afterwards: 5, 5", how);
    ok(no_event(rx.recv), "%s: no completion", how);
    sender_end(&s);
    side_free(&rx);
    srq_close(&q);
}

static void too_long(void)
{
    struct srq q;
    struct srq_pair p, other;
    DAT_EVENT event;
    DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;

    srq_open(&q, &fx, 10, 10, 256);
    srq_pair_open(&p, &q);
    srq_pair_open(&other, &q);
    srq_fill(&q, 0, 4);
    must_rc(srq_send_start(&p, 257, 1), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_number(p.rx.recv, DAT_DTO_COMPLETION_EVENT, &event) &&
           d->status == DAT_DTO_ERR_LOCAL_LENGTH && d->ep_handle == p.rx.ep &&
           srq_buffer(&q, d->user_cookie.as_64) >= 0,
       "257 bytes for a buffer of 256: DAT_DTO_ERR_LOCAL_LENGTH at the endpoint that took it");
    ok(wait_connection(p.rx.conn, DAT_CONNECTION_EVENT_BROKEN),
       "257 bytes for a buffer of 256: the connection breaks");
    /* On iWARP the Send succeeds if it completes before the receiver finds the buffer too short. */
    ok(wait_number(p.tx.req, DAT_DTO_COMPLETION_EVENT, &event) && (d->status != DAT_DTO_SUCCESS || env_is_iwarp()),
       "257 bytes for a buffer of 256: the Send fails");
    is_counts(q.handle, 3, 3, "257 bytes for a buffer of 256: one buffer less: 3, 3");
    ok(srq_send_many(&other, 3, 256, 5) && drain_dtos(other.rx.recv, 3) == 3,
       "257 bytes for a buffer of 256: the other endpoint uses the rest");
    is_counts(q.handle, 0, 0, "257 bytes for a buffer of 256: all dequeued: 0, 0");
    srq_pair_close(&other);
    srq_pair_close(&p);
    srq_close(&q);
}

/* The completions that arrive from a sender that is killed. */
struct returned {
    struct srq *q;
    struct side *rx;
    bool *seen;
    bool good;
    int n;
};

/* Dequeues all completions. Returns whether no message holds a buffer: all outstanding buffers are available. */
static bool settled(void *arg)
{
    struct returned *r = arg;
    DAT_EVENT event;
    DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;
    DAT_SRQ_PARAM p;

    while (dat_evd_dequeue(r->rx->recv, &event) == DAT_SUCCESS) {
        DAT_COUNT i = srq_buffer(r->q, d->user_cookie.as_64);

        r->good = r->good && i >= 0 && !r->seen[i] && d->ep_handle == r->rx->ep &&
                  (d->status == DAT_DTO_SUCCESS || d->status == DAT_DTO_ERR_FLUSHED);
        if (i >= 0)
            r->seen[i] = true;
        r->n++;
    }
    p = srq_param(r->q->handle);
    return p.available_dto_count == p.outstanding_dto_count;
}

static void killed(size_t size)
{
    enum { POSTED = 48 };
    struct srq q;
    struct side rx;
    struct srq_pair next;
    struct sender s;
    DAT_EVENT event;
    bool seen[POSTED] = { false }, lost;
    struct returned r = { &q, &rx, seen, true, 0 };
    DAT_COUNT left, used = 0;

    srq_open(&q, &fx, POSTED, POSTED, size);
    side_make_srq(&rx, &fx, q.handle, NULL);
    sender_start(&s, &rx, 1);
    srq_fill(&q, 0, POSTED);
    sender_begin(&s, 0, 1000000, size, 0);
    must(wait_number(rx.recv, DAT_DTO_COMPLETION_EVENT, &event), "no message arrives");
    peer_kill(&s.peer);
    seen[srq_buffer(&q, event.event_data.dto_completion_event_data.user_cookie.as_64)] = true;
    r.n = 1;
    ok(wait_event(rx.conn, &event) && (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                                       event.event_number == DAT_CONNECTION_EVENT_BROKEN),
       "sender of %zu bytes killed: the connection ends", size);
    ok(wait_until(settled, &r, SOON_MS),
       "sender of %zu bytes killed: every buffer that was taken comes back", size);
    ok(r.good, "sender of %zu bytes killed: each once, successful or flushed", size);
    left = POSTED - r.n;
    diag("%d buffers came back, %d are left", r.n, (int)left);
    is_counts(q.handle, left, left,
              "sender of %zu bytes killed: what did not come back is available", size);

    srq_pair_open(&next, &q);
    while (used < left && srq_send(&next, 100, (unsigned)used))
        used++;
    /* The killed sender interrupts at most one message. */
    lost = used == left - 1 && env_has_device() &&
           interrupted_receive_is_lost((const struct sockaddr *)&fx.address);
    if (lost)
        skip_named("sender killed: another connection uses what is left",
                   "the device loses the receive of an interrupted message");
    else
        is_int(used, left, "sender of %zu bytes killed: another connection uses what is left", size);
    left -= used;
    (void)srq_arrived(q.handle, left);
    is_int(srq_drain(next.rx.recv), used, "sender of %zu bytes killed: all of it", size);
    is_counts(q.handle, lost, lost, "sender of %zu bytes killed: all dequeued: no buffer is left that can be used", size);
    srq_pair_close(&next);
    side_free(&rx);
    srq_close(&q);
}

static void overflow(void)
{
    struct srq q;
    struct srq_pair p;
    DAT_EVD_PARAM evd;
    DAT_EVENT event;
    DAT_COUNT qlen, n, sent = 0, got;
    bool reported = false;

    {
        DAT_EVD_HANDLE probe = fx_evd(&fx, 4, DAT_EVD_DTO_FLAG);

        must_rc(dat_evd_query(probe, DAT_EVD_FIELD_EVD_QLEN, &evd), DAT_SUCCESS, "dat_evd_query");
        qlen = evd.evd_qlen;
        must_rc(dat_evd_free(probe), DAT_SUCCESS, "dat_evd_free");
    }
    n = qlen + 8;
    srq_open(&q, &fx, n, n, 32);
    srq_pair_open_qlen(&p, &q, 4);
    srq_fill(&q, 0, n);
    for (DAT_COUNT i = 0; i < n; i++) {
        must_rc(srq_send_start(&p, 16, (unsigned)i), DAT_SUCCESS, "dat_ep_post_send");
        if (!wait_number(p.tx.req, DAT_DTO_COMPLETION_EVENT, &event) ||
            event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
            break;
        sent++;
    }
    is_int(sent, n, "overflow of the receive EVD: all sends complete");
    (void)srq_arrived(q.handle, n - sent);
    got = srq_drain(p.rx.recv);
    while (dat_evd_dequeue(fx.async, &event) == DAT_SUCCESS)
        if (event.event_number == DAT_ASYNC_ERROR_EVD_OVERFLOW &&
            event.event_data.asynch_error_event_data.dat_handle == p.rx.recv)
            reported = true;
    diag("EVD of %d: %d messages arrived, %d completions delivered", (int)qlen, (int)sent,
         (int)got);
    ok(got >= qlen || got == sent, "overflow of the receive EVD: what fits is delivered");
    ok(got == sent || reported, "overflow of the receive EVD: reported on the asynchronous EVD");
    is_counts(q.handle, n - sent, n - sent,
              "overflow of the receive EVD: lost completions hold no entry");
    srq_pair_close(&p);
    srq_close(&q);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { SENDER_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    fx_open(&fx);
    disconnected_by_us(DAT_CLOSE_ABRUPT_FLAG, "dat_ep_disconnect, abrupt");
    disconnected_by_us(DAT_CLOSE_GRACEFUL_FLAG, "dat_ep_disconnect, graceful");
    disconnected_by_peer();
    closed_by_peer();
    freed();
    reset();
    if (!none_waits("messages that wait when the connection ends")) {
        waiting(false);
        waiting(true);
    }
    too_long();
    killed(200);
    killed(1u << 20);
    overflow();
    shared_evd();
    fx_close(&fx);
    return done_testing();
}
