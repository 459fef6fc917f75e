/* idle.c - a process that waits or has nothing to do leaves the processor to others. */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <poll.h>
#include <string.h>
#include <sys/resource.h>

/* Processor time of this process, in ms. */
static long used(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
           (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
}

/* The time of a measurement and the processor time allowed in it, in ms. A slow machine is allowed more. */
#define SPAN 1500
#define SHARE (SPAN / 10)

static int partner(struct link *up)
{
    struct fx fx;
    struct side s;
    long before, ms;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    side_accept_peer(&s, up);
    before = used();
    link_hear(up, "how much");
    ms = used() - before;
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

    before = used();
    /* The test itself takes no processor time meanwhile, as it would by looking at a condition. */
    must(poll(NULL, 0, SPAN) == 0, "poll");
    ms = used() - before;
    ok(ms < (long)env_ms(3 * SHARE), "connected, no call at all: %d ms of %d at most", 3 * SHARE, SPAN);
    diag("%ld ms", ms);

    before = used();
    must_rc(dat_evd_wait(s.recv, SPAN * 1000, 1, &e, &more), DAT_TIMEOUT_EXPIRED, "dat_evd_wait");
    ms = used() - before;
    ok(ms < (long)env_ms(SHARE), "dat_evd_wait, blocked: %d ms of %d at most", SHARE, SPAN);
    diag("%ld ms", ms);

    if (dat_cno_create(fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno) == DAT_SUCCESS) {
        must_rc(dat_evd_modify_cno(s.recv, cno), DAT_SUCCESS, "dat_evd_modify_cno");
        before = used();
        must_rc(dat_cno_wait(cno, SPAN * 1000, &hint), DAT_QUEUE_EMPTY, "dat_cno_wait");
        ms = used() - before;
        ok(ms < (long)env_ms(SHARE), "dat_cno_wait, blocked: %d ms of %d at most", SHARE, SPAN);
        diag("%ld ms", ms);
    } else {
        skip_named("dat_cno_wait, blocked", "not implemented");
    }

    /* A message that nobody has a buffer for makes nobody spin either. */
    must_rc(post_send(&q.a, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_send");
    before = used();
    must_rc(dat_evd_wait(q.b.conn, SPAN * 1000, 1, &e, &more), DAT_TIMEOUT_EXPIRED, "dat_evd_wait");
    ms = used() - before;
    ok(ms < (long)env_ms(3 * SHARE), "a message waits for its receive: %d ms of %d at most", 3 * SHARE, SPAN);
    diag("%ld ms", ms);

    link_say(&p.link, "how much");
    must(LINK_RECV(&p.link, theirs), "the other process does not answer");
    ok(theirs < (long)env_ms(4 * SHARE), "the other process, connected, no call at all: %d ms of %d at most",
       4 * SHARE, 4 * SPAN);
    diag("%ld ms", theirs);
    link_say(&p.link, "bye");
    peer_ok(&p, "the other process ends well");
    fx_close(&fx);
    return done_testing();
}
