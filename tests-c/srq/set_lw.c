/*
 * set_lw.c - dat_srq_set_lw: the low watermark event. Each call generates one event as soon as fewer buffers
 * than the watermark are available, even if no thread of the process is in the library.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include "common/waiter.h"
#include "common/zoo.h"

#include <limits.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

static struct zoo zoo;
static struct fx *const fx = &zoo.fx;

static DAT_RETURN with_srq(DAT_HANDLE handle, void *arg)
{
    (void)arg;
    return dat_srq_set_lw(handle, 0);
}

static bool arguments(void)
{
    DAT_SRQ_HANDLE freed;
    DAT_SRQ_PARAM before;
    DAT_COUNT max;
    struct srq q;

    srq_open(&q, fx, 10, 10, 64);
    max = srq_param(q.handle).max_recv_dtos;
    srq_fill(&q, 0, 5);
    if (!is_success(dat_srq_set_lw(q.handle, 2), "dat_srq_set_lw: 2 of 10, 5 available: success"))
        return false;
    is_int(srq_param(q.handle).low_watermark, 2, "dat_srq_query: low_watermark: as set");
    before = srq_param(q.handle);
    is_code(dat_srq_set_lw(q.handle, max + 1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_srq_set_lw: above max_recv_dtos: DAT_INVALID_PARAMETER");
    is_code(dat_srq_set_lw(q.handle, INT_MAX), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_srq_set_lw: INT_MAX: DAT_INVALID_PARAMETER");
    is_code(dat_srq_set_lw(q.handle, -1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_srq_set_lw: -1: DAT_INVALID_PARAMETER");
    is_code(dat_srq_set_lw(q.handle, INT_MIN), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_srq_set_lw: INT_MIN: DAT_INVALID_PARAMETER");
    is_unchanged(q.handle, &before, "dat_srq_set_lw: errors: nothing is changed");
    ok(no_event(fx->async), "dat_srq_set_lw: errors: no event");
    srq_fill(&q, 5, max - 5 < 5 ? max - 5 : 5);
    if (max == 10) {
        is_success(dat_srq_set_lw(q.handle, max), "dat_srq_set_lw: max_recv_dtos: success");
        ok(no_event(fx->async), "dat_srq_set_lw: max_recv_dtos, all of them available: no event");
    } else {
        is_success(dat_srq_set_lw(q.handle, max), "dat_srq_set_lw: max_recv_dtos: success");
        drain(fx->async);
        skip(1, "the queue holds %d", (int)max);
    }
    is_int(srq_param(q.handle).low_watermark, max, "dat_srq_query: low_watermark: as set");
    freed = q.handle;
    srq_close(&q);
    zoo_sweep(&zoo, "dat_srq_set_lw", DAT_HANDLE_TYPE_SRQ, DAT_INVALID_HANDLE_SRQ, freed, 0,
              with_srq, NULL);
    zoo_intact(&zoo, "dat_srq_set_lw");
    return true;
}

static void event_fields(void)
{
    struct srq q;
    DAT_EVENT event;
    DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_IA;
    DAT_ASYNCH_ERROR_EVENT_DATA *d = &event.event_data.asynch_error_event_data;

    srq_open(&q, fx, 10, 10, 64);
    is_success(dat_srq_set_lw(q.handle, 1), "dat_srq_set_lw: 1, empty queue: success");
    memset(&event, 0x5a, sizeof event);
    is_success(dat_evd_dequeue(fx->async, &event),
               "dat_srq_set_lw: 1, empty queue: the event is there at once");
    is_event(event.event_number, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR,
             "low watermark event: event_number DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR");
    is_ptr(event.evd_handle, fx->async, "low watermark event: evd_handle is the asynchronous EVD");
    is_ptr(d->dat_handle, q.handle, "low watermark event: dat_handle is the queue");
    is_int(d->reason, DAT_SRQ_LOW_WATERMARK_EVENT,
           "low watermark event: reason DAT_SRQ_LOW_WATERMARK_EVENT");
    is_success(dat_get_handle_type(d->dat_handle, &type), "low watermark event: the handle is live");
    is_int(type, DAT_HANDLE_TYPE_SRQ, "low watermark event: of an SRQ");
    ok(no_event(fx->async), "low watermark event: one");
    is_int(srq_param(q.handle).low_watermark, 1, "dat_srq_query: low_watermark stays after it fired");
    srq_close(&q);
}

static void strictly(void)
{
    struct srq q;
    struct srq_pair p;

    srq_open(&q, fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    srq_fill(&q, 0, 6);
    must_rc(dat_srq_set_lw(q.handle, 6), DAT_SUCCESS, "dat_srq_set_lw");
    nothing_comes(fx, "dat_srq_set_lw: 6, 6 available: no event");
    must_rc(dat_srq_set_lw(q.handle, 4), DAT_SUCCESS, "dat_srq_set_lw");
    nothing_comes(fx, "dat_srq_set_lw: 4, 6 available: no event");
    must(srq_send_many(&p, 2, 10, 0), "no arrival");
    nothing_comes(fx, "low watermark 4: two taken, 4 available: no event");
    must(srq_send(&p, 10, 2), "no arrival");
    low_watermark_comes(fx, q.handle, "low watermark 4: one more taken, 3 available: the event");
    must_rc(dat_srq_set_lw(q.handle, 4), DAT_SUCCESS, "dat_srq_set_lw");
    low_watermark_comes(fx, q.handle, "dat_srq_set_lw: 4, 3 available: the event at once");
    nothing_comes(fx, "dat_srq_set_lw: 4, 3 available: once");
    drain_dtos(p.rx.recv, 3);
    nothing_comes(fx, "low watermark: dequeuing completions is no reason");
    srq_pair_close(&p);
    srq_close(&q);
}

/* Each call arms the watermark for one event. */
static void once(void)
{
    struct srq q;
    struct srq_pair p;

    srq_open(&q, fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    srq_fill(&q, 0, 4);
    must_rc(dat_srq_set_lw(q.handle, 3), DAT_SUCCESS, "dat_srq_set_lw");
    must(srq_send_many(&p, 2, 10, 0), "no arrival");
    low_watermark_comes(fx, q.handle, "low watermark 3: 2 available: the event");
    must(srq_send_many(&p, 2, 10, 2), "no arrival");
    drain_dtos(p.rx.recv, 4);
    srq_fill(&q, 0, 8);
    must(srq_send_many(&p, 8, 10, 4), "no arrival");
    nothing_comes(fx, "low watermark 3: filled up to 8 and down to 0 again: no second event");
    drain_dtos(p.rx.recv, 8);

    srq_fill(&q, 0, 8);
    must_rc(dat_srq_set_lw(q.handle, 3), DAT_SUCCESS, "dat_srq_set_lw");
    nothing_comes(fx, "dat_srq_set_lw: 3 again, 8 available: no event yet");
    must(srq_send_many(&p, 6, 10, 12), "no arrival");
    low_watermark_comes(fx, q.handle, "dat_srq_set_lw: 3 again: 2 available: the event");
    must(srq_send_many(&p, 2, 10, 18), "no arrival");
    nothing_comes(fx, "dat_srq_set_lw: 3 again: once");
    for (int i = 0; i < 3; i++) {
        must_rc(dat_srq_set_lw(q.handle, 1), DAT_SUCCESS, "dat_srq_set_lw");
        low_watermark_comes(fx, q.handle, "dat_srq_set_lw: empty queue, setting %d: an event", i);
    }
    nothing_comes(fx, "dat_srq_set_lw: three settings: three events");
    srq_pair_close(&p);
    srq_close(&q);
}

static void replaced(void)
{
    struct srq q;
    struct srq_pair p;

    srq_open(&q, fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    srq_fill(&q, 0, 8);
    must_rc(dat_srq_set_lw(q.handle, 6), DAT_SUCCESS, "dat_srq_set_lw");
    must_rc(dat_srq_set_lw(q.handle, 2), DAT_SUCCESS, "dat_srq_set_lw");
    must(srq_send_many(&p, 6, 10, 0), "no arrival");
    nothing_comes(fx, "dat_srq_set_lw: 6, then 2: 2 available: no event");
    must(srq_send(&p, 10, 6), "no arrival");
    low_watermark_comes(fx, q.handle, "dat_srq_set_lw: 6, then 2: 1 available: the event");
    must(srq_send(&p, 10, 7), "no arrival");
    nothing_comes(fx, "dat_srq_set_lw: 6, then 2: one event in all");
    drain_dtos(p.rx.recv, 8);

    srq_fill(&q, 0, 8);
    must_rc(dat_srq_set_lw(q.handle, 2), DAT_SUCCESS, "dat_srq_set_lw");
    must_rc(dat_srq_set_lw(q.handle, 7), DAT_SUCCESS, "dat_srq_set_lw");
    must(srq_send_many(&p, 2, 10, 8), "no arrival");
    low_watermark_comes(fx, q.handle, "dat_srq_set_lw: 2, then 7: 6 available: the event");
    must(srq_send_many(&p, 6, 10, 10), "no arrival");
    nothing_comes(fx, "dat_srq_set_lw: 2, then 7: 0 available: no second event");
    drain_dtos(p.rx.recv, 8);

    srq_fill(&q, 0, 8);
    must_rc(dat_srq_set_lw(q.handle, 5), DAT_SUCCESS, "dat_srq_set_lw");
    is_success(dat_srq_set_lw(q.handle, DAT_SRQ_LW_DEFAULT), "dat_srq_set_lw: 0: success");
    must(srq_send_many(&p, 8, 10, 16), "no arrival");
    nothing_comes(fx, "dat_srq_set_lw: 5, then 0: 0 available: no event");
    is_int(srq_param(q.handle).low_watermark, 0, "dat_srq_query: low_watermark 0");
    srq_pair_close(&p);
    srq_close(&q);
}

static void several(void)
{
    struct srq q[2];
    struct srq_pair p[3];

    for (int i = 0; i < 2; i++)
        srq_open(&q[i], fx, 10, 10, 64);
    for (int i = 0; i < 3; i++)
        srq_pair_open(&p[i], &q[i / 2]); /* two on the first queue, one on the second */
    for (int i = 0; i < 2; i++) {
        srq_fill(&q[i], 0, 4);
        must_rc(dat_srq_set_lw(q[i].handle, 3), DAT_SUCCESS, "dat_srq_set_lw");
    }
    must(srq_send(&p[0], 10, 0) && srq_send(&p[2], 10, 0), "no arrival");
    nothing_comes(fx, "two queues of 4, watermark 3: one taken from each: no event");
    must(srq_send(&p[1], 10, 0), "no arrival");
    low_watermark_comes(fx, q[0].handle, "two endpoints took one each: the event of their queue");
    nothing_comes(fx, "the other queue is silent");
    must(srq_send(&p[2], 10, 1), "no arrival");
    low_watermark_comes(fx, q[1].handle, "one taken from the other queue: the event of that queue");

    must(srq_send_many(&p[0], 2, 10, 1), "no arrival");
    drain_dtos(p[0].rx.recv, 3);
    drain_dtos(p[1].rx.recv, 1);
    must_rc(dat_srq_set_lw(q[0].handle, 0), DAT_SUCCESS, "dat_srq_set_lw");
    must_rc(srq_send_start(&p[1], 10, 1), DAT_SUCCESS, "dat_ep_post_send");
    srq_fill(&q[0], 0, 1);
    must(wait_dto(p[1].tx.req, 1, DAT_DTO_SUCCESS, NULL), "no arrival");
    nothing_comes(fx, "low watermark 0: a buffer is taken as it is posted: no event");
    for (int i = 0; i < 3; i++)
        srq_pair_close(&p[i]);
    for (int i = 0; i < 2; i++)
        srq_close(&q[i]);
}

static bool sem_wait_ms(sem_t *sem, unsigned ms)
{
    struct timespec t;
    unsigned long long ns;

    clock_gettime(CLOCK_REALTIME, &t);
    ns = (unsigned long long)t.tv_nsec + (unsigned long long)env_ms(ms) * 1000000u;
    t.tv_sec += (time_t)(ns / 1000000000u);
    t.tv_nsec = (long)(ns % 1000000000u);
    return sem_timedwait(sem, &t) == 0;
}

/* A queue on which the next message of another process generates the event. */
struct trap {
    struct srq q;
    struct side rx;
    struct sender s;
};

static void trap_set(struct trap *t)
{
    srq_open(&t->q, fx, 10, 10, 64);
    side_make_srq(&t->rx, fx, t->q.handle, NULL);
    sender_start(&t->s, &t->rx, 1);
    srq_fill(&t->q, 0, 3);
    must_rc(dat_srq_set_lw(t->q.handle, 3), DAT_SUCCESS, "dat_srq_set_lw");
    ok(no_event(fx->async), "low watermark 3, 3 available: no event yet");
}

static void trap_remove(struct trap *t)
{
    ok(srq_take(&t->q, t->rx.recv, t->rx.ep, 20, 0, 7) >= 0, "and the message is complete");
    is_counts(t->q.handle, 2, 2, "and the counters are right: 2, 2");
    side_free(&t->rx); /* before the sender, as in srq_pair_close() */
    sender_end(&t->s);
    srq_close(&t->q);
}

/* The only thread in the library waits on the asynchronous EVD. */
static void blocked_in_evd_wait(void)
{
    struct trap t;
    struct waiter w;

    trap_set(&t);
    waiter_start(&w, fx->async, env_us(SOON_MS), 1);
    sender_begin(&t.s, 0, 1, 20, 7);
    /* This thread makes no library call until the waiter returns. */
    ok(waiter_done(&w, SOON_MS), "only a waiter in dat_evd_wait is inside: it returns");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS && is_watermark(&w.event, t.q.handle, DAT_HANDLE_TYPE_SRQ,
                                           DAT_SRQ_LOW_WATERMARK_EVENT),
       "only a waiter in dat_evd_wait is inside: it has the low watermark event");
    is_int(sender_arrived(&t.s), 1, "the message arrives");
    ok(no_event(fx->async), "one event");
    trap_remove(&t);
}

static sem_t agent_called;
static DAT_PVOID agent_data;
static DAT_EVD_HANDLE agent_evd;

static void agent(DAT_PVOID instance_data, DAT_EVD_HANDLE evd)
{
    agent_data = instance_data;
    agent_evd = evd;
    sem_post(&agent_called);
}

/* The asynchronous EVD has a CNO, and the only thread in the library waits on the CNO. */
static void blocked_in_cno_wait(void)
{
    struct trap t;
    struct waiter w;
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;

    trap_set(&t);
    if (!is_success(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno),
                    "dat_cno_create: success") ||
        !is_success(dat_evd_modify_cno(fx->async, cno),
                    "dat_evd_modify_cno: the asynchronous EVD: success"))
        return;
    waiter_start_cno(&w, cno, env_us(SOON_MS));
    sender_begin(&t.s, 0, 1, 20, 7);
    ok(waiter_done(&w, SOON_MS), "only a waiter in dat_cno_wait is inside: it returns");
    waiter_join(&w);
    is_success(w.rc, "only a waiter in dat_cno_wait is inside: success");
    is_ptr(w.hint, fx->async, "dat_cno_wait: the asynchronous EVD caused it");
    low_watermark_comes(fx, t.q.handle, "dat_cno_wait: the event is there");
    is_int(sender_arrived(&t.s), 1, "the message arrives");
    is_success(dat_evd_modify_cno(fx->async, DAT_HANDLE_NULL), "dat_evd_modify_cno: off: success");
    is_success(dat_cno_free(cno), "dat_cno_free: success");
    trap_remove(&t);
}

