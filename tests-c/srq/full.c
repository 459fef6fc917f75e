/*
 * full.c - watermark events that find a full asynchronous EVD. They wait until the program has taken events: each
 * setting raises exactly one event.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include <string.h>

#define LENGTH 4

/* Returns the length of an EVD that should be short. Ends the program if it is not. */
static DAT_COUNT length(DAT_EVD_HANDLE evd)
{
    DAT_EVD_PARAM param;

    must_rc(dat_evd_query(evd, DAT_EVD_FIELD_EVD_QLEN, &param), DAT_SUCCESS, "dat_evd_query");
    must(param.evd_qlen < 100, "the provider's shortest EVD is too long to fill");
    return param.evd_qlen;
}

/* Opens the adapter, with a short asynchronous EVD. Returns its length. */
static DAT_COUNT open_short(struct fx *fx)
{
    fx_open(fx);
    must_rc(dat_evd_resize(fx->async, LENGTH), DAT_SUCCESS, "dat_evd_resize");
    return length(fx->async);
}

/* Sets the low watermark of an empty queue n times. Each call raises an event. */
static void settings(DAT_SRQ_HANDLE empty, DAT_COUNT n)
{
    for (DAT_COUNT i = 0; i < n; i++)
        must_rc(dat_srq_set_lw(empty, 1), DAT_SUCCESS, "dat_srq_set_lw");
}

struct counts {
    int first, second; /* the events of two objects */
    int others;        /* ends of connections do not count */
};

/* Takes the next event, and counts it. `waits` selects the call. Returns false if there is none. */
static bool count_next(struct fx *fx, DAT_HANDLE first, DAT_HANDLE second, bool waits, struct counts *n)
{
    DAT_EVENT event;
    DAT_COUNT more;
    const DAT_ASYNCH_ERROR_EVENT_DATA *d = &event.event_data.asynch_error_event_data;
    DAT_RETURN rc = waits ? dat_evd_wait(fx->async, 0, 1, &event, &more) : dat_evd_dequeue(fx->async, &event);

    if (rc != DAT_SUCCESS)
        return false;
    /* DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT has the same value. */
    if (event.event_number == DAT_ASYNC_ERROR_EP_BROKEN)
        return true;
    if (d->reason == DAT_SRQ_LOW_WATERMARK_EVENT && (d->dat_handle == first || d->dat_handle == second))
        ++*(d->dat_handle == first ? &n->first : &n->second);
    else
        n->others++;
    return true;
}

static struct counts count_all(struct fx *fx, DAT_HANDLE first, DAT_HANDLE second, bool waits)
{
    struct counts n = { 0, 0, 0 };

    while (count_next(fx, first, second, waits, &n))
        continue;
    return n;
}

static void each_setting(struct fx *fx, DAT_COUNT qlen)
{
    struct counts n;
    struct srq a, b;

    srq_open(&a, fx, 10, 10, 64);
    srq_open(&b, fx, 10, 10, 64);
    for (int waits = 0; waits < 2; waits++) {
        settings(a.handle, qlen);
        settings(b.handle, 3);
        settings(a.handle, 20);
        n = count_all(fx, a.handle, b.handle, waits);
        is_int(n.first, qlen + 20, "low watermark, full EVD, %s: an event for each setting of the one queue",
               waits ? "dat_evd_wait" : "dat_evd_dequeue");
        is_int(n.second, 3, "low watermark, full EVD, %s: an event for each setting of the other queue",
               waits ? "dat_evd_wait" : "dat_evd_dequeue");
        is_int(n.others, 0, "low watermark, full EVD: no other event");
    }
    nothing_comes(fx, "low watermark, full EVD: no further event");
    srq_close(&b);
    srq_close(&a);
}

