/* resize.c - dat_srq_resize without traffic. stress.c tests it with traffic. */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include "common/zoo.h"

#include <limits.h>
#include <string.h>

static struct zoo zoo;
static struct fx *const fx = &zoo.fx;
static DAT_IA_ATTR ia_attr;
static DAT_PROVIDER_ATTR provider_attr;

/*
 * Checks that dat_srq_query() returns at least `size` as max_recv_dtos, and that exactly max_recv_dtos buffers
 * can be outstanding. `posted` of them are already posted.
 */
static void holds(struct srq *q, DAT_COUNT posted, DAT_COUNT size, const char *what)
{
    DAT_COUNT max = srq_param(q->handle).max_recv_dtos, i;

    ok(max >= size, "%s: at least %d are reported", what, (int)size);
    for (i = posted; i < max && i < q->buffers; i++)
        if (srq_post(q, i) != DAT_SUCCESS)
            break;
    is_int(i, max, "%s: as many can be posted as are reported", what);
    is_type(srq_post(q, 0), DAT_INSUFFICIENT_RESOURCES, "%s: and no more", what);
    is_counts(q->handle, max, max, "%s: they are all there", what);
}

static bool grow(void)
{
    struct srq q;
    struct srq_pair p;
    bool good = true;
    DAT_COUNT max;

    srq_open(&q, fx, 10, 128, 64);
    srq_fill(&q, 0, 10);
    if (!is_success(dat_srq_resize(q.handle, 40), "dat_srq_resize: from 10 to 40: success")) {
        srq_close(&q);
        return false;
    }
    is_counts(q.handle, 10, 10, "dat_srq_resize: from 10 to 40, full: the ten are kept");
    holds(&q, 10, 40, "dat_srq_resize: from 10 to 40");
    max = srq_param(q.handle).max_recv_dtos;
    srq_pair_open(&p, &q);
    for (DAT_COUNT i = 0; i < max; i++)
        good = good && srq_send(&p, 50, (unsigned)i) &&
               srq_take(&q, p.rx.recv, p.rx.ep, 50, 0, (unsigned)i) >= 0;
    ok(good, "dat_srq_resize: from 10 to 40: every buffer receives a message");
    is_counts(q.handle, 0, 0, "dat_srq_resize: from 10 to 40: all used: 0, 0");
    srq_pair_close(&p);
    srq_close(&q);
    return true;
}

static void shrink(void)
{
    struct srq q;

    srq_open(&q, fx, 40, 128, 64);
    is_success(dat_srq_resize(q.handle, 10), "dat_srq_resize: from 40 to 10: success");
    is_int(srq_param(q.handle).max_recv_dtos, 10, "dat_srq_resize: from 40 to 10: 10 are reported");
    holds(&q, 0, 10, "dat_srq_resize: from 40 to 10");
    is_success(dat_srq_resize(q.handle, 10), "dat_srq_resize: the present size: success");
    is_counts(q.handle, 10, 10, "dat_srq_resize: the present size: nothing changes");
    is_success(dat_srq_resize(q.handle, 12), "dat_srq_resize: 10 to 12: success");
    holds(&q, 10, 12, "dat_srq_resize: 10 to 12");
    srq_close(&q);

    srq_open(&q, fx, 40, 128, 64);
    is_success(dat_srq_resize(q.handle, 1), "dat_srq_resize: from 40 to 1: success");
    is_int(srq_param(q.handle).max_recv_dtos, 1, "dat_srq_resize: from 40 to 1: 1 is reported");
    holds(&q, 0, 1, "dat_srq_resize: from 40 to 1");
    srq_close(&q);
}

/*
 * Tests each request on a new queue of size 10 with watermark 4, 5 buffers available and 6 outstanding.
 */
