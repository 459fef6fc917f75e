/*
 * emptied.c - programs that empty their connection EVDs near their disconnects.
 *
 * Two processes meet at a barrier, and both disconnect. The barrier does not order the end of one process's emptying
 * before the disconnect of the other, so the peer's end can already be in the EVD. No event is lost in the library: one
 * DISCONNECTED arrives in all, and dat_ep_disconnect() raises no second one.
 */
#define _DEFAULT_SOURCE
#include "common/fixture.h"

#include <stdlib.h>
#include <time.h>

enum order { AFTER_BARRIER, BEFORE_BARRIER, ORDERS };

static const char *const orders[ORDERS] = { "emptied after the barrier", "emptied before the barrier" };

/* One round in one process. Times are in ns of the monotonic clock, which both processes share. */
struct round {
    int found; /* events that the emptying took */
    int others; /* of these, events other than DISCONNECTED */
    int64_t arrived; /* DISCONNECTED events after the call of dat_ep_disconnect() */
    int64_t emptied;
    int64_t disconnect;
    int64_t event; /* 0 if the emptying took it */
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void barrier(struct link *l)
{
    must(link_say(l, "here") && link_hear(l, "here"), "the other process has exited");
}

static void empty(struct side *s, struct round *r)
{
    DAT_EVENT e;

    while (dat_evd_dequeue(s->conn, &e) == DAT_SUCCESS) {
        r->found++;
        r->others += e.event_number != DAT_CONNECTION_EVENT_DISCONNECTED;
    }
    r->emptied = now_ns();
}

/* Both processes call this with a connected endpoint. */
static void end(struct side *s, struct link *l, enum order order, struct round *r)
{
    *r = (struct round){ 0 };
    if (order == BEFORE_BARRIER)
        empty(s, r);
    barrier(l);
    if (order == AFTER_BARRIER)
        empty(s, r);
    r->disconnect = now_ns();
    must_rc(dat_ep_disconnect(s->ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    if (r->found == 0 && wait_connection(s->conn, DAT_CONNECTION_EVENT_DISCONNECTED)) {
        r->arrived = 1;
        r->event = now_ns();
    }
    barrier(l);
    r->arrived += drain(s->conn);
    must(ep_state(s->ep) == DAT_EP_STATE_DISCONNECTED, "the endpoint is not DISCONNECTED");
    must_rc(dat_ep_reset(s->ep), DAT_SUCCESS, "dat_ep_reset");
}

static int other(struct link *up)
{
    struct fx fx;
    struct side s;
    struct round r;
    int rounds, order;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    while (LINK_RECV(up, order) && LINK_RECV(up, rounds)) {
        for (int i = 0; i < rounds; i++) {
            side_accept_peer(&s, up);
            if (order == ORDERS) {
                must_rc(dat_ep_disconnect(s.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
                must(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
                must(link_say(up, "disconnected") && link_hear(up, "bye"), "the other process has exited");
                fx_close(&fx);
                return 0;
            }
            end(&s, up, (enum order)order, &r);
            must(LINK_SEND(up, r), "the other process has exited");
        }
    }
    return 1;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void show(const char *what, int64_t *values, int n)
{
    if (n == 0)
        return;
    qsort(values, (size_t)n, sizeof *values, by_value);
    diag("%s: median %.1f, 99 %% within %.1f, at most %.1f us, of %d", what, (double)values[n / 2] / 1000,
         (double)values[n * 99 / 100] / 1000, (double)values[n - 1] / 1000, n);
}

static void both_end(struct side *s, struct peer *p, int order, int rounds)
{
    int64_t *delays = calloc((size_t)rounds * 2, sizeof *delays), *lags = calloc((size_t)rounds * 2, sizeof *lags);
    int once = 0, here = 0, there = 0, arrivals = 0, late = 0;
    struct round own, peers;

    must(delays != NULL && lags != NULL, "no memory");
    must(LINK_SEND(&p->link, order) && LINK_SEND(&p->link, rounds), "the peer has exited");
    for (int i = 0; i < rounds; i++) {
        side_connect_peer(s, &p->link);
        end(s, &p->link, (enum order)order, &own);
        must(LINK_RECV(&p->link, peers), "the peer has exited");
        once += own.found + own.arrived == 1 && peers.found + peers.arrived == 1 && own.others + peers.others == 0;
        here += own.found;
        there += peers.found;
        for (int side = 0; side < 2; side++) {
            const struct round *one = side ? &peers : &own, *first = side ? &own : &peers;

            /* The disconnect of the process that came first raised the event. */
            if (one->event != 0 && first->disconnect < one->disconnect)
                delays[arrivals++] = one->event - first->disconnect;
            if (one->emptied > first->disconnect)
                lags[late++] = one->emptied - first->disconnect;
        }
    }
    is_int(once, rounds, "%s: each side gets one DISCONNECTED in all", orders[order]);
    if (order == BEFORE_BARRIER)
        is_int(here + there, 0, "%s: the emptying takes no event", orders[order]);
    diag("%s: of %d rounds, the emptying took the event in %d here and in %d there", orders[order], rounds, here,
         there);
    show("time from the first call to the event of the other process", delays, arrivals);
    show("time from the first call to the end of the other process's emptying", lags, late);
    free(delays);
    free(lags);
}

/* The order that loses the event for a program that does not look at the events it takes. */
static void peer_first(struct side *s, struct peer *p)
{
    const int order = ORDERS, rounds = 1;
    DAT_EVENT e;

    must(LINK_SEND(&p->link, order) && LINK_SEND(&p->link, rounds), "the peer has exited");
    side_connect_peer(s, &p->link);
    must(link_hear(&p->link, "disconnected"), "the peer has exited");
    ok(poll_event(s->conn, &e) && e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED,
       "the peer has disconnected: the emptying takes DISCONNECTED");
    is_state(ep_state(s->ep), DAT_EP_STATE_DISCONNECTED, "the peer has disconnected: the state shows it");
    is_success(dat_ep_disconnect(s->ep, DAT_CLOSE_ABRUPT_FLAG),
               "dat_ep_disconnect: the peer has disconnected: success");
    ok(quiet(s->conn), "dat_ep_disconnect: the peer has disconnected: no second event");
    must(link_say(&p->link, "bye"), "the peer has exited");
}

static const struct peer_role roles[] = { { "other", other }, { NULL, NULL } };

int main(int argc, char **argv)
{
    struct fx fx;
    struct side s;
    struct peer p;

    env_init(argc, argv, roles);
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    peer_start(&p, "other");
    for (int order = 0; order < ORDERS; order++)
        both_end(&s, &p, order, env_count(200, 20));
    peer_first(&s, &p);
    peer_ok(&p, "the other process: ends well");
    fx_close(&fx);
    return done_testing();
}
