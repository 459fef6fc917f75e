/*
 * joining.c - an endpoint with an SRQ connects while another endpoint with this SRQ and the same receive EVD
 * has traffic, and a thread resizes the SRQ. The connecting endpoint notifies only of solicited messages, the
 * other endpoint of all messages. The specification advises against this mix of flags on an EVD. A provider
 * may reject it, but must not hang.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include <pthread.h>
#include <string.h>

enum { BUFFERS = 60, SMALLEST = 64, SPAN = 200, SLOT = 64, ROUNDS = 60, WORKERS = 4 };

/* The state of one round. Worker i counts its operations in done[i] and sets left[i] when it returns. */
struct scene {
    struct srq q;
    struct side tx, rx;  /* constant traffic */
    struct side late_tx; /* connects during the traffic; late_rx accepts */
    struct side late_rx;
    DAT_CR_HANDLE request;
    struct region out;
    int stop;
    DAT_RETURN accept_rc;
    long done[WORKERS];
    int left[WORKERS];
    long wrong;
    DAT_RETURN wrong_rc;
    uint64_t target; /* number of received messages for which goes_on() waits */
};

static const char *const worker_names[WORKERS] = { "sender", "receiver", "resizer", "acceptor" };

#define GET(x) __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define PUT(x, v) __atomic_store_n(&(x), (v), __ATOMIC_SEQ_CST)
#define COUNT(x) ((void)__atomic_fetch_add(&(x), 1, __ATOMIC_SEQ_CST))

static void complain(struct scene *s, DAT_RETURN rc)
{
    PUT(s->wrong_rc, rc);
    COUNT(s->wrong);
}

