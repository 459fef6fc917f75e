/* events.c - properties of events and threads that programs need. */
#define _POSIX_C_SOURCE 200809L
#include "common/waiter.h"

#include <string.h>
#include <time.h>

static DAT_RETURN post(DAT_EVD_HANDLE evd)
{
    DAT_EVENT e;

    memset(&e, 0, sizeof e);
    e.event_number = DAT_SOFTWARE_EVENT;
    return dat_evd_post_se(evd, &e);
}

/* ---- 21 ---- */

static void lengths(struct fx *fx)
{
    int wrong = 0, tried = 0;

    for (DAT_COUNT n = 1; n <= 70000; n = n < 40 ? n + 1 : n * 3 / 2 + 1) {
        DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
        DAT_EVD_PARAM p;

        tried++;
        if (dat_evd_create(fx->ia, n, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd) != DAT_SUCCESS ||
            dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p) != DAT_SUCCESS || p.evd_qlen < n) {
            diag("length %d", (int)n);
            wrong++;
        }
        if (evd != DAT_HANDLE_NULL)
            dat_evd_free(evd);
    }
    is_int(wrong, 0, "21: evd_qlen is at least what was asked for, %d lengths", tried);
}

/* The state of a thread that sends constantly while the EVDs are resized. */
struct traffic {
    struct pair p;
    struct region r;
    volatile int stop;
    int sent;
    bool failed;
};

static void *sender(void *arg)
{
    struct traffic *t = arg;

    while (!__atomic_load_n(&t->stop, __ATOMIC_SEQ_CST)) {
        DAT_EVENT e;

        if (post_send(&t->p.a, &t->r, 0, 64, (DAT_UINT64)t->sent) != DAT_SUCCESS ||
            !poll_event(t->p.a.req, &e) ||
            e.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS ||
            e.event_data.dto_completion_event_data.user_cookie.as_64 != (DAT_UINT64)t->sent) {
            t->failed = true;
            break;
        }
        t->sent++;
    }
    return NULL;
}

