/*
 * early.c - a connect before its service point exists. Over shared memory and TCP, it is retried
 * for up to 200 ms, and no longer than its timeout.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <string.h>
#include <time.h>

#define LISTENER_MS 200u /* time for which a connect waits for a service point */
#define LATE_MS 100u     /* delay of a late service point */
#define TRIES 20         /* attempts of tests that a busy machine can make too slow */

static struct fx fx;

static void sleep_ms(long ms)
{
    struct timespec t = { 0, ms * 1000000 };

    nanosleep(&t, NULL);
}

/*
 * Creates a service point after a delay. If a request arrives, accepts it with s and returns true.
 */
static bool listen_late(struct fx *f, struct side *s, DAT_CONN_QUAL qual)
{
    DAT_PSP_HANDLE psp;
    DAT_EVENT e;
    bool came;

    sleep_ms(LATE_MS);
    must_rc(dat_psp_create(f->ia, qual, f->cr, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS, "dat_psp_create");
    came = wait_event_ms(f->cr, env_ms(2 * LISTENER_MS), &e);
    if (came) {
        must_rc(dat_cr_accept(e.event_data.cr_arrival_event_data.cr_handle, s->ep, 0, NULL), DAT_SUCCESS,
                "dat_cr_accept");
        must(wait_connection(s->conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
    }
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    return came;
}

/* The other process: listens late on each qualifier that it receives. */
static int server(struct link *up)
{
    struct fx f;
    struct side s;
    DAT_CONN_QUAL qual;

    fx_open(&f);
    side_make(&s, &f, NULL);
    link_say(up, "ready");
    while (LINK_RECV(up, qual) && qual != 0) {
        bool came = listen_late(&f, &s, qual);

        must(LINK_SEND(up, came), "the peer has exited");
    }
    fx_close(&f);
    return 0;
}

/* The other process: listens until it is killed. */
static int mortal(struct link *up)
{
    struct fx f;
    DAT_CONN_QUAL qual;

    fx_open(&f);
    fx_listen(&f, &qual);
    must(LINK_SEND(up, qual), "the peer has exited");
    link_hear(up, "bye");
    return 0;
}

static DAT_CONN_QUAL free_qual(void)
{
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);

    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    return qual;
}

static DAT_CONN_QUAL dead_qual(void)
{
    struct peer p;
    DAT_CONN_QUAL qual = 0;

    peer_start(&p, "mortal");
    must(LINK_RECV(&p.link, qual), "no qualifier");
    peer_kill(&p);
    return qual;
}

/* Connects to a late service point of `server`, or of this process if `server` is NULL. */
static void late(struct peer *server, DAT_CONN_QUAL (*next_qual)(void), const char *what)
{
    struct side a, b;
    bool came = false, up = false;

    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    for (int i = 0; i < TRIES && !came; i++) {
        DAT_CONN_QUAL qual = next_qual();

        must_rc(side_connect(&a, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
        if (server == NULL) {
            came = listen_late(&fx, &b, qual);
        } else {
            must(LINK_SEND(&server->link, qual), "the server has exited");
            must(LINK_RECV(&server->link, came), "the server does not answer");
        }
        up = wait_connection(a.conn, came ? DAT_CONNECTION_EVENT_ESTABLISHED : DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
        if (!up)
            break;
        if (!came) {
            diag("the service point was not created in time");
            must_rc(dat_ep_reset(a.ep), DAT_SUCCESS, "dat_ep_reset");
        }
    }
    ok(came && up, "dat_ep_connect: %s: ESTABLISHED", what);
    side_free(&a);
    side_free(&b);
}

static void never(void)
{
    struct side s;
    uint64_t start = now_ms(), time;

    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), free_qual()), DAT_SUCCESS, "dat_ep_connect");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "dat_ep_connect: no service point: NON_PEER_REJECTED");
    time = now_ms() - start;
    ok(time >= LISTENER_MS && time < env_ms(SOON_MS / 4), "dat_ep_connect: no service point: after 200 ms, here %u",
       (unsigned)time);
    side_free(&s);
}

static void short_timeout(void)
{
    struct side s;

    side_make(&s, &fx, NULL);
    must_rc(dat_ep_connect(s.ep, fx_address(&fx), free_qual(), 20000, 0, NULL, DAT_QOS_BEST_EFFORT,
                           DAT_CONNECT_DEFAULT_FLAG), DAT_SUCCESS, "dat_ep_connect");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_TIMED_OUT),
       "dat_ep_connect: no service point, timeout of 20 ms: TIMED_OUT");
    side_free(&s);
}

static void given_up(bool by_free)
{
    const char *call = by_free ? "dat_ep_free" : "dat_ep_disconnect";
    DAT_CONN_QUAL qual = free_qual();
    DAT_PSP_HANDLE psp;
    struct side s;

    side_make(&s, &fx, NULL);
    /* On a busy machine, the attempt can end before the call. */
    for (int tries = 0; tries == 0 || (tries < 20 && drain(s.conn) > 0); tries++) {
        if (tries > 0)
            must_rc(dat_ep_reset(s.ep), DAT_SUCCESS, "dat_ep_reset");
        must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
        sleep_ms(20);
    }
    if (by_free) {
        is_success(dat_ep_free(s.ep), "dat_ep_free: while a connect waits for a service point: success");
        s.ep = DAT_HANDLE_NULL;
        ok(quiet(s.conn), "dat_ep_free: while a connect waits for a service point: no event");
    } else {
        is_success(dat_ep_disconnect(s.ep, DAT_CLOSE_ABRUPT_FLAG),
                   "dat_ep_disconnect: while a connect waits for a service point: success");
        ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED) && quiet(s.conn),
           "dat_ep_disconnect: while a connect waits for a service point: DISCONNECTED");
    }
    must_rc(dat_psp_create(fx.ia, qual, fx.cr, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS, "dat_psp_create");
    ok(quiet(fx.cr) && quiet(fx.cr), "%s: while a connect waits for a service point: no request arrives later", call);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&s);
}

static void rejected(void)
{
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);
    struct side s;

    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_reject(next_request(fx.cr)), DAT_SUCCESS, "dat_cr_reject");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_PEER_REJECTED) && quiet(fx.cr),
       "dat_cr_reject: the request is not repeated");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&s);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "server", server }, { "mortal", mortal }, { NULL, NULL } };
    const DAT_CONN_QUAL end = 0;
    struct peer p;

    env_init(argc, argv, roles);
    if (strncmp(env_ia(), "verbs-", 6) == 0)
        skip_all("rdma_cm decides when a connect without a service point ends");
    fx_open(&fx);
    late(NULL, free_qual, "the service point is created 100 ms later");
    peer_start(&p, "server");
    must(link_hear(&p.link, "ready"), "the server has exited");
    late(&p, free_qual, "another process creates the service point 100 ms later");
    must(LINK_SEND(&p.link, end), "the server has exited");
    peer_ok(&p, "the other process ends well");
    peer_start(&p, "server");
    must(link_hear(&p.link, "ready"), "the server has exited");
    late(&p, dead_qual, "the listener was killed, another one begins 100 ms later");
    must(LINK_SEND(&p.link, end), "the server has exited");
    peer_ok(&p, "the other process ends well");
    never();
    short_timeout();
    given_up(false);
    given_up(true);
    rejected();
    fx_close(&fx);
    return done_testing();
}