static void against_the_outstanding(void)
{
    static const struct {
        DAT_COUNT request;
        bool dequeue; /* first reduces `outstanding` to 2, of which one has completed */
        bool good;
        const char *why;
    } cases[] = {
        { 20, false, true, "above everything" },
        { 10, false, true, "the present size" },
        { 7, false, true, "above the outstanding" },
        { 6, false, true, "exactly the outstanding" },
        { 5, false, false, "the completed one counts" },
        { 4, false, false, "below the outstanding" },
        { 3, false, false, "below the outstanding and below the watermark" },
        { 1, false, false, "below the outstanding and below the watermark" },
        { 3, true, false, "below the watermark" },
        { 2, true, false, "below the watermark" },
        { 4, true, true, "exactly the watermark" },
        { 5, true, true, "above the watermark" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DAT_COUNT request = cases[i].request, available = 5, outstanding = 6;
        DAT_SRQ_PARAM before;
        struct srq_pair p;
        struct srq q;

        srq_open(&q, fx, 10, 64, 64);
        srq_pair_open(&p, &q);
        srq_fill(&q, 0, 6);
        must_rc(dat_srq_set_lw(q.handle, 4), DAT_SUCCESS, "dat_srq_set_lw");
        must(srq_send(&p, 10, 0), "no arrival");
        if (cases[i].dequeue) {
            must(srq_send_many(&p, 4, 10, 1), "no arrival");
            drain_dtos(p.rx.recv, 4);
            available = 1;
            outstanding = 2;
            drain(fx->async); /* the event of the low watermark */
        }
        is_counts(q.handle, available, outstanding, "resize of 10, watermark 4: %d, %d before",
                  (int)available, (int)outstanding);
        before = srq_param(q.handle);
        if (cases[i].good) {
            is_success(dat_srq_resize(q.handle, request), "dat_srq_resize: to %d, %s: success",
                       (int)request, cases[i].why);
            if (request <= 10)
                is_int(srq_param(q.handle).max_recv_dtos, request,
                       "dat_srq_resize: to %d: exactly that is reported", (int)request);
            else
                ok(srq_param(q.handle).max_recv_dtos >= request,
                   "dat_srq_resize: to %d: at least that is reported", (int)request);
            is_counts(q.handle, available, outstanding, "dat_srq_resize: to %d: no buffer is lost",
                      (int)request);
            is_int(srq_param(q.handle).low_watermark, 4,
                   "dat_srq_resize: to %d: the watermark stays", (int)request);
        } else {
            is_type(dat_srq_resize(q.handle, request), DAT_INVALID_STATE,
                    "dat_srq_resize: to %d, %s: DAT_INVALID_STATE", (int)request, cases[i].why);
            is_unchanged(q.handle, &before, "dat_srq_resize: to %d, %s: nothing changes",
                         (int)request, cases[i].why);
        }
        ok(srq_drain(p.rx.recv) == 1, "dat_srq_resize: to %d: the completion is kept",
           (int)request);
        srq_pair_close(&p);
        srq_close(&q);
    }
    drain(fx->async);
}

static void only_completed(void)
{
    struct srq q;
    struct srq_pair p;
    DAT_SRQ_PARAM before;

    srq_open(&q, fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    srq_fill(&q, 0, 5);
    must(srq_send_many(&p, 5, 10, 0), "no arrival");
    before = srq_arrived(q.handle, 0);
    is_type(dat_srq_resize(q.handle, 4), DAT_INVALID_STATE,
            "dat_srq_resize: five completed, none available, to 4: DAT_INVALID_STATE");
    is_unchanged(q.handle, &before, "dat_srq_resize: five completed, to 4: nothing changes");
    is_success(dat_srq_resize(q.handle, 5), "dat_srq_resize: five completed, to 5: success");
    is_type(srq_post(&q, 5), DAT_INSUFFICIENT_RESOURCES,
            "dat_srq_resize: five completed, to 5: no entry is free");
    is_int(drain_dtos(p.rx.recv, 2), 2, "two are dequeued");
    is_success(dat_srq_resize(q.handle, 3), "dat_srq_resize: three completed, to 3: success");
    is_int(drain_dtos(p.rx.recv, 3), 3, "three are dequeued");
    holds(&q, 0, 3, "dat_srq_resize: to 3, all dequeued");
    srq_pair_close(&p);
    srq_close(&q);
}

static void bad_sizes(void)
{
    static const DAT_COUNT bad[] = { 0, -1, -10, INT_MIN, INT_MAX };
    DAT_SRQ_PARAM before;
    struct srq q;

    srq_open(&q, fx, 10, 10, 64);
    srq_fill(&q, 0, 4);
    before = srq_param(q.handle);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        is_code(dat_srq_resize(q.handle, bad[i]), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "dat_srq_resize: to %d: DAT_INVALID_PARAMETER", (int)bad[i]);
        is_unchanged(q.handle, &before, "dat_srq_resize: to %d: nothing changes", (int)bad[i]);
    }
    if (ia_attr.max_recv_per_srq < INT_MAX) {
        is_code(dat_srq_resize(q.handle, ia_attr.max_recv_per_srq + 1), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG2, "dat_srq_resize: above max_recv_per_srq: DAT_INVALID_PARAMETER");
        is_unchanged(q.handle, &before, "dat_srq_resize: above max_recv_per_srq: nothing changes");
    }
    srq_close(&q);

    srq_open(&q, fx, 10, 10, 64);
    is_code(dat_srq_resize(q.handle, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_srq_resize: an empty queue to 0: DAT_INVALID_PARAMETER");
    srq_close(&q);
}

static void to_the_limit(void)
{
    struct srq q;
    DAT_COUNT before;
    DAT_RETURN rc;

    srq_open(&q, fx, 10, 10, 64);
    srq_fill(&q, 0, 10);
    before = srq_param(q.handle).max_recv_dtos;
    rc = dat_srq_resize(q.handle, ia_attr.max_recv_per_srq);
    is_either(rc, DAT_SUCCESS, DAT_INSUFFICIENT_RESOURCES,
              "dat_srq_resize: to max_recv_per_srq: not refused as a parameter");
    is_int(srq_param(q.handle).max_recv_dtos,
           rc == DAT_SUCCESS ? ia_attr.max_recv_per_srq : before,
           "dat_srq_resize: to max_recv_per_srq: reported");
    is_counts(q.handle, 10, 10, "dat_srq_resize: to max_recv_per_srq: no buffer is lost");
    srq_close(&q);
}

static DAT_RETURN with_srq(DAT_HANDLE handle, void *arg)
{
    (void)arg;
    return dat_srq_resize(handle, 20);
}

static void handles(void)
{
    DAT_SRQ_HANDLE freed;
    struct srq q;

    srq_open(&q, fx, 10, 10, 64);
    freed = q.handle;
    srq_close(&q);
    zoo_sweep(&zoo, "dat_srq_resize", DAT_HANDLE_TYPE_SRQ, DAT_INVALID_HANDLE_SRQ, freed, 0,
              with_srq, NULL);
    zoo_intact(&zoo, "dat_srq_resize");
}

static void arming(void)
{
    struct srq q;
    struct srq_pair p;

    srq_open(&q, fx, 10, 64, 64);
    srq_pair_open(&p, &q);
    srq_fill(&q, 0, 5);
    must_rc(dat_srq_set_lw(q.handle, 4), DAT_SUCCESS, "dat_srq_set_lw");
    must_rc(dat_srq_resize(q.handle, 30), DAT_SUCCESS, "dat_srq_resize");
    must_rc(dat_srq_resize(q.handle, 6), DAT_SUCCESS, "dat_srq_resize");
    nothing_comes(fx, "low watermark 4, 5 available: resized up and down: no event");
    must(srq_send(&p, 10, 0), "no arrival");
    nothing_comes(fx, "low watermark 4, resized: 4 available: no event");
    must(srq_send(&p, 10, 1), "no arrival");
    low_watermark_comes(fx, q.handle, "low watermark 4, resized: 3 available: the event");
    must_rc(dat_srq_resize(q.handle, 40), DAT_SUCCESS, "dat_srq_resize");
    must_rc(dat_srq_resize(q.handle, 8), DAT_SUCCESS, "dat_srq_resize");
    nothing_comes(fx, "low watermark 4, fired, resized: no second event");
    is_int(srq_param(q.handle).low_watermark, 4, "dat_srq_resize: the watermark's value stays");
    is_type(dat_srq_set_lw(q.handle, 9), DAT_INVALID_PARAMETER,
            "dat_srq_set_lw: above the new max_recv_dtos of 8: DAT_INVALID_PARAMETER");
    must_rc(dat_srq_resize(q.handle, 20), DAT_SUCCESS, "dat_srq_resize");
    is_success(dat_srq_set_lw(q.handle, 9),
               "dat_srq_set_lw: below the new max_recv_dtos of 20: success");
    low_watermark_comes(fx, q.handle, "dat_srq_set_lw: 9, 3 available: the event");
    drain_dtos(p.rx.recv, 2);
    srq_pair_close(&p);
    srq_close(&q);
}

static void messages(void)
{
    struct sender s;
    struct side rx;
    struct srq q;

    srq_open(&q, fx, 4, 64, 256);
    side_make_srq(&rx, fx, q.handle, NULL);
    sender_start(&s, &rx, 1);
    /* On iWARP a message without a buffer ends the connection, so there the messages follow the buffers. */
    if (!env_is_iwarp()) {
        sender_begin(&s, 0, 12, 200, 0);
        sender_posted(&s);
    }
    is_success(dat_srq_resize(q.handle, 2), "dat_srq_resize: messages wait: smaller: success");
    is_success(dat_srq_resize(q.handle, 16), "dat_srq_resize: messages wait: larger: success");
    srq_fill(&q, 0, 16);
    if (env_is_iwarp()) {
        sender_begin(&s, 0, 12, 200, 0);
        sender_posted(&s);
    }
    is_int(sender_arrived(&s), 12, "dat_srq_resize: messages wait: all of them arrive later");
    is_counts(q.handle, 4, 16, "dat_srq_resize: messages wait: 4, 16");
    is_success(dat_srq_resize(q.handle, 20), "dat_srq_resize: completions wait: larger: success");
    for (unsigned i = 0; i < 12; i++)
        ok(srq_take(&q, rx.recv, rx.ep, 200, 0, i) >= 0,
           "dat_srq_resize: message %u is whole and in its place", i);
    is_success(dat_srq_resize(q.handle, 4), "dat_srq_resize: down to the four that are left");
    sender_send(&s, 0, 4, 256, 12);
    for (unsigned i = 12; i < 16; i++)
        ok(srq_take(&q, rx.recv, rx.ep, 256, 0, i) >= 0,
           "dat_srq_resize: message %u uses a buffer from before", i);
    is_counts(q.handle, 0, 0, "dat_srq_resize: all dequeued: 0, 0");
    sender_end(&s);
    side_free(&rx);
    srq_close(&q);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { SENDER_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    zoo_open(&zoo);
    srq_attributes(fx, &ia_attr, &provider_attr);
    if (grow()) {
        shrink();
        against_the_outstanding();
        only_completed();
        bad_sizes();
        to_the_limit();
        handles();
        arming();
        messages();
    }
    zoo_close(&zoo);
    return done_testing();
}
