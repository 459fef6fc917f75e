/*
 * reached.c - messages and RDMA of all sizes with a process whose memory is not reached by its number:
 * its first thread has left by pthread_exit(), or it is in another pid namespace.
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGEST = 1 << 20, SIZES = 5 };

static const size_t sizes[SIZES] = { 100, 9 * 1024, 64 * 1024, 300001, LARGEST };

/* The parts of the region: what is sent, what is received, what the other side may use. */
enum { OUT_AT = 0, IN_AT = LARGEST, REMOTE_AT = 2 * LARGEST, REGION = 3 * LARGEST };

/* Sends, writes and reads; then takes what the other side sends. True if all is as it should be. */
static bool both_ways(struct side *s, struct region *r, DAT_RMR_TRIPLET all, unsigned own,
                      unsigned other, bool first, char *what, size_t room)
{
    int i, turn;

    for (i = 0; i < SIZES; i++) {
        size_t size = sizes[i];

        pattern_fill(r->mem + OUT_AT, size, own + (unsigned)i);
        for (turn = 0; turn < 2; turn++) {
            DAT_RMR_TRIPLET there = all;

            if ((turn == 0) == first) {
                there.segment_length = size;
                snprintf(what, room, "message of %zu bytes out", size);
                if (post_send(s, r, OUT_AT, size, 1) != DAT_SUCCESS ||
                    !wait_dto(s->req, 1, DAT_DTO_SUCCESS, NULL))
                    return false;
                snprintf(what, room, "RDMA write of %zu bytes", size);
                if (post_write(s, r, OUT_AT, size, there, 2) != DAT_SUCCESS ||
                    !wait_dto(s->req, 2, DAT_DTO_SUCCESS, NULL))
                    return false;
                snprintf(what, room, "RDMA read of %zu bytes", size);
                memset(r->mem + IN_AT, 0, size);
                if (post_read(s, r, IN_AT, size, there, 3) != DAT_SUCCESS ||
                    !wait_dto(s->req, 3, DAT_DTO_SUCCESS, NULL) ||
                    pattern_check(r->mem + IN_AT, size, own + (unsigned)i) >= 0)
                    return false;
                /* The next receive is posted before the other side may send. */
                if (post_recv(s, r, IN_AT, LARGEST, 4) != DAT_SUCCESS ||
                    post_send(s, r, OUT_AT, 1, 5) != DAT_SUCCESS ||
                    !wait_dto(s->req, 5, DAT_DTO_SUCCESS, NULL))
                    return false;
            } else {
                snprintf(what, room, "message of %zu bytes in", size);
                if (!wait_dto(s->recv, 4, DAT_DTO_SUCCESS, NULL) ||
                    pattern_check(r->mem + IN_AT, size, other + (unsigned)i) >= 0)
                    return false;
                snprintf(what, room, "word after %zu bytes", size);
                if (post_recv(s, r, IN_AT, LARGEST, 4) != DAT_SUCCESS ||
                    !wait_dto(s->recv, 4, DAT_DTO_SUCCESS, NULL))
                    return false;
                snprintf(what, room, "RDMA write of %zu bytes in", size);
                if (pattern_check(r->mem + REMOTE_AT, size, other + (unsigned)i) >= 0)
                    return false;
            }
        }
    }
    return true;
}

static void meet(struct fx *fx, struct side *s, struct region *r)
{
    fx_open(fx);
    side_make(s, fx, NULL);
    region_make(fx, r, REGION, DAT_MEM_PRIV_ALL_FLAG);
    must_rc(post_recv(s, r, IN_AT, LARGEST, 4), DAT_SUCCESS, "dat_ep_post_recv");
}

static void exchange(struct link *l, struct region *r, DAT_RMR_TRIPLET *theirs)
{
    DAT_RMR_TRIPLET ours = target(r, REMOTE_AT, LARGEST);

    must(LINK_SEND(l, ours) && LINK_RECV(l, *theirs), "the other process is gone");
}

/* When the first thread leaves. */
static enum { BEFORE, AFTER, NEVER } leaves;
static pthread_t leader;
static struct link *uplink;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool may_leave;

static void *second(void *unused)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET all;
    char what[80];

    (void)unused;
    if (leaves == BEFORE)
        must(pthread_join(leader, NULL) == 0, "pthread_join");
    meet(&fx, &s, &r);
    side_accept_peer(&s, uplink);
    exchange(uplink, &r, &all);
    if (leaves == AFTER) {
        pthread_mutex_lock(&gate);
        may_leave = true;
        pthread_cond_signal(&opened);
        pthread_mutex_unlock(&gate);
        must(pthread_join(leader, NULL) == 0, "pthread_join");
    }
    must(link_say(uplink, "alone"), "the other process is gone");
    must(both_ways(&s, &r, all, 50, 10, false, what, sizeof what), "%s", what);
    must(link_hear(uplink, "bye"), "the other process is gone");
    fx_close(&fx);
    exit(0);
}

static int play(struct link *up)
{
    pthread_t thread;

    leader = pthread_self();
    uplink = up;
    must(pthread_create(&thread, NULL, second, NULL) == 0, "pthread_create");
    if (leaves == NEVER)
        pthread_join(thread, NULL); /* it ends the process */
    pthread_mutex_lock(&gate);
    while (leaves == AFTER && !may_leave)
        pthread_cond_wait(&opened, &gate);
    pthread_mutex_unlock(&gate);
    pthread_exit(NULL);
}

static int leaves_before(struct link *up)
{
    leaves = BEFORE;
    must(link_say(up, "here"), "the other process is gone");
    return play(up);
}

static int leaves_after(struct link *up)
{
    leaves = AFTER;
    must(link_say(up, "here"), "the other process is gone");
    return play(up);
}

/* Its child is the first process of a namespace, and has there the number 1. */
static int elsewhere(struct link *up)
{
    pid_t child;
    int status;

    leaves = NEVER;
    if (unshare(CLONE_NEWPID) != 0 || (child = fork()) < 0) {
        link_say(up, "not");
        return 0;
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        must(getpid() == 1, "the process is not the first one of its namespace");
        must(link_say(up, "here"), "the other process is gone");
        exit(play(up));
    }
    must(waitpid(child, &status, 0) == child, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void talk_to(const char *role, const char *what_it_is)
{
    struct fx fx;
    struct side s;
    struct region r;
    struct peer p;
    DAT_RMR_TRIPLET all;
    char what[80] = "";

    peer_start(&p, role);
    if (!link_hear(&p.link, "here")) {
        peer_kill(&p);
        skip(2, "no pid namespaces");
        return;
    }
    meet(&fx, &s, &r);
    side_connect_peer(&s, &p.link);
    exchange(&p.link, &r, &all);
    must(link_hear(&p.link, "alone"), "the other process is gone, or its first thread does not end");
    ok(both_ways(&s, &r, all, 10, 50, true, what, sizeof what),
       "%s: messages and RDMA of all sizes, both ways (%s)", what_it_is, what);
    link_say(&p.link, "bye");
    peer_ok(&p, "%s: it agrees", what_it_is);
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "before", leaves_before },
                                              { "after", leaves_after },
                                              { "elsewhere", elsewhere },
                                              { NULL, NULL } };

    env_init(argc, argv, roles);
    if (env_valgrind())
        skip_all("valgrind takes the memory of a first thread that has ended for uninitialised");
    talk_to("before", "the peer's first thread left before the adapter was opened");
    talk_to("after", "the peer's first thread left after the connection came up");
    if (env_is_shm())
        talk_to("elsewhere", "the peer is in another pid namespace");
    return done_testing();
}
