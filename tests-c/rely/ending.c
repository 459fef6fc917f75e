/* ending.c - properties that programs need when they end or are killed. */
#include "common/zoo.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns whether this is an allowed error for a free in the wrong order. */
static bool refused(DAT_RETURN rc)
{
    return rc_is(rc, DAT_INVALID_STATE) || rc_is(rc, DAT_INVALID_HANDLE);
}

static void wrong_order(void)
{
    struct fx fx;
    struct pair p;
    struct region r;
    DAT_LMR_HANDLE lmr;
    DAT_PZ_HANDLE pz;

    fx_open(&fx);
    pair_open(&p, &fx, NULL);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    must_rc(post_recv(&p.b, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    ok(refused(dat_evd_free(p.a.recv)) && refused(dat_evd_free(p.a.req)) &&
           refused(dat_evd_free(p.a.conn)),
       "28: EVDs under live endpoints: cannot be freed");
    ok(refused(dat_pz_free(fx.pz)), "28: the zone under live endpoints: cannot be freed");
    ok(refused(dat_ia_close(fx.ia, DAT_CLOSE_GRACEFUL_FLAG)),
       "28: graceful dat_ia_close with all that alive: refused");
    must_rc(post_send(&p.a, &r, 64, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, NULL) && wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL) &&
           sides_talk(&p.a, &p.b),
       "28: after refused frees: the connection works on");
    lmr = r.lmr;
    pz = fx.pz;
    must_rc(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ia_close");
    ok(refused(dat_lmr_free(lmr)), "28: LMR of an adapter that is closed: DAT_INVALID_HANDLE");
    ok(refused(dat_pz_free(pz)) && refused(dat_ep_free(p.a.ep)) && refused(dat_evd_free(p.a.recv)),
       "28: zone, endpoint, EVD of an adapter that is closed: DAT_INVALID_HANDLE");
    ok(refused(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG)),
       "28: the adapter that is closed: DAT_INVALID_HANDLE");
    r.lmr = DAT_HANDLE_NULL;
    region_free(&r);
}

static void everything_alive(void)
{
    struct zoo z;
    struct pair p;
    struct region r;

    for (int i = 0; i < 5; i++) {
        zoo_open(&z);
        pair_open(&p, &z.fx, NULL);
        region_make(&z.fx, &r, 4096, MEM_LOCAL);
        must_rc(post_recv(&p.b, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.a, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_send");
        must_rc(post_send(&p.a, &r, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
        is_success(dat_ia_close(z.fx.ia, DAT_CLOSE_ABRUPT_FLAG),
                   "29: dat_ia_close, abrupt, with everything alive: success");
        r.lmr = DAT_HANDLE_NULL;
        region_free(&r);
    }
}

static int quitter(struct link *up)
{
    struct zoo z;
    struct side s;
    struct region r;
    int way;

    must(LINK_RECV(up, way), "no orders");
    zoo_open(&z);
    side_make(&s, &z.fx, NULL);
    region_make(&z.fx, &r, 4096, MEM_LOCAL);
    side_accept_peer(&s, up);
    must_rc(post_recv(&s, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&s, &r, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    link_hear(up, "leave");
    if (way == 0)
        return 0;
    if (way == 1)
        _exit(0);
    abort();
}

static void left_behind(struct fx *fx)
{
    static const char *const ways[3] = { "exit", "_exit", "abort" };
    struct region r;

    region_make(fx, &r, 4096, MEM_LOCAL);
    for (int way = 0; way < 3; way++) {
        struct peer p;
        struct side s;
        DAT_EVENT e;

        peer_start(&p, "quitter");
        must(LINK_SEND(&p.link, way), "the peer has exited");
        side_make(&s, fx, NULL);
        side_connect_peer(&s, &p.link);
        link_say(&p.link, "leave");
        ok(wait_event(s.conn, &e) && (e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                                      e.event_number == DAT_CONNECTION_EVENT_BROKEN),
           "29: the peer leaves by %s with everything alive: DISCONNECTED or BROKEN", ways[way]);
        must_rc(dat_ep_reset(s.ep), DAT_SUCCESS, "dat_ep_reset");
        {
            struct side other;

            side_make(&other, fx, NULL);
            sides_connect(&s, &other);
            ok(sides_talk(&s, &other), "29: the peer has left by %s: this process goes on", ways[way]);
            side_free(&other);
        }
        side_free(&s);
        peer_join(&p, SOON_MS);
    }
    region_free(&r);
}

static void freed_before_the_end(struct fx *fx)
{
    struct pair p;
    struct region r, keep;
    int fine = 1;

    pair_open(&p, fx, NULL);
    region_make(fx, &r, 8u << 20, MEM_LOCAL); /* large enough for free() to unmap it */
    region_make(fx, &keep, 4096, MEM_LOCAL);
    for (unsigned i = 0; i < 10; i++) {
        fine &= post_recv(&p.a, &r, i * 64, 64, i) == DAT_SUCCESS;
        fine &= post_recv(&p.b, &r, i * 64, 64, i) == DAT_SUCCESS;
    }
    for (unsigned i = 0; i < 5; i++)
        fine &= post_send(&p.b, &r, 32768, i % 2 ? 4096 : 500000, i) == DAT_SUCCESS;
    is_success(dat_lmr_free(r.lmr), "30: a region with receives and sends posted on it: freed");
    r.lmr = DAT_HANDLE_NULL;
    region_free(&r); /* frees the memory */
    is_success(dat_ep_disconnect(p.a.ep, DAT_CLOSE_DEFAULT), "30: disconnect after that: success");
    ok(wait_state(p.a.ep, DAT_EP_STATE_DISCONNECTED) && wait_state(p.b.ep, DAT_EP_STATE_DISCONNECTED),
       "30: disconnect after that: both ends see it");
    ok(fine, "30: buffers posted and regions freed before the disconnect: no crash");
    pair_close(&p);
    region_free(&keep);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "quitter", quitter }, { NULL, NULL } };
    struct fx fx;

    env_init(argc, argv, roles);
    wrong_order();
    everything_alive();
    fx_open(&fx);
    left_behind(&fx);
    freed_before_the_end(&fx);
    fx_close(&fx);
    return done_testing();
}
