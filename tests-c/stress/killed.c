/* killed.c - the peer is killed during traffic. */
#define _POSIX_C_SOURCE 200809L
#include "common/stage.h"

#include <signal.h>
#include <string.h>

#define SIZE 65536
#define DEPTH 16

/* Sends, writes and reads until it is killed. */
static int victim(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET to;
    int n = 0;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    for (int i = 0; i < DEPTH; i++)
        must_rc(post_recv(&s, &r, 0, SIZE / 2, 1), DAT_SUCCESS, "dat_ep_post_recv");
    side_accept_peer(&s, up);
    must(LINK_RECV(up, to), "no memory at the other end");
    {
        DAT_RMR_TRIPLET mine = target(&r, 0, SIZE);

        must(LINK_SEND(up, mine), "the other process is gone");
    }
    for (;;) {
        DAT_EVENT e;
        DAT_RETURN rc;

        to.segment_length = SIZE / 2;
        rc = n % 3 == 0   ? post_send(&s, &r, 0, 4096, 2)
             : n % 3 == 1 ? post_write(&s, &r, 0, SIZE / 2, to, 2)
                          : post_read(&s, &r, 0, SIZE / 2, to, 2);
        must_rc(rc, DAT_SUCCESS, "posting");
        must(poll_event(s.req, &e), "no completion");
        if (dat_evd_dequeue(s.recv, &e) == DAT_SUCCESS)
            must_rc(post_recv(&s, &r, 0, SIZE / 2, 1), DAT_SUCCESS, "dat_ep_post_recv");
        if (++n == 100)
            link_say(up, "busy");
    }
    return 1; /* not reached */
}

/* Kills the peer while both sides have requests in flight. Returns whether this side survives correctly. */
static bool survive(int round)
{
    struct fx fx;
    struct peer p;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET mine, theirs;
    int outstanding = 0, recvs = DEPTH, flushed = 0, odd = 0;
    bool good = true, ended = false;
    uint64_t kill_at = 0, end;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    for (int i = 0; i < DEPTH; i++)
        must_rc(post_recv(&s, &r, 0, SIZE / 2, 10), DAT_SUCCESS, "dat_ep_post_recv");
    peer_start(&p, "victim");
    side_connect_peer(&s, &p.link);
    mine = target(&r, 0, SIZE);
    must(LINK_SEND(&p.link, mine) && LINK_RECV(&p.link, theirs), "the other process is gone");
    theirs.segment_length = SIZE / 2;
    end = now_ms() + env_ms(3 * SOON_MS);
    for (int n = 0; !ended; n++) {
        DAT_EVENT e;
        DAT_RETURN rc;

        if (kill_at == 0) {
            /* The traffic has started. The delay grows with each round. */
            char word[32];

            if (link_recv(&p.link, word, sizeof word, 0))
                kill_at = now_ms() + (uint64_t)round * 3;
        }
        if (kill_at != 0 && p.pid != 0 && now_ms() >= kill_at)
            peer_kill(&p);
        if (outstanding < DEPTH) {
            rc = n % 3 == 0   ? post_send(&s, &r, 0, 4096, 2)
                 : n % 3 == 1 ? post_write(&s, &r, 0, SIZE / 2, theirs, 2)
                              : post_read(&s, &r, 0, SIZE / 2, theirs, 2);
            if (rc == DAT_SUCCESS)
                outstanding++;
            else
                odd += !rc_is(rc, DAT_INSUFFICIENT_RESOURCES);
        }
        while (dat_evd_dequeue(s.req, &e) == DAT_SUCCESS)
            outstanding--;
        while (dat_evd_dequeue(s.recv, &e) == DAT_SUCCESS) {
            recvs--;
            if (e.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS) {
                rc = post_recv(&s, &r, 0, SIZE / 2, 10);
                recvs += rc == DAT_SUCCESS;
            } else {
                flushed++;
            }
        }
        if (dat_evd_dequeue(s.conn, &e) == DAT_SUCCESS) {
            ended = true;
            good &= e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                    e.event_number == DAT_CONNECTION_EVENT_BROKEN;
        }
        if (now_ms() > end) {
            diag("no end of the connection is seen");
            good = false;
            break;
        }
    }
    good &= wait_state(s.ep, DAT_EP_STATE_DISCONNECTED);
    for (; outstanding > 0; outstanding--) {
        DAT_EVENT e;

        if (!wait_event(s.req, &e)) {
            diag("%d requests never complete", outstanding);
            good = false;
            break;
        }
    }
    for (; recvs > 0; recvs--) {
        DAT_EVENT e;

        if (!wait_event(s.recv, &e)) {
            diag("%d receives never complete", recvs);
            good = false;
            break;
        }
    }
    if (odd > 0) {
        diag("%d posts were refused with another code than allowed", odd);
        good = false;
    }
    (void)flushed;
    good &= quiet(s.conn);
    /* The endpoint can connect again. */
    good = good && dat_ep_reset(s.ep) == DAT_SUCCESS;
    if (good) {
        struct side other;

        side_make(&other, &fx, NULL);
        drain(s.recv);
        sides_connect(&s, &other);
        good &= sides_talk(&s, &other);
    }
    peer_kill(&p);
    fx_close(&fx);
    return good;
}

