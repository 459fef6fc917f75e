/*
 * reached.c - transfers with a process whose memory cannot be accessed through its process id: its first thread has
 * called pthread_exit(), or it is in another pid namespace.
 */
#define _GNU_SOURCE
#include "common/exchange.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The time at which the first thread ends. */
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
    exchange_open(&fx, &s, &r);
    side_accept_peer(&s, uplink);
    exchange_targets(uplink, &r, &all);
    if (leaves == AFTER) {
        pthread_mutex_lock(&gate);
        may_leave = true;
        pthread_cond_signal(&opened);
        pthread_mutex_unlock(&gate);
        must(pthread_join(leader, NULL) == 0, "pthread_join");
    }
    must(link_say(uplink, "alone"), "the other process is gone");
    must(exchange_both_ways(&s, &r, all, 50, 10, false, what, sizeof what), "%s", what);
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
        pthread_join(thread, NULL); /* the second thread ends the process */
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

/* The second process: its child, process 1 of a new pid namespace, makes the transfers. */
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
    exchange_open(&fx, &s, &r);
    side_connect_peer(&s, &p.link);
    exchange_targets(&p.link, &r, &all);
    must(link_hear(&p.link, "alone"), "the other process is gone, or its first thread does not end");
    ok(exchange_both_ways(&s, &r, all, 10, 50, true, what, sizeof what),
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
