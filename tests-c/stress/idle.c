/* idle.c - a process that waits or has nothing to do uses little CPU time. */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <poll.h>
#include <string.h>
#include <sys/resource.h>

static long cpu_ms(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
           (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
}

/* Duration of a measurement and the allowed CPU time in ms; the latter is scaled for slow machines. */
#define SPAN_MS 1500
#define SHARE_MS (SPAN_MS / 10)

static int partner(struct link *up)
{
    struct fx fx;
    struct side s;
    long before, ms;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    side_accept_peer(&s, up);
    before = cpu_ms();
    link_hear(up, "how much");
    ms = cpu_ms() - before;
    must(LINK_SEND(up, ms), "the other process is gone");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "partner", partner }, { NULL, NULL } };
    struct fx fx;
    struct peer p;
    struct side s;
    struct region r;
    struct pair q;
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE hint;
    DAT_EVENT e;
    DAT_COUNT more;
    long before, ms, theirs = -1;

    env_init(argc, argv, roles);
    if (env_valgrind())
        skip_all("times mean nothing under valgrind");
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    pair_open(&q, &fx, NULL);
    must(sides_talk(&q.a, &q.b), "no traffic");
    peer_start(&p, "partner");
    side_connect_peer(&s, &p.link);
    must_rc(post_recv(&s, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");

    before = cpu_ms();
    /* The test must not use CPU time itself. */
    must(poll(NULL, 0, SPAN_MS) == 0, "poll");
    ms = cpu_ms() - before;
    ok(ms < (long)env_ms(3 * SHARE_MS), "connected, no call at all: %d ms of %d at most", 3 * SHARE_MS, SPAN_MS);
    diag("%ld ms", ms);

    before = cpu_ms();
    must_rc(dat_evd_wait(s.recv, SPAN_MS * 1000, 1, &e, &more), DAT_TIMEOUT_EXPIRED, "dat_evd_wait");
    ms = cpu_ms() - before;
    ok(ms < (long)env_ms(SHARE_MS), "dat_evd_wait, blocked: %d ms of %d at most", SHARE_MS, SPAN_MS);
    diag("%ld ms", ms);

    if (dat_cno_create(fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno) == DAT_SUCCESS) {
        must_rc(dat_evd_modify_cno(s.recv, cno), DAT_SUCCESS, "dat_evd_modify_cno");
        before = cpu_ms();
        must_rc(dat_cno_wait(cno, SPAN_MS * 1000, &hint), DAT_QUEUE_EMPTY, "dat_cno_wait");
        ms = cpu_ms() - before;
        ok(ms < (long)env_ms(SHARE_MS), "dat_cno_wait, blocked: %d ms of %d at most", SHARE_MS, SPAN_MS);
        diag("%ld ms", ms);
    } else {
        skip_named("dat_cno_wait, blocked", "not implemented");
    }

    /* Neither side polls for a message without a receive. */

    if (!none_waits("a message waits for its receive")) {
        must_rc(post_send(&q.a, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_send");
        before = cpu_ms();
        must_rc(dat_evd_wait(q.b.conn, SPAN_MS * 1000, 1, &e, &more), DAT_TIMEOUT_EXPIRED, "dat_evd_wait");
        ms = cpu_ms() - before;
        ok(ms < (long)env_ms(3 * SHARE_MS), "a message waits for its receive: %d ms of %d at most", 3 * SHARE_MS,
           SPAN_MS);
        diag("%ld ms", ms);
    }

    link_say(&p.link, "how much");
    must(LINK_RECV(&p.link, theirs), "the other process does not answer");
    ok(theirs < (long)env_ms(4 * SHARE_MS), "the other process, connected, no call at all: %d ms of %d at most",
       4 * SHARE_MS, 4 * SPAN_MS);
    diag("%ld ms", theirs);
    link_say(&p.link, "bye");
    peer_ok(&p, "the other process ends well");
    fx_close(&fx);
    return done_testing();
}
