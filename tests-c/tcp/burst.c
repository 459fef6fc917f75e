/*
 * burst.c - a process requests many connections at once from a process with a low limit on descriptors, which can keep
 * only HELD of these requests until their greetings arrive. All connections are established.
 */
#define _DEFAULT_SOURCE
#include "common/fixture.h"

#include <string.h>
#include <sys/resource.h>

/* An eighth of the descriptors of a process may have incomplete greetings, and half of these may be from one host. */
enum { CONNECTIONS = 120, DESCRIPTORS = 256, HELD = DESCRIPTORS / 16, ROUNDS = 10 };

struct invitation {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
};

static DAT_EP_HANDLE ep[CONNECTIONS];

static void make(struct fx *fx, DAT_EVD_HANDLE conn, int i)
{
    DAT_EVD_HANDLE none = DAT_HANDLE_NULL;

    must_rc(dat_ep_create(fx->ia, fx->pz, none, none, conn, NULL, &ep[i]), DAT_SUCCESS, "dat_ep_create");
}

static int established(DAT_EVD_HANDLE conn)
{
    DAT_EVENT event;
    int n = 0;

    for (int i = 0; i < CONNECTIONS; i++)
        n += wait_number(conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
    return n;
}

/* The second process: accepts all connections of each round, and then frees them. */
static int server(struct link *up)
{
    struct rlimit limit;
    struct invitation card;
    struct fx fx;
    DAT_EVD_HANDLE requests, conn;

    must(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = DESCRIPTORS;
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    fx_open(&fx);
    requests = fx_evd(&fx, CONNECTIONS, DAT_EVD_CR_FLAG);
    memset(&card, 0, sizeof card);
    fx_listen_on(&fx, requests, DAT_PSP_CONSUMER_FLAG, &card.qual);
    card.address = fx.address;
    must(LINK_SEND(up, card), "the other process has exited");
    for (int round = 0; round < ROUNDS; round++) {
        int n;

        conn = fx_evd(&fx, 2 * CONNECTIONS, DAT_EVD_CONNECTION_FLAG);
        for (int i = 0; i < CONNECTIONS; i++) {
            make(&fx, conn, i);
            must_rc(dat_cr_accept(next_request(requests), ep[i], 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        }
        n = established(conn);
        must(LINK_SEND(up, n) && link_hear(up, "next"), "the other process has exited");
        for (int i = 0; i < CONNECTIONS; i++)
            must_rc(dat_ep_free(ep[i]), DAT_SUCCESS, "dat_ep_free");
    }
    fx_close(&fx);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "server", server }, { NULL, NULL } };
    struct invitation card;
    struct peer p;
    struct fx fx;
    int theirs, right = 0, right_there = 0;

    env_init(argc, argv, roles);
    fx_open(&fx);
    peer_start(&p, "server");
    must(LINK_RECV(&p.link, card), "the server is gone");
    for (int round = 0; round < ROUNDS; round++) {
        DAT_EVD_HANDLE conn = fx_evd(&fx, 2 * CONNECTIONS, DAT_EVD_CONNECTION_FLAG);

        for (int i = 0; i < CONNECTIONS; i++)
            make(&fx, conn, i);
        for (int i = 0; i < CONNECTIONS; i++)
            must_rc(dat_ep_connect(ep[i], (DAT_IA_ADDRESS_PTR)&card.address, card.qual, env_us(3 * SOON_MS), 0, NULL,
                                   DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
                    DAT_SUCCESS, "dat_ep_connect");
        right += established(conn);
        must(LINK_RECV(&p.link, theirs) && link_say(&p.link, "next"), "the server is gone");
        right_there += theirs;
        for (int i = 0; i < CONNECTIONS; i++)
            must_rc(dat_ep_free(ep[i]), DAT_SUCCESS, "dat_ep_free");
    }
    is_int(right, ROUNDS * CONNECTIONS, "%d rounds of %d requests at once, of which the peer holds %d: all are established",
           ROUNDS, CONNECTIONS, HELD);
    is_int(right_there, ROUNDS * CONNECTIONS, "the peer has established all of them");
    peer_ok(&p, "the peer ends in good order");
    fx_close(&fx);
    return done_testing();
}