static void *sender(void *arg)
{
    struct scene *s = arg;

    while (!GET(s->stop)) {
        DAT_EVENT e;
        DAT_RETURN rc;

        /* On iWARP a message without a buffer ends the connection. */
        if (env_is_iwarp() && GET(s->done[0]) - GET(s->done[1]) >= BUFFERS) {
            breathe();
            continue;
        }
        rc = post_send(&s->tx, &s->out, 0, 8, 1);

        if (rc == DAT_SUCCESS)
            COUNT(s->done[0]);
        else if (!rc_is(rc, DAT_INSUFFICIENT_RESOURCES))
            complain(s, rc);
        while (dat_evd_dequeue(s->tx.req, &e) == DAT_SUCCESS)
            if (e.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
                complain(s, DAT_SUCCESS);
        if (rc != DAT_SUCCESS)
            breathe();
    }
    PUT(s->left[0], 1);
    return NULL;
}

static void *receiver(void *arg)
{
    struct scene *s = arg;

    while (!GET(s->stop)) {
        DAT_EVENT e;
        DAT_RETURN rc = dat_evd_dequeue(s->rx.recv, &e);

        if (rc == DAT_SUCCESS) {
            const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;
            DAT_COUNT i = srq_buffer(&s->q, d->user_cookie.as_64);

            if (d->status != DAT_DTO_SUCCESS || i < 0)
                complain(s, DAT_SUCCESS);
            else if ((rc = srq_post(&s->q, i)) != DAT_SUCCESS)
                complain(s, rc);
            COUNT(s->done[1]);
        } else if (!rc_is(rc, DAT_QUEUE_EMPTY)) {
            complain(s, rc);
        }
    }
    PUT(s->left[1], 1);
    return NULL;
}

static void *resizer(void *arg)
{
    struct scene *s = arg;

    for (DAT_COUNT i = 0; !GET(s->stop); i++) {
        DAT_RETURN rc = dat_srq_resize(s->q.handle, SMALLEST + (i + 1) % SPAN);

        /* On iWARP the library rejects a size for which the device has no room; see docs/compat.md. */
        if (rc != DAT_SUCCESS && !(env_is_iwarp() && rc_is(rc, DAT_INSUFFICIENT_RESOURCES)))
            complain(s, rc);
        COUNT(s->done[2]);
    }
    PUT(s->left[2], 1);
    return NULL;
}

static void *acceptor(void *arg)
{
    struct scene *s = arg;

    s->accept_rc = dat_cr_accept(s->request, s->late_rx.ep, 0, NULL);
    COUNT(s->done[3]);
    PUT(s->left[3], 1);
    return NULL;
}

static bool under_way(void *arg)
{
    struct scene *s = arg;

    return GET(s->done[0]) > 2 * BUFFERS && GET(s->done[1]) > 2 * BUFFERS && GET(s->done[2]) > 2;
}

static bool has_accepted(void *arg)
{
    return GET(((struct scene *)arg)->left[3]) != 0;
}

static bool goes_on(void *arg)
{
    struct scene *s = arg;

    return (uint64_t)GET(s->done[1]) >= s->target;
}

static bool all_left(void *arg)
{
    struct scene *s = arg;

    return GET(s->left[0]) && GET(s->left[1]) && GET(s->left[2]);
}

/*
 * Waits for a condition. On failure the program ends: a thread that hangs in the library cannot be
 * joined.
 */
static void must_come(bool (*done)(void *), struct scene *s, const char *what, int round)
{
    if (wait_until(done, s, SOON_MS))
        return;
    for (int i = 0; i < WORKERS; i++)
        diag("%s: %ld, %s", worker_names[i], GET(s->done[i]), GET(s->left[i]) ? "ended" : "at it");
    fail("round %d: %s", round, what);
    bail("threads make no progress");
}

/*
 * Creates an endpoint on the queue with this receive EVD and the flag SOLICITED_WAIT. If the provider rejects
 * this flag on the EVD, creates the endpoint with the flag EVD_THRESHOLD and returns false.
 */
static bool late_endpoint(struct side *s, struct fx *fx, DAT_EVD_HANDLE recv, DAT_SRQ_HANDLE srq)
{
    DAT_EP_ATTR attr;
    DAT_RETURN rc;

    attr_default(&attr);
    attr.max_recv_dtos = DAT_HW_DEFAULT;
    attr.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
    memset(s, 0, sizeof *s);
    s->fx = fx;
    s->recv = recv;
    s->req = fx_evd(fx, 64, DAT_EVD_DTO_FLAG);
    s->conn = fx_evd(fx, 8, DAT_EVD_CONNECTION_FLAG);
    rc = dat_ep_create_with_srq(fx->ia, fx->pz, recv, s->req, s->conn, srq, &attr, &s->ep);
    if (rc == DAT_SUCCESS)
        return true;
    must(rc_is(rc, DAT_INVALID_STATE) || rc_is(rc, DAT_INVALID_PARAMETER),
         "dat_ep_create_with_srq: %s", rc_text(rc));
    attr.recv_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
    must_rc(dat_ep_create_with_srq(fx->ia, fx->pz, recv, s->req, s->conn, srq, &attr, &s->ep),
            DAT_SUCCESS, "dat_ep_create_with_srq");
    return false;
}

/* Plays one round. Returns the number of received messages. Clears *mixed if the provider rejects the mix. */
static long play(struct fx *near, struct fx *far, int round, bool *mixed)
{
    static struct scene s;
    static void *(*const work[WORKERS])(void *) = { sender, receiver, resizer, acceptor };
    pthread_t thread[WORKERS];
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;

    memset(&s, 0, sizeof s);
    srq_open(&s.q, near, SMALLEST, BUFFERS, SLOT);
    side_make(&s.tx, far, NULL);
    side_make(&s.late_tx, far, NULL);
    region_make(far, &s.out, SLOT, MEM_LOCAL);
    side_make_srq(&s.rx, near, s.q.handle, NULL);
    *mixed &= late_endpoint(&s.late_rx, near, s.rx.recv, s.q.handle);
    srq_fill(&s.q, 0, BUFFERS);
    sides_connect(&s.tx, &s.rx);
    psp = fx_listen(near, &qual);
    must_rc(side_connect(&s.late_tx, fx_address(near), qual), DAT_SUCCESS, "dat_ep_connect");
    s.request = next_request(near->cr);

    for (int i = 0; i < 3; i++)
        must(pthread_create(&thread[i], NULL, work[i], &s) == 0, "no thread");
    must_come(under_way, &s, "messages and resizing", round);
    must(pthread_create(&thread[3], NULL, work[3], &s) == 0, "no thread");
    must_come(has_accepted, &s, "dat_cr_accept returns", round);
    s.target = (uint64_t)GET(s.done[1]) + 2 * BUFFERS;
    must_come(goes_on, &s, "messages come in afterwards", round);
    PUT(s.stop, 1);
    must_come(all_left, &s, "the threads come to their ends", round);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(thread[i], NULL);
    must_rc(s.accept_rc, DAT_SUCCESS, "dat_cr_accept");
    must(wait_connection(s.late_tx.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
             wait_connection(s.late_rx.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
         "no ESTABLISHED");
    if (s.wrong > 0) {
        diag("round %d: %ld wrong, the last: %s", round, s.wrong, rc_text(s.wrong_rc));
        bail("a call or a message fails");
    }
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&s.tx);
    side_free(&s.late_tx);
    s.late_rx.recv = DAT_HANDLE_NULL; /* side_free(&s.rx) frees this EVD */
    side_free(&s.late_rx);
    side_free(&s.rx);
    region_free(&s.out);
    srq_close(&s.q);
    return s.done[1];
}

int main(int argc, char **argv)
{
    struct fx near, far;
    struct srq q;
    int rounds, played = 0;
    long messages = 0;
    bool mixed = true;

    env_init(argc, argv, NULL);
    rounds = env_count(ROUNDS, 6);
    fx_open(&near);
    fx_open(&far);
    srq_open(&q, &near, SMALLEST, 1, SLOT);
    if (rc_not_implemented(dat_srq_resize(q.handle, 2 * SMALLEST)))
        skip_all("dat_srq_resize is not implemented");
    srq_close(&q);
    for (; played < rounds; played++)
        messages += play(&near, &far, played, &mixed);
    diag("%ld messages%s", messages, mixed ? "" : "; the kinds of receives are not mixed");
    is_int(played, rounds, "connects while messages come in and the queue is resized: no standstill");
    fx_close(&near);
    fx_close(&far);
    return done_testing();
}