static void resized_under_traffic(struct fx *fx)
{
    static struct traffic t;
    pthread_t thread;
    int received = 0, resized = 0, refused = 0, rounds = env_count(2000, 100);
    bool in_order = true;

    memset(&t, 0, sizeof t);
    pair_open(&t.p, fx, NULL);
    region_make(fx, &t.r, 4096, MEM_LOCAL);
    for (unsigned i = 0; i < 16; i++)
        must_rc(post_recv(&t.p.b, &t.r, 64, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
    must(pthread_create(&thread, NULL, sender, &t) == 0, "no thread");
    while (resized + refused < rounds && !t.failed) {
        DAT_RETURN rc = dat_evd_resize(t.p.b.recv, 20 + (resized * 37) % 500);
        DAT_EVENT e;

        if (rc == DAT_SUCCESS)
            resized++;
        else
            refused++;
        while (dat_evd_dequeue(t.p.b.recv, &e) == DAT_SUCCESS) {
            in_order &= e.event_data.dto_completion_event_data.user_cookie.as_64 ==
                        (DAT_UINT64)received;
            received++;
            must_rc(post_recv(&t.p.b, &t.r, 64, 64, (DAT_UINT64)(received + 15)), DAT_SUCCESS,
                    "dat_ep_post_recv");
        }
    }
    __atomic_store_n(&t.stop, 1, __ATOMIC_SEQ_CST);
    /* The sender may wait for a receive. */
    {
        struct timespec tick = { 0, 1000000 };
        DAT_EVENT e;
        uint64_t end = now_ms() + env_ms(SOON_MS);

        do {
            while (dat_evd_dequeue(t.p.b.recv, &e) == DAT_SUCCESS) {
                in_order &= e.event_data.dto_completion_event_data.user_cookie.as_64 ==
                            (DAT_UINT64)received;
                received++;
                post_recv(&t.p.b, &t.r, 64, 64, (DAT_UINT64)(received + 15));
            }
            nanosleep(&tick, NULL);
        } while (received < __atomic_load_n(&t.sent, __ATOMIC_SEQ_CST) && now_ms() < end);
    }
    pthread_join(thread, NULL);
    received += drain(t.p.b.recv);
    ok(!t.failed && in_order, "21: dat_evd_resize under traffic: every message, in order");
    is_int(refused, 0, "21: dat_evd_resize under traffic: %d times, success", resized);
    is_int(received, t.sent, "21: dat_evd_resize under traffic: no event is lost");
    ok(quiet(fx->async), "21: dat_evd_resize under traffic: no overflow");
    pair_close(&t.p);
    region_free(&t.r);
}

/* ---- 22, 23 ---- */

/* Tests codes that programs compare as a whole, such as dat_evd_dequeue(evd, &e) == DAT_QUEUE_EMPTY. */
static void class_bits(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG), hint;
    DAT_CNO_HANDLE cno;
    DAT_CONN_QUAL q = 0;
    DAT_PSP_HANDLE psp = fx_listen(fx, &q), other;
    DAT_RSP_HANDLE rsp;
    DAT_EVENT e;
    DAT_COUNT n;
    struct side s;
    const char *major = NULL, *minor = NULL;

    side_make(&s, fx, NULL);
    must_rc(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS,
            "dat_cno_create");
    is_int(dat_evd_dequeue(evd, &e), 0x000D0000,
           "22: dat_evd_dequeue: software events: the bare constant DAT_QUEUE_EMPTY");
    is_int(dat_evd_dequeue(fx->async, &e), 0x000D0000,
           "22: dat_evd_dequeue: asynchronous: the bare constant DAT_QUEUE_EMPTY");
    is_int(dat_evd_dequeue(s.recv, &e), 0x000D0000,
           "22: dat_evd_dequeue: completions: the bare constant DAT_QUEUE_EMPTY");
    is_int(dat_evd_dequeue(fx->cr, &e), 0x000D0000,
           "22: dat_evd_dequeue: requests: the bare constant DAT_QUEUE_EMPTY");
    is_int(dat_cno_wait(cno, 0, &hint), 0x000D0000,
           "22: dat_cno_wait: timeout 0: the bare constant DAT_QUEUE_EMPTY");
    is_int(dat_cno_wait(cno, 20000, &hint), 0x000D0000,
           "22: dat_cno_wait: timeout 20 ms: the bare constant DAT_QUEUE_EMPTY");
    is_int(dat_psp_create(fx->ia, q, fx->cr, DAT_PSP_CONSUMER_FLAG, &other), 0x00020000,
           "22: dat_psp_create: the bare constant DAT_CONN_QUAL_IN_USE");
    is_int(dat_rsp_create(fx->ia, q, s.ep, fx->cr, &rsp), DAT_CLASS_ERROR | DAT_CONN_QUAL_IN_USE,
           "22: dat_rsp_create: DAT_CONN_QUAL_IN_USE with the class bit");
    is_int(dat_evd_wait(evd, 0, 1, &e, &n), DAT_CLASS_ERROR | DAT_TIMEOUT_EXPIRED,
           "22: dat_evd_wait: timeout 0: DAT_TIMEOUT_EXPIRED with the class bit");
    is_int(dat_evd_wait(evd, 20000, 1, &e, &n), DAT_CLASS_ERROR | DAT_TIMEOUT_EXPIRED,
           "22: dat_evd_wait: timeout 20 ms: DAT_TIMEOUT_EXPIRED with the class bit");
    ok(DAT_GET_TYPE(dat_evd_dequeue(evd, &e)) == DAT_QUEUE_EMPTY,
       "22: dat_evd_dequeue: a program that compares types is right as well");
    is_success(dat_strerror(dat_evd_dequeue(evd, &e), &major, &minor),
               "22: dat_strerror: of the bare constant: success");
    ok(major != NULL && strcmp(major, "DAT_QUEUE_EMPTY") == 0 && minor != NULL && minor[0] == '\0',
       "22: dat_strerror: of the bare constant: its name and no detail");
    side_free(&s);
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void texts(void)
{
    int missing = 0;

    for (DAT_UINT32 type = 0; type <= DAT_CONN_QUAL_UNAVAILABLE; type += 0x10000)
        for (DAT_UINT32 sub = 0; sub <= DAT_THREAD_SAFETY_NOT_FOUND; sub++) {
            const char *major = NULL, *minor = NULL;

            if (dat_strerror((type != 0 ? DAT_CLASS_ERROR : 0) | type | sub, &major, &minor) !=
                    DAT_SUCCESS ||
                major == NULL || minor == NULL)
                missing++;
        }
    is_int(missing, 0, "23: dat_strerror: succeeds for every code there is");
}

/* ---- 24 ---- */

struct cancelled {
    DAT_EVD_HANDLE evd;
    volatile int inside;
    volatile int returned;
};

static void *wait_for_ever(void *arg)
{
    struct cancelled *c = arg;
    DAT_EVENT e;
    DAT_COUNT n;

    __atomic_store_n(&c->inside, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        dat_evd_wait(c->evd, DAT_TIMEOUT_INFINITE, 1, &e, &n);
        __atomic_store_n(&c->returned, 1, __ATOMIC_SEQ_CST);
        pthread_testcancel();
    }
    return NULL;
}

struct joiner {
    pthread_t who;
    void *result;
    volatile int done;
};

static void *join_it(void *arg)
{
    struct joiner *j = arg;

    pthread_join(j->who, &j->result);
    __atomic_store_n(&j->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static bool joined(void *arg)
{
    return __atomic_load_n(&((struct joiner *)arg)->done, __ATOMIC_SEQ_CST);
}

static void cancelled_waiter(struct fx *fx)
{
    struct pair p;
    int good = 0;

    pair_open(&p, fx, NULL);
    for (int round = 0; round < 5; round++) {
        DAT_CONN_QUAL qual;
        DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
        struct cancelled c;
        struct joiner j;
        pthread_t thread, helper;
        DAT_EVENT e;
        uint64_t end = now_ms() + env_ms(SOON_MS);
        DAT_RETURN rc;

        memset(&c, 0, sizeof c);
        memset(&j, 0, sizeof j);
        c.evd = fx->cr;
        must(pthread_create(&thread, NULL, wait_for_ever, &c) == 0, "no thread");
        while (!rc_is(rc = dat_evd_dequeue(fx->cr, &e), DAT_INVALID_STATE)) {
            must(now_ms() < end, "the thread does not wait: %s", rc_text(rc));
            breathe();
        }
        if (!sides_talk(&p.a, &p.b)) /* while the other thread waits */
            break;
        pthread_cancel(thread);
        j.who = thread;
        must(pthread_create(&helper, NULL, join_it, &j) == 0, "no thread");
        if (!wait_until(joined, &j, SOON_MS)) {
            fail("24: pthread_cancel in dat_evd_wait: the thread ends");
            return;
        }
        pthread_join(helper, NULL);
        if (j.result != PTHREAD_CANCELED || c.returned)
            break;
        /* The cancelled thread holds no lock, and the EVD has no waiter. */
        if (!rc_is(dat_evd_dequeue(fx->cr, &e), DAT_QUEUE_EMPTY))
            break;
        {
            struct side s;

            side_make(&s, fx, NULL);
            must_rc(side_connect(&s, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
            if (!wait_number(fx->cr, DAT_CONNECTION_REQUEST_EVENT, &e))
                break;
            must_rc(dat_cr_reject(e.event_data.cr_arrival_event_data.cr_handle), DAT_SUCCESS,
                    "dat_cr_reject");
            side_free(&s);
        }
        must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
        if (!sides_talk(&p.a, &p.b))
            break;
        good++;
    }
    is_int(good, 5, "24: pthread_cancel in the middle of dat_evd_wait: nothing stays locked");
    pair_close(&p);
}

struct worker {
    struct side *side;
    struct region *region;
    DAT_SRQ_HANDLE srq; /* NULL if not implemented */
    int rounds;
    int posted;   /* number of successful rounds of posts */
    int fetched;  /* send completions */
    int received;
    int failed;
    DAT_EVD_HANDLE idle; /* EVD of the last wait; if NULL, the thread calls pthread_testcancel() instead */
    int came_back;
};

/* Posts a receive, an SRQ buffer, and a send, which wakes the peer. */
static bool posts(struct worker *w)
{
    DAT_UINT64 cookie = (DAT_UINT64)w->posted;
    DAT_LMR_TRIPLET t = segment(w->region, 128, 64);
    DAT_DTO_COOKIE c;

    memset(&c, 0, sizeof c);
    c.as_64 = cookie;
    return post_recv(w->side, w->region, 128, 64, cookie) == DAT_SUCCESS &&
           (w->srq == DAT_HANDLE_NULL || dat_srq_post_recv(w->srq, 1, &t, c) == DAT_SUCCESS) &&
           post_send(w->side, w->region, 0, 64, cookie) == DAT_SUCCESS;
}

/* The thread is cancelled before its first library call, but only its last call is a cancellation point. */
static void *work(void *arg)
{
    struct worker *w = arg;
    uint64_t end = now_ms() + env_ms(3 * SOON_MS);
    DAT_EVENT e;
    DAT_COUNT n;

    pthread_cancel(pthread_self());
    while ((w->fetched < w->rounds || w->received < w->rounds) && !w->failed && now_ms() < end) {
        DAT_HANDLE_TYPE type;

        if (w->posted < w->rounds && w->posted == w->received) {
            if (posts(w))
                w->posted++;
            else
                w->failed++;
        }
        if (dat_evd_dequeue(w->side->req, &e) == DAT_SUCCESS)
            w->fetched++;
        /* This dequeue also wakes the peer, which waits for its send completion. */
        if (dat_evd_dequeue(w->side->recv, &e) == DAT_SUCCESS)
            w->received++;
        if (dat_get_handle_type(w->side->ep, &type) != DAT_SUCCESS || type != DAT_HANDLE_TYPE_EP)
            w->failed++;
    }
    if (w->idle != DAT_HANDLE_NULL)
        dat_evd_wait(w->idle, DAT_TIMEOUT_INFINITE, 1, &e, &n);
    else
        pthread_testcancel();
    w->came_back = 1;
    return NULL;
}

/* Creates an SRQ for n buffers. Returns NULL if not implemented. */
static DAT_SRQ_HANDLE shared_queue(struct fx *fx, int n)
{
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    DAT_SRQ_ATTR attr;
    DAT_RETURN rc;

    memset(&attr, 0, sizeof attr);
    attr.max_recv_dtos = n;
    attr.max_recv_iov = 1;
    attr.low_watermark = DAT_SRQ_LW_DEFAULT;
    rc = dat_srq_create(fx->ia, fx->pz, &attr, &srq);
    if (!rc_not_implemented(rc))
        must_rc(rc, DAT_SUCCESS, "dat_srq_create");
    return srq;
}

static void cancelled_worker(struct fx *fx)
{
    for (int waits = 0; waits < 2; waits++) {
        const char *where = waits ? "dat_evd_wait" : "pthread_testcancel";
        DAT_EVD_HANDLE idle = fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG);
        DAT_EP_ATTR attr;
        DAT_EVENT e;
        struct region r;
        struct worker w;
        struct joiner j;
        pthread_t thread, helper;
        struct pair p;
        int arrived = 0;

        memset(&w, 0, sizeof w);
        memset(&j, 0, sizeof j);
        w.rounds = env_count(200, 50);
        attr_default(&attr);
        attr.max_recv_dtos = attr.max_request_dtos = w.rounds;
        pair_open(&p, fx, &attr);
        must_rc(dat_evd_resize(p.b.recv, w.rounds), DAT_SUCCESS, "dat_evd_resize");
        must_rc(dat_evd_resize(p.a.req, w.rounds), DAT_SUCCESS, "dat_evd_resize");
        region_make(fx, &r, 256, MEM_LOCAL);
        for (int i = 0; i < w.rounds; i++)
            must_rc(post_recv(&p.b, &r, 64, 64, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
        w.side = &p.a;
        w.region = &r;
        w.srq = shared_queue(fx, w.rounds);
        w.idle = waits ? idle : DAT_HANDLE_NULL;
        must(pthread_create(&thread, NULL, work, &w) == 0, "no thread");
        j.who = thread;
        must(pthread_create(&helper, NULL, join_it, &j) == 0, "no thread");
        /* The peer of the thread: replies to each message. */
        while (arrived < w.rounds &&
               wait_dto(p.b.recv, (DAT_UINT64)arrived, DAT_DTO_SUCCESS, NULL) &&
               post_send(&p.b, &r, 192, 64, (DAT_UINT64)arrived) == DAT_SUCCESS &&
               wait_dto(p.b.req, (DAT_UINT64)arrived, DAT_DTO_SUCCESS, NULL))
            arrived++;
        if (!wait_until(joined, &j, SOON_MS)) {
            fail("24: cancelled, then in %s: the thread ends", where);
            return;
        }
        pthread_join(helper, NULL);
        ok(w.posted == w.rounds && w.fetched == w.rounds && w.received == w.rounds && !w.failed &&
               arrived == w.rounds,
           "24: cancelled, then in %s: %d rounds of posts and dequeues before it: all succeed", where,
           w.rounds);
        ok(j.result == PTHREAD_CANCELED && !w.came_back,
           "24: cancelled, then in %s: there the thread ends", where);
        ok(rc_is(dat_evd_dequeue(idle, &e), DAT_QUEUE_EMPTY) && sides_talk(&p.a, &p.b),
           "24: cancelled, then in %s: afterwards nothing is locked", where);
        must_rc(dat_evd_free(idle), DAT_SUCCESS, "dat_evd_free");
        pair_close(&p);
        if (w.srq != DAT_HANDLE_NULL)
            must_rc(dat_srq_free(w.srq), DAT_SUCCESS, "dat_srq_free");
        region_free(&r);
    }
}

/* ---- 25 ---- */

static void notification(struct fx *fx)
{
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE evd[3], got;
    DAT_RETURN rc = dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno);
    int woken = 0;

    if (rc_not_implemented(rc)) {
        skip_named("25: a CNO over several EVDs", "not implemented");
        return;
    }
    must_rc(rc, DAT_SUCCESS, "dat_cno_create");
    for (int i = 0; i < 3; i++)
        evd[i] = fx_evd(fx, 8, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 3; i++)
            must_rc(dat_evd_modify_cno(evd[i], cno), DAT_SUCCESS, "dat_evd_modify_cno");
        must_rc(dat_evd_modify_cno(fx->async, cno), DAT_SUCCESS, "dat_evd_modify_cno");
        must_rc(post(evd[round % 3]), DAT_SUCCESS, "dat_evd_post_se");
        woken += dat_cno_wait(cno, env_us(SOON_MS), &got) == DAT_SUCCESS && got == evd[round % 3];
        for (int i = 0; i < 3; i++) {
            drain(evd[i]);
            must_rc(dat_evd_modify_cno(evd[i], DAT_HANDLE_NULL), DAT_SUCCESS, "dat_evd_modify_cno");
        }
        must_rc(dat_evd_modify_cno(fx->async, DAT_HANDLE_NULL), DAT_SUCCESS, "dat_evd_modify_cno");
    }
    is_int(woken, 20, "25: a CNO over several EVDs, moved on and off, also the asynchronous one: "
                      "software events wake it");
    for (int i = 0; i < 3; i++)
        must_rc(dat_evd_free(evd[i]), DAT_SUCCESS, "dat_evd_free");
    is_success(dat_cno_free(cno), "25: the CNO can be freed afterwards");
}

/* ---- 26, 27 ---- */

static void queries(struct fx *fx)
{
    DAT_IA_ATTR ia;
    DAT_PROVIDER_ATTR provider;

    is_success(dat_ia_query(fx->ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL),
               "26: dat_ia_query: EVD NULL, provider mask 0 and NULL: success");
    is_success(dat_ia_query(fx->ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &provider),
               "26: dat_ia_query: EVD NULL, adapter mask 0 and NULL: success");
    is_success(dat_ia_query(fx->ia, NULL, 0, NULL, 0, NULL), "26: dat_ia_query: all NULL: success");
}

static void endpoint_in_event(struct fx *fx)
{
    struct pair p, q;
    struct region r;
    DAT_EVD_HANDLE recv = fx_evd(fx, 16, DAT_EVD_DTO_FLAG);
    DAT_EP_ATTR attr;
    DAT_EVENT e;
    int right = 0;

    attr_default(&attr);
    region_make(fx, &r, 64, MEM_LOCAL);
    pair_open(&p, fx, NULL);
    pair_close(&p);
    side_make(&p.a, fx, NULL);
    side_make(&p.b, fx, NULL);
    side_make(&q.a, fx, NULL);
    side_make(&q.b, fx, NULL);
    must_rc(dat_ep_free(p.b.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_free(q.b.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_create(fx->ia, fx->pz, recv, p.b.req, p.b.conn, &attr, &p.b.ep), DAT_SUCCESS,
            "dat_ep_create");
    must_rc(dat_ep_create(fx->ia, fx->pz, recv, q.b.req, p.b.conn, &attr, &q.b.ep), DAT_SUCCESS,
            "dat_ep_create");
    for (int i = 0; i < 2; i++) {
        struct side *a = i == 0 ? &p.a : &q.a, *b = i == 0 ? &p.b : &q.b;
        DAT_CONN_QUAL qual;
        DAT_PSP_HANDLE psp = fx_listen(fx, &qual);

        must_rc(side_connect(a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
        must_rc(dat_cr_accept(next_request(fx->cr), b->ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        right += wait_number(p.b.conn, DAT_CONNECTION_EVENT_ESTABLISHED, &e) &&
                 e.event_data.connect_event_data.ep_handle == b->ep &&
                 wait_number(a->conn, DAT_CONNECTION_EVENT_ESTABLISHED, &e) &&
                 e.event_data.connect_event_data.ep_handle == a->ep;
        must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    }
    for (int i = 0; i < 10; i++) {
        struct side *a = i % 3 == 0 ? &p.a : &q.a, *b = i % 3 == 0 ? &p.b : &q.b;

        must_rc(post_recv(b, &r, 0, 8, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(a, &r, 16, 8, 2), DAT_SUCCESS, "dat_ep_post_send");
        right += wait_number(recv, DAT_DTO_COMPLETION_EVENT, &e) &&
                 e.event_data.dto_completion_event_data.ep_handle == b->ep &&
                 wait_number(a->req, DAT_DTO_COMPLETION_EVENT, &e) &&
                 e.event_data.dto_completion_event_data.ep_handle == a->ep;
    }
    for (int i = 0; i < 2; i++) {
        struct side *a = i == 0 ? &p.a : &q.a, *b = i == 0 ? &p.b : &q.b;

        must_rc(dat_ep_disconnect(a->ep, DAT_CLOSE_DEFAULT), DAT_SUCCESS, "dat_ep_disconnect");
        right += wait_number(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED, &e) &&
                 e.event_data.connect_event_data.ep_handle == b->ep;
    }
    is_int(right, 14, "27: ep_handle is valid in each completion and each connection event");
    must_rc(dat_ep_free(q.b.ep), DAT_SUCCESS, "dat_ep_free");
    q.b.ep = DAT_HANDLE_NULL;
    side_free(&q.b);
    side_free(&q.a);
    side_free(&p.a);
    side_free(&p.b);
    must_rc(dat_evd_free(recv), DAT_SUCCESS, "dat_evd_free");
    region_free(&r);
}

int main(int argc, char **argv)
{
    struct fx fx;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    lengths(&fx);
    resized_under_traffic(&fx);
    class_bits(&fx);
    texts();
    notification(&fx);
    queries(&fx);
    endpoint_in_event(&fx);
    cancelled_waiter(&fx);
    cancelled_worker(&fx);
    fx_close(&fx);
    return done_testing();
}
