/* stopped.c - the peer is stopped for some time. */
#define _POSIX_C_SOURCE 200809L
#include "common/waiter.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static void stop(struct peer *p)
{
    must(kill(p->pid, SIGSTOP) == 0 && waitpid(p->pid, NULL, WUNTRACED) == p->pid,
         "the other process cannot be stopped");
}

static int partner(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_CONN_QUAL qual;
    DAT_RMR_TRIPLET all;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 1u << 20, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(r.mem, r.size, 4);
    must_rc(post_recv(&s, &r, 0, 4096, 1), DAT_SUCCESS, "dat_ep_post_recv");
    side_accept_peer(&s, up);
    all = target(&r, 0, r.size);
    fx_listen(&fx, &qual);
    must(LINK_SEND(up, all) && LINK_SEND(up, qual), "the other process is gone");
    link_hear(up, "look");
    must(wait_dto(s.recv, 1, DAT_DTO_SUCCESS, NULL), "no message after having been stopped");
    must(pattern_check(r.mem, 64, 8) < 0, "the message is damaged");
    must(pattern_check(r.mem + 65536, 300000, 6) < 0, "the RDMA write is damaged");
    link_say(up, "seen");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "partner", partner }, { NULL, NULL } };
    struct fx fx;
    struct peer p;
    struct side s, caller;
    struct region r;
    DAT_RMR_TRIPLET all, t;
    DAT_CONN_QUAL qual = 0;
    struct waiter w;

    env_init(argc, argv, roles);
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    side_make(&caller, &fx, NULL);
    region_make(&fx, &r, 1u << 20, DAT_MEM_PRIV_ALL_FLAG);
    peer_start(&p, "partner");
    side_connect_peer(&s, &p.link);
    must(LINK_RECV(&p.link, all) && LINK_RECV(&p.link, qual), "the other process is gone");

    stop(&p);
    is_success(dat_ep_connect(caller.ep, fx_address(&fx), qual, 300000, 0, NULL,
                              DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
               "dat_ep_connect: the listener is stopped, 300 ms: success");
    ok(wait_connection(caller.conn, DAT_CONNECTION_EVENT_TIMED_OUT),
       "dat_ep_connect: the listener is stopped: TIMED_OUT");
    is_state(ep_state(caller.ep), DAT_EP_STATE_DISCONNECTED,
             "dat_ep_connect: the listener is stopped: DISCONNECTED");
    side_free(&caller);

    pattern_fill(r.mem, 64, 8);
    pattern_fill(r.mem + 65536, 300000, 6);
    t = all;
    t.target_address += 65536;
    t.segment_length = 300000;
    is_success(post_write(&s, &r, 65536, 300000, t, 1),
               "dat_ep_post_rdma_write: the peer is stopped: success");
    /* After the write, so that the message's arrival implies the write's. */
    is_success(post_send(&s, &r, 0, 64, 2), "dat_ep_post_send: the peer is stopped: success");
    ok(quiet(s.conn) && ep_state(s.ep) == DAT_EP_STATE_CONNECTED,
       "the peer is stopped: the connection stands");
    kill(p.pid, SIGCONT);
    link_say(&p.link, "look");
    ok(link_hear(&p.link, "seen"), "the peer goes on: message and RDMA write have arrived");
    ok(wait_dto(s.req, 1, DAT_DTO_SUCCESS, NULL) && wait_dto(s.req, 2, DAT_DTO_SUCCESS, NULL),
       "the peer goes on: both complete");

    must_rc(post_recv(&s, &r, 0, 64, 3), DAT_SUCCESS, "dat_ep_post_recv");
    stop(&p);
    is_success(dat_ep_disconnect(s.ep, DAT_CLOSE_ABRUPT_FLAG),
               "dat_ep_disconnect: abrupt, the peer is stopped: success");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
       "dat_ep_disconnect: abrupt, the peer is stopped: DISCONNECTED");
    ok(wait_dto(s.recv, 3, DAT_DTO_ERR_FLUSHED, NULL),
       "dat_ep_disconnect: abrupt, the peer is stopped: receives are flushed");
    is_success(dat_ep_reset(s.ep), "dat_ep_reset: the peer is stopped: success");
    kill(p.pid, SIGCONT);
    link_say(&p.link, "bye");
    peer_ok(&p, "the other process ends well");

    peer_start(&p, "partner");
    side_connect_peer(&s, &p.link);
    waiter_start(&w, s.conn, DAT_TIMEOUT_INFINITE, 1);
    stop(&p);
    ok(!waiter_done(&w, QUIET_MS), "the peer is stopped: a waiter on the connection EVD waits on");
    peer_kill(&p);
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS && (w.event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                               w.event.event_number == DAT_CONNECTION_EVENT_BROKEN),
       "the peer is killed: the blocked waiter gets DISCONNECTED or BROKEN");

    must_rc(dat_ep_reset(s.ep), DAT_SUCCESS, "dat_ep_reset");
    peer_start(&p, "partner");
    side_connect_peer(&s, &p.link);
    stop(&p);
    {
        uint64_t start = now_ms();

        is_success(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG),
                   "dat_ia_close: abrupt, the peer is stopped: success");
        ok(now_ms() - start < env_ms(5000), "dat_ia_close: abrupt, the peer is stopped: soon");
    }
    peer_kill(&p);
    return done_testing();
}