/* A message exceeds both watermarks while the EVD is full. */
static void crossing(struct fx *fx, DAT_COUNT qlen)
{
    struct counts n = { 0, 0, 0 };
    struct srq filler, q;
    struct srq_pair p;

    srq_open(&filler, fx, 1, 1, 64);
    srq_open(&q, fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    srq_fill(&q, 0, 6);
    must_rc(dat_srq_set_lw(q.handle, 6), DAT_SUCCESS, "dat_srq_set_lw");
    must_rc(dat_ep_set_watermark(p.rx.ep, 0, DAT_WATERMARK_INFINITE), DAT_SUCCESS, "dat_ep_set_watermark");
    settings(filler.handle, qlen);
    must(srq_send_many(&p, 2, 10, 0), "no arrival");
    must(srq_arrived(q.handle, 4).available_dto_count == 4, "no arrival");
    /* More buffers change nothing: the watermark was crossed. */
    srq_fill(&q, 6, 2);
    for (DAT_COUNT i = 0; i < qlen; i++)
        must(count_next(fx, filler.handle, DAT_HANDLE_NULL, false, &n), "no event");
    is_int(n.first, qlen, "crossing with a full EVD: first the events that filled it");
    n = count_all(fx, q.handle, p.rx.ep, false);
    is_int(n.first, 1, "crossing with a full EVD: low watermark: one event");
    is_int(n.second, 1, "crossing with a full EVD: soft high watermark: one event");
    is_int(n.others, 0, "crossing with a full EVD: no other event");
    must(srq_send(&p, 10, 2), "no arrival");
    nothing_comes(fx, "crossing with a full EVD: the events have disarmed the watermarks");
    must_rc(dat_srq_set_lw(q.handle, 9), DAT_SUCCESS, "dat_srq_set_lw");
    low_watermark_comes(fx, q.handle, "crossing with a full EVD: the next setting works");
    srq_pair_close(&p);
    srq_close(&q);
    srq_close(&filler);
    drain(fx->async);
}

static void resized(struct fx *fx, DAT_COUNT qlen)
{
    DAT_EVENT event;
    DAT_COUNT more = -1;
    struct srq q;

    srq_open(&q, fx, 10, 10, 64);
    settings(q.handle, qlen + 1);
    is_success(dat_evd_resize(fx->async, 2 * qlen), "dat_evd_resize: asynchronous EVD, full: success");
    is_success(dat_evd_wait(fx->async, 0, 1, &event, &more), "dat_evd_wait: after the resize: success");
    is_int(more, qlen, "dat_evd_wait: after the resize: the event that waited is in the EVD");
    is_int(drain(fx->async), qlen, "dat_evd_dequeue: after the resize: all events");
    must_rc(dat_evd_resize(fx->async, LENGTH), DAT_SUCCESS, "dat_evd_resize");
    srq_close(&q);
}

/* Events that wait name no freed object. */
static void freed(struct fx *fx, DAT_COUNT qlen)
{
    struct counts n;
    struct srq filler, q;
    struct side rx;
    DAT_HANDLE queue, ep;

    srq_open(&filler, fx, 1, 1, 64);
    srq_open(&q, fx, 10, 10, 64);
    side_make(&rx, fx, NULL);
    settings(filler.handle, qlen);
    settings(q.handle, 2);
    must_rc(post_recv(&rx, NULL, 0, 0, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(dat_ep_set_watermark(rx.ep, 0, DAT_WATERMARK_INFINITE), DAT_SUCCESS, "dat_ep_set_watermark");
    settings(filler.handle, 1);
    queue = q.handle;
    ep = rx.ep;
    side_free(&rx);
    srq_close(&q);
    n = count_all(fx, queue, ep, false);
    is_int(n.first, 0, "freed queue: no event that waited");
    is_int(n.second, 0, "freed endpoint: no event that waited");
    is_int(n.others, qlen + 1, "freed objects: the events of the other queue");
    srq_close(&filler);
}

/* An EVD for completions and for the asynchronous events of another open of the adapter is full of completions. */
static void completions(struct fx *fx)
{
    DAT_EVD_HANDLE both = fx_evd(fx, LENGTH, DAT_EVD_DTO_FLAG | DAT_EVD_ASYNC_FLAG);
    DAT_EVD_HANDLE async = both;
    DAT_COUNT qlen = length(both);
    DAT_EVENT event;
    struct fx other;
    struct pair p;
    struct srq q;
    int done = 0;

    memset(&other, 0, sizeof other);
    must_rc(dat_ia_open(env_ia(), LENGTH, &async, &other.ia), DAT_SUCCESS, "dat_ia_open");
    other.async = both;
    must_rc(dat_pz_create(other.ia, &other.pz), DAT_SUCCESS, "dat_pz_create");
    srq_open(&q, &other, 10, 10, 64);
    pair_open(&p, fx, NULL);
    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_state(p.b.ep, DAT_EP_STATE_DISCONNECTED), "no end");
    must_rc(dat_ep_reset(p.b.ep), DAT_SUCCESS, "dat_ep_reset");
    {
        DAT_EP_PARAM param;

        memset((void *)&param, 0, sizeof param);
        param.recv_evd_handle = both;
        must_rc(dat_ep_modify(p.b.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param), DAT_SUCCESS, "dat_ep_modify");
    }
    /* A failed attempt disconnects the endpoint, which then flushes each receive. */
    must_rc(side_connect(&p.b, fx_address(fx), unique_qual(false)), DAT_SUCCESS, "dat_ep_connect");
    must(wait_state(p.b.ep, DAT_EP_STATE_DISCONNECTED), "the connect does not fail");
    for (DAT_COUNT i = 0; i < qlen; i++)
        must_rc(post_recv(&p.b, NULL, 0, 0, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    settings(q.handle, 2);
    while (done < qlen && dat_evd_dequeue(both, &event) == DAT_SUCCESS &&
           event.event_number == DAT_DTO_COMPLETION_EVENT)
        done++;
    is_int(done, qlen, "EVD full of completions: first the completions");
    for (int i = 0; i < 2; i++)
        ok(dat_evd_dequeue(both, &event) == DAT_SUCCESS &&
               is_watermark(&event, q.handle, DAT_HANDLE_TYPE_SRQ, DAT_SRQ_LOW_WATERMARK_EVENT),
           "EVD full of completions: then the watermark event %d of 2", i + 1);
    is_type(dat_evd_dequeue(both, &event), DAT_QUEUE_EMPTY, "EVD full of completions: then nothing");
    srq_close(&q);
    must_rc(dat_ia_close(other.ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ia_close");
    pair_close(&p);
    must_rc(dat_evd_free(both), DAT_SUCCESS, "dat_evd_free");
}

int main(int argc, char **argv)
{
    DAT_COUNT qlen;
    struct fx fx;

    env_init(argc, argv, NULL);
    qlen = open_short(&fx);
    each_setting(&fx, qlen);
    crossing(&fx, qlen);
    resized(&fx, qlen);
    freed(&fx, qlen);
    completions(&fx);
    fx_close(&fx);
    return done_testing();
}
