/*
 * datagram_watermarks.c - dat_ep_set_watermark() on endpoints for unreliable datagrams: the soft high watermark, with
 * the endpoint's own receives and with a shared receive queue. The call rejects a hard high watermark, because there
 * is no connection that it could break.
 */
#include "v20/datagram.h"

#include <string.h>

#define NAME "dat_ep_set_watermark"

enum { BYTES = 64, PLACE = 128 };

static struct fx fx;
static struct region memory;

/* Returns whether the next asynchronous event reports the soft high watermark of the endpoint. */
static bool soft_comes(DAT_EP_HANDLE ep)
{
    DAT_EVENT e;
    const DAT_ASYNCH_ERROR_EVENT_DATA *d = &e.event_data.asynch_error_event_data;

    if (!wait_event(fx.async, &e))
        return false;
    if (d->dat_handle == ep && d->reason == DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT)
        return true;
    diag("event %s, reason %d", event_text(e.event_number), (int)d->reason);
    return false;
}

static void receives(struct side *s, unsigned first, unsigned n)
{
    for (unsigned i = first; i < first + n; i++)
        must_rc(ud_receive(s, &memory, (size_t)i * PLACE, BYTES, i), DAT_SUCCESS, "dat_ep_post_recv");
}

static void own(void)
{
    struct side s, other;
    struct known to;
    DAT_EP_PARAM param;

    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    receives(&s, 0, 3);
    is_success(dat_ep_set_watermark(s.ep, 2, DAT_WATERMARK_INFINITE), NAME ": datagrams, 3 receives, soft 2: success");
    ok(soft_comes(s.ep), NAME ": datagrams, 3 receives, soft 2: the event comes");
    is_success(dat_ep_set_watermark(s.ep, 4, DAT_WATERMARK_INFINITE), NAME ": datagrams, 3 receives, soft 4: success");
    receives(&s, 3, 1);
    ok(quiet(fx.async), NAME ": datagrams, 4 receives, soft 4: no event");
    receives(&s, 4, 1);
    ok(soft_comes(s.ep), NAME ": datagrams, 5 receives, soft 4: the event comes");
    is_type(dat_ep_set_watermark(s.ep, 3, 9), DAT_MODEL_NOT_SUPPORTED, NAME ": datagrams, hard: DAT_MODEL_NOT_SUPPORTED");
    ok(quiet(fx.async), NAME ": datagrams, hard: the soft one is not set either");
    memset(&param, 0, sizeof param);
    must_rc(dat_ep_query(s.ep, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS, "dat_ep_query");
    is_int(param.ep_attr.srq_soft_hw, 4, "dat_ep_query: datagrams: srq_soft_hw is the one that was set");
    /* The receives still take datagrams. */
    ud_make(&other, &fx, DAT_HANDLE_NULL, NULL);
    ud_meet(&other, &to, &s, NULL);
    for (unsigned i = 0; i < 5; i++)
        ok(ud_send(&other, &memory, 8 * PLACE, BYTES, &to, i) == DAT_SUCCESS && ud_sent(&other, i, BYTES) &&
               ud_received(&s, i, BYTES),
           "dat_ep_post_recv: datagrams, receive %u takes a datagram", i);
    side_free(&other);
    side_free(&s);
}

static void shared(void)
{
    struct side s, other;
    struct known to;
    DAT_SRQ_ATTR attr;
    DAT_SRQ_HANDLE srq;

    memset(&attr, 0, sizeof attr);
    attr.max_recv_dtos = 8;
    attr.max_recv_iov = 1;
    attr.low_watermark = DAT_SRQ_LW_DEFAULT;
    must_rc(dat_srq_create(fx.ia, fx.pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    ud_make(&s, &fx, srq, NULL);
    ud_make(&other, &fx, DAT_HANDLE_NULL, NULL);
    ud_meet(&other, &to, &s, NULL);
    for (unsigned i = 0; i < 2; i++) {
        DAT_LMR_TRIPLET t = segment(&memory, i * PLACE, GRH + BYTES);

        must_rc(dat_srq_post_recv(srq, 1, &t, cookie(i)), DAT_SUCCESS, "dat_srq_post_recv");
    }
    is_success(dat_ep_set_watermark(s.ep, 0, DAT_WATERMARK_INFINITE), NAME ": datagrams, shared queue, soft 0: success");
    ok(quiet(fx.async), NAME ": datagrams, shared queue, soft 0: no event before a datagram comes");
    ok(ud_send(&other, &memory, 8 * PLACE, BYTES, &to, 1) == DAT_SUCCESS && ud_sent(&other, 1, BYTES) &&
           ud_received(&s, 0, BYTES) && soft_comes(s.ep),
       NAME ": datagrams, shared queue, soft 0: the event comes with the next one");
    side_free(&other);
    side_free(&s);
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    ud_open(&fx);
    region_make(&fx, &memory, 16 * PLACE, MEM_LOCAL);
    own();
    shared();
    fx_close(&fx);
    return done_testing();
}
