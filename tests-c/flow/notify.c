/* notify.c - CNOs: triggers, waiters, agents. */
#define _POSIX_C_SOURCE 200809L
#include "common/waiter.h"

#include <string.h>

static DAT_RETURN post(DAT_EVD_HANDLE evd, uintptr_t n)
{
    DAT_EVENT e;

    memset(&e, 0, sizeof e);
    e.event_number = DAT_SOFTWARE_EVENT;
    e.event_data.software_event_data.pointer = (void *)n;
    return dat_evd_post_se(evd, &e);
}

static DAT_CNO_HANDLE make_cno(struct fx *fx)
{
    DAT_CNO_HANDLE cno;

    must_rc(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS,
            "dat_cno_create");
    return cno;
}

static DAT_EVD_HANDLE make_evd(struct fx *fx, DAT_CNO_HANDLE cno)
{
    DAT_EVD_HANDLE evd;

    must_rc(dat_evd_create(fx->ia, 16, cno, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_SUCCESS,
            "dat_evd_create");
    return evd;
}

static bool silent(DAT_CNO_HANDLE cno)
{
    DAT_EVD_HANDLE evd = UNTOUCHED;

    return rc_is(dat_cno_wait(cno, QUIET_MS * 1000, &evd), DAT_QUEUE_EMPTY);
}

static void basics(struct fx *fx)
{
    DAT_CNO_HANDLE cno = make_cno(fx);
    DAT_EVD_HANDLE evd = make_evd(fx, cno), got = UNTOUCHED;
    struct waiter w;
    uint64_t start = now_ms();
    DAT_RETURN rc;
    bool done;

    is_type(dat_cno_wait(cno, 100000, &got), DAT_QUEUE_EMPTY,
            "dat_cno_wait: nothing happens for 100 ms: DAT_QUEUE_EMPTY");
    ok(now_ms() - start >= 99, "dat_cno_wait: 100 ms: not earlier");
    is_ptr(got, DAT_HANDLE_NULL, "dat_cno_wait: timeout: the EVD is NULL");

    waiter_start_cno(&w, cno, DAT_TIMEOUT_INFINITE);
    ok(!waiter_done(&w, QUIET_MS), "dat_cno_wait: infinite: does not end by itself");
    is_code(dat_cno_free(cno), DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE,
            "dat_cno_free: an EVD and a waiter: DAT_INVALID_STATE");
    must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
    waiter_join(&w);
    is_success(w.rc, "dat_cno_wait: a software event: success");
    is_ptr(w.hint, evd, "dat_cno_wait: a software event: its EVD");
    is_int(drain(evd), 1, "dat_cno_wait: the event itself is still queued");

    must_rc(post(evd, 2), DAT_SUCCESS, "dat_evd_post_se");
    got = UNTOUCHED;
    is_success(dat_cno_wait(cno, 0, &got), "dat_cno_wait: triggered before, timeout 0: success");
    is_ptr(got, evd, "dat_cno_wait: triggered before: its EVD");
    drain(evd);
    ok(silent(cno), "dat_cno_wait: the trigger was used up: DAT_QUEUE_EMPTY");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");

    evd = make_evd(fx, DAT_HANDLE_NULL);
    for (int i = 1;; i++) {
        waiter_start_cno(&w, cno, DAT_TIMEOUT_INFINITE);
        done = waiter_done(&w, QUIET_MS);
        rc = dat_cno_free(cno);
        if (done || rc != DAT_SUCCESS || i == 20)
            break;
        /* On a busy machine, the thread may not have started its wait: try again. */
        waiter_join(&w);
        cno = make_cno(fx);
    }
    ok(!done, "dat_cno_wait: no EVD attached: waits");
    is_code(rc, DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE, "dat_cno_free: a waiter alone: DAT_INVALID_STATE");
    must_rc(dat_evd_modify_cno(evd, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(post(evd, 3), DAT_SUCCESS, "dat_evd_post_se");
    waiter_join(&w);
    is_success(w.rc, "dat_cno_wait: an EVD attached while it waits: success");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    is_success(dat_cno_free(cno), "dat_cno_free: no EVD, no waiter: success");
}

static void enabling(struct fx *fx)
{
    DAT_CNO_HANDLE cno = make_cno(fx);
    DAT_EVD_HANDLE evd = make_evd(fx, cno), got;

    must_rc(dat_evd_disable(evd), DAT_SUCCESS, "dat_evd_disable");
    must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
    ok(silent(cno), "dat_evd_disable: an event: the CNO is not triggered");
    is_int(drain(evd), 1, "dat_evd_disable: the event is queued all the same");
    must_rc(dat_evd_enable(evd), DAT_SUCCESS, "dat_evd_enable");
    must_rc(post(evd, 2), DAT_SUCCESS, "dat_evd_post_se");
    is_success(dat_cno_wait(cno, env_us(SOON_MS), &got), "dat_evd_enable: an event: triggered");
    drain(evd);

    must_rc(dat_evd_set_unwaitable(evd), DAT_SUCCESS, "dat_evd_set_unwaitable");
    must_rc(post(evd, 3), DAT_SUCCESS, "dat_evd_post_se");
    is_success(dat_cno_wait(cno, env_us(SOON_MS), &got),
               "dat_evd_set_unwaitable: an event: the CNO is triggered");
    drain(evd);
    must_rc(dat_evd_clear_unwaitable(evd), DAT_SUCCESS, "dat_evd_clear_unwaitable");

    {
        struct waiter w;

        waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
        must_rc(post(evd, 4), DAT_SUCCESS, "dat_evd_post_se");
        waiter_join(&w);
        is_success(w.rc, "dat_evd_wait: EVD with a CNO: success");
        ok(silent(cno), "dat_evd_wait: EVD with a CNO: the CNO is not triggered");
    }
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
}

/* Tests several EVDs on one CNO. After each trigger the consumer drains all EVDs. */
static void several(struct fx *fx)
{
    enum { EVDS = 5 };
    DAT_CNO_HANDLE cno = make_cno(fx), other = make_cno(fx);
    DAT_EVD_HANDLE evd[EVDS], got;
    int events = 0, rounds = 0;
    bool member = true;

    for (int i = 0; i < EVDS; i++)
        evd[i] = make_evd(fx, cno);
    for (int i = 0; i < 4 * EVDS; i++)
        must_rc(post(evd[i % EVDS], 1), DAT_SUCCESS, "dat_evd_post_se");
    while (dat_cno_wait(cno, events < 4 * EVDS ? env_us(SOON_MS) : 0, &got) == DAT_SUCCESS) {
        bool known = false;

        for (int i = 0; i < EVDS; i++) {
            known |= got == evd[i];
            events += drain(evd[i]);
        }
        member &= known;
        rounds++;
        if (rounds > 4 * EVDS)
            break;
    }
    is_int(events, 4 * EVDS, "dat_cno_wait: five EVDs: all events are found");
    ok(member, "dat_cno_wait: five EVDs: the hint is one of them");
    ok(rounds <= 4 * EVDS, "dat_cno_wait: five EVDs: no more wake-ups than events");

    is_success(dat_evd_modify_cno(evd[0], other), "dat_evd_modify_cno: to another CNO: success");
    must_rc(post(evd[0], 1), DAT_SUCCESS, "dat_evd_post_se");
    ok(silent(cno), "dat_evd_modify_cno: an event: the old CNO is not triggered");
    is_success(dat_cno_wait(other, env_us(SOON_MS), &got),
               "dat_evd_modify_cno: an event: the new CNO is triggered");
    is_ptr(got, evd[0], "dat_evd_modify_cno: an event: with that EVD");
    is_success(dat_evd_modify_cno(evd[0], DAT_HANDLE_NULL), "dat_evd_modify_cno: NULL: success");
    drain(evd[0]);
    must_rc(post(evd[0], 1), DAT_SUCCESS, "dat_evd_post_se");
    ok(silent(cno) && silent(other), "dat_evd_modify_cno: NULL: nobody is triggered");
    for (int i = 0; i < EVDS; i++)
        must_rc(dat_evd_free(evd[i]), DAT_SUCCESS, "dat_evd_free");
    is_success(dat_cno_free(cno), "dat_cno_free: its EVDs are freed: success");
    is_success(dat_cno_free(other), "dat_cno_free: its EVD was detached: success");
}

/* Checks that each of two triggers wakes one of two waiters. */
static void two_waiters(struct fx *fx)
{
    DAT_CNO_HANDLE cno = make_cno(fx);
    DAT_EVD_HANDLE evd = make_evd(fx, cno);
    struct waiter w[2];
    uint64_t end = now_ms() + env_ms(SOON_MS);

    waiter_start_cno(&w[0], cno, DAT_TIMEOUT_INFINITE);
    waiter_start_cno(&w[1], cno, DAT_TIMEOUT_INFINITE);
    quiet(fx->async); /* give both time to sleep; the result does not depend on it */
    must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
    while (!waiter_done(&w[0], 0) && !waiter_done(&w[1], 0) && now_ms() < end)
        breathe();
    ok(waiter_done(&w[0], 0) || waiter_done(&w[1], 0), "dat_cno_wait: two waiters: one is woken");
    ok(!(waiter_done(&w[0], QUIET_MS) && waiter_done(&w[1], QUIET_MS)),
       "dat_cno_wait: two waiters, one trigger: the other one sleeps on");
    must_rc(post(evd, 2), DAT_SUCCESS, "dat_evd_post_se");
    waiter_join(&w[0]);
    waiter_join(&w[1]);
    ok(w[0].rc == DAT_SUCCESS && w[1].rc == DAT_SUCCESS,
       "dat_cno_wait: two waiters, two triggers: both are woken");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
}

static void closed(void)
{
    struct fx fx;
    DAT_CNO_HANDLE cno;
    struct waiter w;

    fx_open(&fx);
    cno = make_cno(&fx);
    make_evd(&fx, cno);
    waiter_start_cno(&w, cno, DAT_TIMEOUT_INFINITE);
    quiet(fx.async); /* give the waiter time to sleep */
    is_success(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG),
               "dat_ia_close: abrupt, under a CNO waiter: success");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS || rc_is(w.rc, DAT_INVALID_STATE) || rc_is(w.rc, DAT_QUEUE_EMPTY) ||
           rc_is(w.rc, DAT_INVALID_HANDLE),
       "dat_ia_close: under a CNO waiter: its wait ends");
    if (w.rc == DAT_SUCCESS)
        is_ptr(w.hint, DAT_HANDLE_NULL, "dat_ia_close: under a CNO waiter: the EVD is NULL");
}

/* A record of the calls of an agent. */
struct heard {
    volatile int calls;
    DAT_PVOID data;
    DAT_EVD_HANDLE evd;
    bool dequeue; /* the agent dequeues an event */
    DAT_RETURN rc;
};

static void agent(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
    struct heard *h = data;
    DAT_EVENT e;

    h->data = data;
    h->evd = evd;
    if (h->dequeue && evd != DAT_HANDLE_NULL)
        h->rc = dat_evd_dequeue(evd, &e);
    __atomic_fetch_add(&h->calls, 1, __ATOMIC_SEQ_CST);
}

static bool called(void *arg)
{
    return __atomic_load_n(&((struct heard *)arg)->calls, __ATOMIC_SEQ_CST) > 0;
}

static void agents(struct fx *fx)
{
    DAT_OS_WAIT_PROXY_AGENT a;
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd, got;
    struct heard one, two;

    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    a.instance_data = &one;
    a.proxy_agent_func = agent;
    is_success(dat_cno_create(fx->ia, a, &cno), "dat_cno_create: with an agent: success");
    evd = make_evd(fx, cno);
    must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
    ok(wait_until(called, &one, SOON_MS), "agent: a trigger: it is called");
    is_ptr(one.evd, evd, "agent: a trigger: with the EVD");
    is_success(dat_cno_wait(cno, env_us(SOON_MS), &got), "agent: a trigger: waiters hear it as well");
    drain(evd);

    a.instance_data = &two;
    two.dequeue = true;
    two.rc = DAT_INTERNAL_ERROR;
    is_success(dat_cno_modify_agent(cno, a), "dat_cno_modify_agent: another: success");
    one.calls = 0;
    must_rc(post(evd, 2), DAT_SUCCESS, "dat_evd_post_se");
    ok(wait_until(called, &two, SOON_MS), "dat_cno_modify_agent: a trigger: the new one is called");
    is_int(one.calls, 0, "dat_cno_modify_agent: a trigger: the old one is not");
    is_success(two.rc, "agent: it calls the library: success");
    dat_cno_wait(cno, 0, &got);

    is_success(dat_cno_modify_agent(cno, DAT_OS_WAIT_PROXY_AGENT_NULL),
               "dat_cno_modify_agent: NULL: success");
    two.calls = 0;
    must_rc(post(evd, 3), DAT_SUCCESS, "dat_evd_post_se");
    is_success(dat_cno_wait(cno, env_us(SOON_MS), &got),
               "dat_cno_modify_agent: NULL: waiters are woken as before");
    is_int(two.calls, 0, "dat_cno_modify_agent: NULL: nobody else is called");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
}

/* Counters of an agent. `late` counts its activity after its removal. */
struct strict {
    int over; /* the removing call has returned */
    int running;
    int calls;
    int late;
};

static void strict_agent(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
    struct strict *s = data;

    (void)evd;
    __atomic_store_n(&s->running, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 20; i++) {
        __atomic_fetch_add(&s->late, __atomic_load_n(&s->over, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
        breathe();
    }
    __atomic_fetch_add(&s->calls, 1, __ATOMIC_SEQ_CST);
}

static bool is_running(void *arg)
{
    return __atomic_load_n(&((struct strict *)arg)->running, __ATOMIC_SEQ_CST) != 0;
}

/* After its removal, an agent is neither running nor called again. */
static void agents_end(struct fx *fx)
{
    enum { MAX_ROUNDS = 200 };
    static struct strict old[2 * MAX_ROUNDS], new[MAX_ROUNDS];
    DAT_OS_WAIT_PROXY_AGENT a;
    int rounds = env_count(MAX_ROUNDS, 20), late = 0, begun = 0, heard = 0;

    a.proxy_agent_func = strict_agent;
    for (int i = 0; i < 2 * rounds; i++) {
        DAT_CNO_HANDLE cno;
        DAT_EVD_HANDLE evd;

        a.instance_data = &old[i];
        must_rc(dat_cno_create(fx->ia, a, &cno), DAT_SUCCESS, "dat_cno_create");
        evd = make_evd(fx, cno);
        must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
        if (i % 4 >= 2) /* remove the agent during a call, too, not only before it */
            begun += wait_until(is_running, &old[i], SOON_MS);
        if (i % 2 == 0) {
            must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
            must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
            __atomic_store_n(&old[i].over, 1, __ATOMIC_SEQ_CST);
            continue;
        }
        a.instance_data = &new[i / 2];
        must_rc(dat_cno_modify_agent(cno, a), DAT_SUCCESS, "dat_cno_modify_agent");
        __atomic_store_n(&old[i].over, 1, __ATOMIC_SEQ_CST);
        must_rc(post(evd, 2), DAT_SUCCESS, "dat_evd_post_se");
        heard += wait_until(is_running, &new[i / 2], SOON_MS);
        must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
        must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
        __atomic_store_n(&new[i / 2].over, 1, __ATOMIC_SEQ_CST);
    }
    quiet(fx->async);
    for (int i = 0; i < 2 * rounds; i += 2)
        late += __atomic_load_n(&old[i].late, __ATOMIC_SEQ_CST) != 0;
    is_int(late, 0, "dat_cno_free: %d times with a call due or under way: none once it returned",
           rounds);
    for (int i = 1; i < 2 * rounds; i += 2)
        late += __atomic_load_n(&old[i].late, __ATOMIC_SEQ_CST) != 0 ||
                __atomic_load_n(&new[i / 2].late, __ATOMIC_SEQ_CST) != 0;
    is_int(late, 0, "dat_cno_modify_agent: %d times with a call due or under way: none of the old "
                    "agent once it returned", rounds);
    is_int(heard, rounds, "dat_cno_modify_agent: the new one hears of the next trigger");
    is_int(begun, rounds, "agent: a trigger: it is called");
}

/* An agent that arms itself once more, and then frees its CNO. */
struct leaving {
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd;
    DAT_RETURN rc[3];
    int calls;
};

static void leaving_agent(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
    struct leaving *l = data;
    DAT_OS_WAIT_PROXY_AGENT again;

    again.instance_data = data;
    again.proxy_agent_func = leaving_agent;
    if (__atomic_load_n(&l->calls, __ATOMIC_SEQ_CST) == 0) {
        l->rc[0] = dat_cno_modify_agent(l->cno, again);
    } else {
        l->rc[1] = dat_evd_modify_cno(evd, DAT_HANDLE_NULL);
        l->rc[2] = dat_cno_free(l->cno);
    }
    __atomic_fetch_add(&l->calls, 1, __ATOMIC_SEQ_CST);
}

static bool left_once(void *arg)
{
    return __atomic_load_n(&((struct leaving *)arg)->calls, __ATOMIC_SEQ_CST) >= 1;
}

static bool left_twice(void *arg)
{
    return __atomic_load_n(&((struct leaving *)arg)->calls, __ATOMIC_SEQ_CST) >= 2;
}

static void agent_leaves(struct fx *fx)
{
    struct leaving l;
    DAT_OS_WAIT_PROXY_AGENT a;
    DAT_CNO_PARAM p;

    memset(&l, 0, sizeof l);
    l.rc[0] = l.rc[1] = l.rc[2] = DAT_INTERNAL_ERROR;
    must_rc(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &l.cno), DAT_SUCCESS,
            "dat_cno_create");
    l.evd = make_evd(fx, l.cno);
    a.instance_data = &l;
    a.proxy_agent_func = leaving_agent;
    must_rc(dat_cno_modify_agent(l.cno, a), DAT_SUCCESS, "dat_cno_modify_agent");
    must_rc(post(l.evd, 1), DAT_SUCCESS, "dat_evd_post_se");
    ok(wait_until(left_once, &l, SOON_MS), "agent: it arms itself again: the call returns");
    is_success(l.rc[0], "dat_cno_modify_agent: within the agent: success");
    must_rc(post(l.evd, 2), DAT_SUCCESS, "dat_evd_post_se");
    ok(wait_until(left_twice, &l, SOON_MS), "agent: armed again by itself: it is called again");
    is_success(l.rc[1], "dat_evd_modify_cno: within the agent: success");
    is_success(l.rc[2], "dat_cno_free: within the agent: success");
    is_type(dat_cno_query(l.cno, DAT_CNO_FIELD_ALL, &p), DAT_INVALID_HANDLE,
            "dat_cno_query: freed within the agent: DAT_INVALID_HANDLE");
    must_rc(dat_evd_free(l.evd), DAT_SUCCESS, "dat_evd_free");
}

static void streams(struct fx *fx)
{
    DAT_CNO_HANDLE cno = make_cno(fx);
    struct pair p;
    struct region r;
    DAT_EVD_HANDLE got;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;

    region_make(fx, &r, 128, MEM_LOCAL);
    side_make(&p.a, fx, NULL);
    side_make(&p.b, fx, NULL);
    must_rc(dat_evd_modify_cno(fx->cr, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(dat_evd_modify_cno(p.a.conn, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(dat_evd_modify_cno(p.b.recv, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    is_success(dat_evd_modify_cno(fx->async, cno), "dat_evd_modify_cno: asynchronous EVD: success");
    psp = fx_listen(fx, &qual);
    must_rc(side_connect(&p.a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    is_success(dat_cno_wait(cno, env_us(SOON_MS), &got), "dat_cno_wait: a request: success");
    is_ptr(got, fx->cr, "dat_cno_wait: a request: its EVD");
    must_rc(dat_cr_accept(next_request(fx->cr), p.b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    is_success(dat_cno_wait(cno, env_us(SOON_MS), &got), "dat_cno_wait: ESTABLISHED: success");
    is_ptr(got, p.a.conn, "dat_cno_wait: ESTABLISHED: its EVD");
    must(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
             wait_connection(p.b.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
         "no connection");
    must_rc(post_recv(&p.b, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.a, &r, 64, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    is_success(dat_cno_wait(cno, env_us(SOON_MS), &got), "dat_cno_wait: a message: success");
    is_ptr(got, p.b.recv, "dat_cno_wait: a message: its EVD");
    is_int(drain_dtos(p.b.recv, 1), 1, "dat_cno_wait: a message: it is there");
    must_rc(dat_evd_modify_cno(fx->async, DAT_HANDLE_NULL), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(dat_evd_modify_cno(fx->cr, DAT_HANDLE_NULL), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    pair_close(&p);
    region_free(&r);
    is_success(dat_cno_free(cno), "dat_cno_free: all detached or freed: success");
}

/* The other process: sends one message per order. */
static int teller(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    int rounds = 0;

    must(LINK_RECV(up, rounds), "no orders");
    fx_open(&fx);
    region_make(&fx, &r, 64, MEM_LOCAL);
    side_make(&s, &fx, NULL);
    side_connect_peer(&s, up);
    for (int i = 0; i < rounds; i++) {
        must(link_hear(up, "tell"), "no orders");
        must_rc(post_send(&s, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_send");
        must(wait_dto(s.req, 1, DAT_DTO_SUCCESS, NULL), "the message does not arrive");
    }
    must(link_hear(up, "leave"), "no orders");
    side_free(&s);
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static void agent_alone(struct fx *fx)
{
    enum { ROUNDS = 6 };
    DAT_OS_WAIT_PROXY_AGENT a;
    DAT_CNO_HANDLE cno;
    struct heard h;
    struct region r;
    struct peer p;
    struct side s;
    DAT_EVENT e;
    int rounds = ROUNDS, told = 0, right = 0, taken = 0;

    memset(&h, 0, sizeof h);
    a.instance_data = &h;
    a.proxy_agent_func = agent;
    region_make(fx, &r, 64, MEM_LOCAL);
    side_make(&s, fx, NULL);
    peer_start(&p, "teller");
    must(LINK_SEND(&p.link, rounds), "the peer has exited");
    side_accept_peer(&s, &p.link);
    must_rc(dat_cno_create(fx->ia, a, &cno), DAT_SUCCESS, "dat_cno_create");
    must_rc(dat_evd_modify_cno(s.recv, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    for (int i = 0; i < rounds; i++) {
        must_rc(post_recv(&s, &r, 0, 64, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
        __atomic_store_n(&h.calls, 0, __ATOMIC_SEQ_CST);
        h.evd = UNTOUCHED;
        h.rc = DAT_INTERNAL_ERROR;
        h.dequeue = i % 2 == 1;
        must_rc(dat_cno_modify_agent(cno, a), DAT_SUCCESS, "dat_cno_modify_agent");
        must(link_say(&p.link, "tell"), "the peer has exited");
        if (!wait_until(called, &h, SOON_MS))
            break;
        told++;
        right += h.evd == s.recv;
        taken += h.dequeue ? h.rc == DAT_SUCCESS
                           : dat_evd_dequeue(s.recv, &e) == DAT_SUCCESS;
    }
    is_int(told, rounds, "agent: a message, no thread in the library: it is called each time");
    is_int(right, rounds, "agent: a message, no thread in the library: with the EVD");
    is_int(taken, rounds, "agent: a message, no thread in the library: the event is there");

    __atomic_store_n(&h.calls, 0, __ATOMIC_SEQ_CST);
    h.dequeue = false;
    must_rc(dat_evd_modify_cno(s.conn, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(dat_cno_modify_agent(cno, a), DAT_SUCCESS, "dat_cno_modify_agent");
    must(link_say(&p.link, "leave"), "the peer has exited");
    ok(wait_until(called, &h, SOON_MS) && h.evd == s.conn,
       "agent: DISCONNECTED, no thread in the library: it is called with the EVD");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
       "agent: DISCONNECTED, no thread in the library: the event is there");
    link_say(&p.link, "bye");
    peer_ok(&p, "agent: no thread in the library: the other process ends well");
    side_free(&s);
    region_free(&r);
    is_success(dat_cno_free(cno), "dat_cno_free: with an agent, its EVDs are freed: success");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "teller", teller }, { NULL, NULL } };
    struct fx fx;
    DAT_CNO_HANDLE cno;
    DAT_RETURN rc;

    env_init(argc, argv, roles);
    fx_open(&fx);
    rc = dat_cno_create(fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno);
    if (rc_not_implemented(rc)) {
        fx_close(&fx);
        skip_all("dat_cno_create: not implemented");
    }
    must_rc(rc, DAT_SUCCESS, "dat_cno_create");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
    basics(&fx);
    enabling(&fx);
    several(&fx);
    two_waiters(&fx);
    closed();
    agents(&fx);
    agents_end(&fx);
    agent_leaves(&fx);
    streams(&fx);
    agent_alone(&fx);
    fx_close(&fx);
    return done_testing();
}