/* Listens until it is killed, with an unanswered connection request. */
static int listener(struct link *up)
{
    struct fx fx;
    DAT_CONN_QUAL qual = 0;

    fx_open(&fx);
    fx_listen(&fx, &qual);
    must(LINK_SEND(up, qual), "the other process is gone");
    next_request(fx.cr);
    link_say(up, "asked");
    while (!link_hear(up, "never"))
        ;
    return 1; /* not reached */
}

static void while_connecting(void)
{
    struct fx fx;
    struct peer p;
    struct side s;
    DAT_CONN_QUAL qual = 0;
    DAT_EVENT e;

    fx_open(&fx);
    peer_start(&p, "listener");
    must(LINK_RECV(&p.link, qual), "no listener");
    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must(link_hear(&p.link, "asked"), "no request at the listener");
    peer_kill(&p);
    ok(wait_event(s.conn, &e) && e.event_number > DAT_CONNECTION_EVENT_ESTABLISHED &&
           e.event_number <= DAT_CONNECTION_EVENT_UNREACHABLE,
       "the listener is killed with a request unanswered: the attempt ends");
    is_state(ep_state(s.ep), DAT_EP_STATE_DISCONNECTED,
             "the listener is killed with a request unanswered: DISCONNECTED");
    must_rc(dat_ep_reset(s.ep), DAT_SUCCESS, "dat_ep_reset");
    must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "the listener was killed: NON_PEER_REJECTED");
    must_rc(dat_ep_reset(s.ep), DAT_SUCCESS, "dat_ep_reset");
    {
        DAT_PSP_HANDLE psp;

        is_success(dat_psp_create(fx.ia, qual, fx.cr, DAT_PSP_CONSUMER_FLAG, &psp),
                   "the listener was killed: its qualifier can be used again");
    }
    fx_close(&fx);
}

/* The requesting process is killed before its request is accepted. */
static void while_unanswered(void)
{
    struct fx fx;
    struct peer p;
    struct side s;
    DAT_CONN_QUAL qual = 0;
    DAT_CR_HANDLE cr;
    DAT_CR_PARAM q;

    fx_open(&fx);
    fx_listen(&fx, &qual);
    side_make(&s, &fx, NULL);
    peer_start(&p, "stage-caller");
    must(LINK_SEND(&p.link, fx.address) && LINK_SEND(&p.link, qual), "the other process is gone");
    cr = next_request(fx.cr);
    must(link_hear(&p.link, "called"), "the other process is gone");
    peer_kill(&p);
    is_success(dat_cr_query(cr, DAT_CR_FIELD_ALL, &q),
               "dat_cr_query: the caller is killed: success");
    is_success(dat_cr_accept(cr, s.ep, 0, NULL), "dat_cr_accept: the caller is killed: success");
    ok(wait_accept_failed(s.conn),
       "dat_cr_accept: the caller is killed: ACCEPT_COMPLETION_ERROR");
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "victim", victim },
                                              { "listener", listener },
                                              STAGE_ROLE,
                                              { NULL, NULL } };
    int rounds, good = 0;

    env_init(argc, argv, roles);
    rounds = env_count(20, 3);
    for (int i = 0; i < rounds; i++)
        good += survive(i);
    is_int(good, rounds, "the peer is killed in the middle of traffic, %d times: all work completes, "
                         "one event, the endpoint can be used again", rounds);
    while_connecting();
    while_unanswered();
    return done_testing();
}
