/*
 * stress.c - dat_srq_resize during traffic. Another process sends to eight endpoints on one queue,
 * while one thread resizes the queue a thousand times and another queries it.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ENDPOINTS = 8, BUFFERS = 64, SLOT = 4096, WINDOW = 8 };

static struct fx fx;
static struct srq q;

/* ---- the second process ---- */

static volatile int stop;

static void *listen_for_stop(void *arg)
{
    char word[32];

    /* Any message, or the deadline, ends the traffic. */
    (void)link_recv(arg, word, sizeof word, 30 * SOON_MS);
    __sync_lock_test_and_set(&stop, 1);
    return NULL;
}

static size_t size_of(unsigned from, unsigned seq)
{
    static const size_t sizes[] = { 0, 8, 64, 200, 1000, SLOT };

    return sizes[(seq * 5 + from) % (sizeof sizes / sizeof *sizes)];
}

static int flood(struct link *up)
{
    static struct side tx[ENDPOINTS];
    static struct region out[ENDPOINTS];
    uint32_t posted[ENDPOINTS] = { 0 }, done[ENDPOINTS] = { 0 };
    struct fx own;
    pthread_t thread;
    bool all;

    fx_open(&own);
    for (int i = 0; i < ENDPOINTS; i++) {
        side_make(&tx[i], &own, NULL);
        side_connect_peer(&tx[i], up);
        region_make(&own, &out[i], WINDOW * SLOT, MEM_LOCAL);
    }
    must(link_hear(up, "go"), "no start");
    must(pthread_create(&thread, NULL, listen_for_stop, up) == 0, "no thread");
    do {
        bool ending = __sync_fetch_and_add(&stop, 0) != 0, any = false;

        all = ending;
        for (int i = 0; i < ENDPOINTS; i++) {
            DAT_EVENT event;

            while (!ending && posted[i] - done[i] < WINDOW) {
                size_t at = posted[i] % WINDOW * (size_t)SLOT;
                size_t size = size_of((unsigned)i, posted[i]);

                message_fill(out[i].mem + at, size, (unsigned)i, posted[i]);
                must_rc(post_send(&tx[i], &out[i], at, size, posted[i]), DAT_SUCCESS,
                        "dat_ep_post_send");
                posted[i]++;
                any = true;
            }
            while (dat_evd_dequeue(tx[i].req, &event) == DAT_SUCCESS) {
                const DAT_DTO_COMPLETION_EVENT_DATA *d =
                    &event.event_data.dto_completion_event_data;

                must(d->status == DAT_DTO_SUCCESS && d->user_cookie.as_64 == done[i],
                     "a Send fails or completes out of order");
                done[i]++;
                any = true;
            }
            all = all && done[i] == posted[i];
        }
        if (!any)
            breathe();
    } while (!all);
    pthread_join(thread, NULL);
    must(LINK_SEND(up, posted) && link_hear(up, "bye"), "the other process has exited");
    fx_close(&own);
    return 0;
}

/* ---- the threads of the first process ---- */

/* Results of a thread, valid when it has ended. */
struct report {
    int up, down, refused, wrong;
    long queries;
    char text[160];
};

static void complain(struct report *r, const char *what, const DAT_SRQ_PARAM *p, DAT_RETURN rc)
{
    if (r->wrong++ == 0)
        snprintf(r->text, sizeof r->text, "%s: max %d, available %d, outstanding %d, %s", what,
                 (int)p->max_recv_dtos, (int)p->available_dto_count, (int)p->outstanding_dto_count,
                 rc_text(rc));
}

static int rounds;
static volatile int resizing;
/* Set at the first message. */
static volatile int flowing;