/* The asynchronous EVD has a CNO with an agent, and no thread is in the library. */
static void agent_with_nobody_inside(void)
{
    struct trap t;
    DAT_OS_WAIT_PROXY_AGENT proxy = { &agent_called, agent };
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;

    trap_set(&t);
    sem_init(&agent_called, 0, 0);
    if (!is_success(dat_cno_create(fx->ia, proxy, &cno), "dat_cno_create: agent: success"))
        return;
    must_rc(dat_evd_modify_cno(fx->async, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    sender_begin(&t.s, 0, 1, 20, 7);
    ok(sem_wait_ms(&agent_called, SOON_MS), "nobody at all is inside: the CNO's agent is called");
    ok(agent_data == &agent_called && agent_evd == fx->async,
       "nobody at all is inside: with its data and the asynchronous EVD");
    low_watermark_comes(fx, t.q.handle, "nobody at all is inside: the event is there");
    is_int(sender_arrived(&t.s), 1, "the message arrives");
    must_rc(dat_evd_modify_cno(fx->async, DAT_HANDLE_NULL), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
    trap_remove(&t);
}

/* No thread waits. The event is queued by the time that the sender has the completion of its message. */
static void nobody_waits(void)
{
    struct trap t;

    trap_set(&t);
    sender_send(&t.s, 0, 1, 20, 7);
    low_watermark_comes(fx, t.q.handle, "nobody waits: the event is found afterwards");
    ok(no_event(fx->async), "nobody waits: one event");
    trap_remove(&t);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { SENDER_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    zoo_open(&zoo);
    if (arguments()) {
        event_fields();
        strictly();
        once();
        replaced();
        several();
        nobody_waits();
        blocked_in_evd_wait();
        blocked_in_cno_wait();
        agent_with_nobody_inside();
    }
    zoo_close(&zoo);
    return done_testing();
}
