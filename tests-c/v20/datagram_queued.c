/*
 * datagram_queued.c - more unreliable datagrams to a stopped process than the transport can transmit before it
 * continues. The sender then only waits for the reply: no call polls for completions of sends. All datagrams arrive.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/waiter.h"
#include "v20/datagram.h"

#include <signal.h>
#include <sys/wait.h>

#define NAME "dat_ib_post_send_ud"

/* Datagrams, and bytes of each. */
enum { COUNT = 1000, BYTES = 64, PLACE = GRH + BYTES };
/* Time for the waiting thread to fall asleep. */
enum { SLEEP_MS = 100 };

static struct fx fx;
static struct side s;
static struct region memory; /* places for receives, and one for sends */

static void open_side(void)
{
    DAT_EP_ATTR attr;

    ud_open(&fx);
    region_make(&fx, &memory, (COUNT + 1) * PLACE, MEM_LOCAL);
    ud_attr(&attr);
    attr.max_recv_dtos = COUNT;
    attr.max_request_dtos = COUNT;
    ud_make(&s, &fx, DAT_HANDLE_NULL, &attr);
    must_rc(dat_evd_resize(s.recv, COUNT + UD_EVENTS), DAT_SUCCESS, "dat_evd_resize");
    must_rc(dat_evd_resize(s.req, COUNT + UD_EVENTS), DAT_SUCCESS, "dat_evd_resize");
    for (int i = 0; i < COUNT; i++)
        must_rc(ud_receive(&s, &memory, (size_t)i * PLACE, BYTES, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
}

/* Role: receives all datagrams, and replies after the last one. */
static int other(struct link *up)
{
    struct known to;
    int taken = 0;

    open_side();
    ud_connect_peer(&s, up, &to);
    must(link_say(up, "ready"), "the first process is gone");
    while (taken < COUNT && ud_received(&s, (DAT_UINT64)taken, BYTES))
        taken++;
    must_rc(ud_send(&s, &memory, COUNT * PLACE, BYTES, &to, 0), DAT_SUCCESS, NAME);
    must(LINK_SEND(up, taken) && link_hear(up, "bye"), "the first process is gone");
    side_free(&s);
    fx_close(&fx);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "other", other }, { NULL, NULL } };
    struct peer p;
    struct known to;
    struct waiter w;
    int sent = 0, taken = 0;

    env_init(argc, argv, roles);
    open_side();
    peer_start(&p, "other");
    ud_accept_peer(&s, &p.link, &to);
    must(link_hear(&p.link, "ready"), "no second process");
    must(kill(p.pid, SIGSTOP) == 0 && waitpid(p.pid, NULL, WUNTRACED) == p.pid, "it does not stop");
    for (int i = 0; i < COUNT; i++)
        sent += ud_send(&s, &memory, COUNT * PLACE, BYTES, &to, (DAT_UINT64)i) == DAT_SUCCESS;
    is_int(sent, COUNT, NAME ": the peer is stopped: all %d sends are taken", COUNT);
    waiter_start(&w, s.recv, env_us(SOON_MS), 1);
    /* The test also passes if the thread does not sleep by then. */
    waiter_done(&w, SLEEP_MS);
    must(kill(p.pid, SIGCONT) == 0, "it does not continue");
    ok(waiter_done(&w, SOON_MS) && w.rc == DAT_SUCCESS && ud_is_datagram(&w.event, &s, 0, BYTES),
       NAME ": the peer continues, the sender waits for its answer: it arrives");
    must(LINK_RECV(&p.link, taken), "the second process is gone");
    is_int(taken, COUNT, NAME ": the peer continues: all arrive, in order");
    link_say(&p.link, "bye");
    peer_ok(&p, NAME ": the peer continues: the other process ends well");
    side_free(&s);
    fx_close(&fx);
    return done_testing();
}