static void *resizer(void *arg)
{
    struct report *r = arg;
    DAT_SRQ_PARAM p;

    memset(&p, 0, sizeof p);
    while (__sync_fetch_and_add(&flowing, 0) == 0)
        breathe();
    for (int i = 0; i < rounds; i++) {
        DAT_COUNT large = BUFFERS + 1 + (DAT_COUNT)(i * 37 % 200);
        DAT_RETURN rc = dat_srq_resize(q.handle, large);

        if (rc == DAT_SUCCESS && dat_srq_query(q.handle, DAT_SRQ_FIELD_ALL, &p) == DAT_SUCCESS &&
            p.max_recv_dtos >= large)
            r->up++;
        else
            complain(r, "resized up", &p, rc);
        /* The smallest size that always succeeds, because all buffers can be outstanding. */
        rc = dat_srq_resize(q.handle, BUFFERS);
        if (rc == DAT_SUCCESS && dat_srq_query(q.handle, DAT_SRQ_FIELD_ALL, &p) == DAT_SUCCESS &&
            p.max_recv_dtos == BUFFERS)
            r->down++;
        else
            complain(r, "resized down", &p, rc);
        /* Too small: at least BUFFERS - 1 buffers are always outstanding. */
        rc = dat_srq_resize(q.handle, BUFFERS / 2);
        if (rc_is(rc, DAT_INVALID_STATE) &&
            dat_srq_query(q.handle, DAT_SRQ_FIELD_ALL, &p) == DAT_SUCCESS &&
            p.max_recv_dtos == BUFFERS)
            r->refused++;
        else
            complain(r, "resized below the outstanding", &p, rc);
    }
    __sync_lock_test_and_set(&resizing, 0);
    return NULL;
}

/*
 * Checks the counters. BUFFERS or BUFFERS - 1 buffers are outstanding, because the receiving thread owns at
 * most one, between its dequeue and its post.
 */
static void *asker(void *arg)
{
    struct report *r = arg;
    DAT_SRQ_PARAM p;

    do {
        DAT_RETURN rc = dat_srq_query(q.handle, DAT_SRQ_FIELD_ALL, &p);

        if (rc != DAT_SUCCESS || p.available_dto_count < 0 ||
            p.available_dto_count > p.outstanding_dto_count ||
            p.outstanding_dto_count > p.max_recv_dtos || p.outstanding_dto_count > BUFFERS ||
            p.outstanding_dto_count < BUFFERS - 1)
            complain(r, "asked", &p, rc);
        r->queries++;
        if (r->queries % 64 == 0)
            breathe();
    } while (__sync_fetch_and_add(&resizing, 0) != 0);
    return NULL;
}

static bool readable(int fd)
{
    struct pollfd f = { fd, POLLIN, 0 };

    return poll(&f, 1, 0) > 0;
}

/* Checks the next message of an endpoint, and posts its buffer again. */
static bool receive(const DAT_EVENT *event, const struct side *rx, uint32_t *next)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &event->event_data.dto_completion_event_data;
    DAT_COUNT i = srq_buffer(&q, d->user_cookie.as_64);
    unsigned from = 0;
    size_t size;
    DAT_RETURN rc;

    while (from < ENDPOINTS && rx[from].ep != d->ep_handle)
        from++;
    if (event->event_number != DAT_DTO_COMPLETION_EVENT || from == ENDPOINTS || i < 0 ||
        d->status != DAT_DTO_SUCCESS) {
        diag("%s, endpoint %u, %s", event_text(event->event_number), from, status_text(d->status));
        return false;
    }
    size = size_of(from, next[from]);
    if (d->transfered_length != size ||
        !message_right(q.mem.mem + (size_t)i * SLOT, size, from, next[from])) {
        diag("endpoint %u: message %u is wrong", from, (unsigned)next[from]);
        return false;
    }
    next[from]++;
    rc = srq_post(&q, i);
    if (rc != DAT_SUCCESS)
        diag("dat_srq_post_recv: %s", rc_text(rc));
    return rc == DAT_SUCCESS;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "flood", flood }, { NULL, NULL } };
    static struct report resized, asked;
    struct side rx[ENDPOINTS];
    DAT_EVD_HANDLE recv[2];
    struct peer p;
    uint32_t next[ENDPOINTS] = { 0 }, total[ENDPOINTS] = { 0 };
    pthread_t threads[2];
    DAT_SRQ_PARAM param;
    bool good = true, told = false, have_total = false, complete = false;
    long messages = 0;
    uint64_t end;

    env_init(argc, argv, roles);
    if (env_is_iwarp())
        skip_all("the flood counts on messages that wait for buffers, and no message of iWARP does");
    rounds = env_count(1000, 30);
    fx_open(&fx);
    srq_open(&q, &fx, BUFFERS, BUFFERS, SLOT);
    if (rc_not_implemented(dat_srq_resize(q.handle, 2 * BUFFERS)))
        skip_all("dat_srq_resize is not implemented");
    for (int i = 0; i < 2; i++)
        recv[i] = fx_evd(&fx, BUFFERS, DAT_EVD_DTO_FLAG);
    peer_start(&p, "flood");
    for (int i = 0; i < ENDPOINTS; i++) {
        DAT_EP_ATTR attr;

        attr_default(&attr);
        attr.max_recv_dtos = DAT_HW_DEFAULT;
        memset(&rx[i], 0, sizeof rx[i]);
        rx[i].fx = &fx;
        rx[i].recv = recv[i % 2];
        rx[i].req = fx_evd(&fx, 8, DAT_EVD_DTO_FLAG);
        rx[i].conn = fx_evd(&fx, 8, DAT_EVD_CONNECTION_FLAG);
        must_rc(dat_ep_create_with_srq(fx.ia, fx.pz, rx[i].recv, rx[i].req, rx[i].conn, q.handle,
                                       &attr, &rx[i].ep),
                DAT_SUCCESS, "dat_ep_create_with_srq");
        side_accept_peer(&rx[i], &p.link);
    }
    srq_fill(&q, 0, BUFFERS);
    resizing = 1;
    must(link_say(&p.link, "go"), "the second process has exited");
    must(pthread_create(&threads[0], NULL, resizer, &resized) == 0 &&
             pthread_create(&threads[1], NULL, asker, &asked) == 0,
         "no threads");

    end = now_ms() + env_ms(4 * SOON_MS);
    while (good && !complete && now_ms() < end) {
        DAT_EVENT event;
        bool any = false;

        for (int i = 0; i < 2; i++)
            while (good && dat_evd_dequeue(recv[i], &event) == DAT_SUCCESS) {
                any = true;
                good = receive(&event, rx, next);
                messages++;
                __sync_lock_test_and_set(&flowing, 1);
            }
        if (!told && __sync_fetch_and_add(&resizing, 0) == 0) {
            told = true;
            must(link_say(&p.link, "stop"), "the second process has exited");
        }
        if (!any && told && !have_total)
            have_total = readable(p.link.in) && LINK_RECV(&p.link, total);
        complete = have_total && memcmp(next, total, sizeof next) == 0;
        if (!any)
            breathe();
    }
    ok(good, "resizing under traffic: each message is whole and in its place");
    if (!ok(complete, "resizing under traffic: every message that was sent has come")) {
        for (int i = 0; i < ENDPOINTS; i++)
            diag("  endpoint %d: %u of %u", i, (unsigned)next[i], (unsigned)total[i]);
        bail("the traffic stands still");
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    diag("%ld messages, %ld queries", messages, asked.queries);
    is_int(resized.up, rounds, "dat_srq_resize: up, under traffic: success, and reported");
    is_int(resized.down, rounds, "dat_srq_resize: down, under traffic: success, and exact");
    is_int(resized.refused, rounds,
           "dat_srq_resize: below the outstanding, under traffic: DAT_INVALID_STATE, no change");
    if (resized.wrong > 0)
        diag("  first: %s", resized.text);
    ok(asked.wrong == 0 && asked.queries > 0,
       "dat_srq_query: under traffic: 0 <= available <= outstanding <= max_recv_dtos, and "
       "outstanding is every buffer but the one in hand");
    if (asked.wrong > 0)
        diag("  %d wrong, first: %s", asked.wrong, asked.text);
    param = srq_param(q.handle);
    is_counts(q.handle, BUFFERS, BUFFERS, "resizing under traffic: no buffer is lost");
    is_int(param.max_recv_dtos, BUFFERS, "resizing under traffic: the last size stands");
    ok(messages > 0, "resizing under traffic: there was traffic");

    must(link_say(&p.link, "bye"), "the second process has exited");
    peer_ok(&p, "the other process ends in good order");
    for (int i = 0; i < ENDPOINTS; i++) {
        rx[i].recv = DAT_HANDLE_NULL;
        side_free(&rx[i]);
    }
    for (int i = 0; i < 2; i++)
        must_rc(dat_evd_free(recv[i]), DAT_SUCCESS, "dat_evd_free");
    srq_close(&q);
    fx_close(&fx);
    return done_testing();
}
