/*
 * forks.c - threads that call fork, vfork, posix_spawn and system() during traffic, while other threads create and free
 * objects.
 *
 * Children exit, execute a program, overwrite registered memory or open the adapter. They affect neither the data nor
 * the connections of the parent. If a parent dies before its child, its peers get DISCONNECTED.
 *
 *   DAT_TEST_SECONDS=N   duration, default 4
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A size that is not a multiple of a page. */
enum { SIZE = 3 * 4096 + 100, FORKERS = 2, MAKERS = 2, LONG_LIVED = 4 };

/* ---- The second process: returns each message ---- */

static int echo(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_EVENT e;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, SIZE, MEM_LOCAL);
    must_rc(post_recv(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_recv");
    side_accept_peer(&s, up);
    while (wait_number(s.recv, DAT_DTO_COMPLETION_EVENT, &e) &&
           e.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS) {
        size_t n = (size_t)e.event_data.dto_completion_event_data.transfered_length;

        /* The next message comes only after the answer. On iWARP it must find a receive. */
        must_rc(post_recv(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&s, &r, 0, n, 2), DAT_SUCCESS, "dat_ep_post_send");
        must(wait_dto(s.req, 2, DAT_DTO_SUCCESS, NULL), "the answer is not sent");
    }
    fx_close(&fx);
    return 0;
}

/* ---- A parent that is killed before its child ---- */

static int mortal(struct link *up)
{
    struct fx fx;
    struct side s;
    pid_t child;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    side_connect_peer(&s, up);
    child = fork();
    must(child >= 0, "fork");
    if (child == 0)
        for (;;)
            pause();
    must(LINK_SEND(up, child), "the other process is gone");
    for (;;)
        pause();
    return 1; /* not reached */
}

static void parent_dies(void)
{
    struct fx fx;
    struct side s;
    struct peer p;
    pid_t child = 0;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    peer_start(&p, "mortal");
    side_accept_peer(&s, &p.link);
    must(LINK_RECV(&p.link, child) && child > 1, "no child");
    peer_kill(&p);
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED) && kill(child, 0) == 0,
       "a parent is killed, a child of it lives: the peer has DISCONNECTED");
    kill(child, SIGKILL);
    side_free(&s);
    fx_close(&fx);
}

/* ---- Traffic, and forks ---- */

static struct fx fx;
static int running;
static long forks, bad, lives, opened;
static struct region shared; /* overwritten by children */

static bool is_running(void)
{
    return __atomic_load_n(&running, __ATOMIC_SEQ_CST) != 0;
}

static void add(long *what)
{
    __atomic_fetch_add(what, 1, __ATOMIC_SEQ_CST);
}

/* Waits for a child, and counts it in `bad` unless it exits with status 0. Also counts a fork that failed. */
static void reap(pid_t pid, const char *what, unsigned ms)
{
    uint64_t end = now_ms() + env_ms(ms);
    int status = 0;

    if (pid < 0) {
        diag("a child that %s: fork fails", what);
        add(&bad);
        return;
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (now_ms() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            diag("a child that %s hangs", what);
            add(&bad);
            return;
        }
        breathe();
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        diag("a child that %s: status %#x", what, (unsigned)status);
        add(&bad);
    }
}

/* A separate function, because the child of vfork shares the variables of its caller. */
static pid_t run_after_vfork(char *const words[])
{
    pid_t pid = vfork();

    if (pid == 0) {
        execv("/bin/true", words);
        _exit(1);
    }
    return pid;
}

static int open_for_itself(void)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd;
    DAT_IA_HANDLE ia;

    if (dat_ia_open(env_ia(), 8, &async, &ia) != DAT_SUCCESS)
        return 2;
    if (dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd) != DAT_SUCCESS)
        return 3;
    return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS ? 0 : 4;
}

/* Kills a long-lived child and checks that it has not crashed before. */
static void end_of_life(pid_t pid)
{
    int status = 0;

    kill(pid, SIGKILL);
    if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        diag("a child that lives: status %#x", (unsigned)status);
        add(&bad);
    }
}

static void *forker(void *arg)
{
    static char name[] = "true";
    char *const words[] = { name, NULL };
    pid_t living[LONG_LIVED];
    unsigned turn = (unsigned)(uintptr_t)arg * 3, n = 0;

    for (; is_running(); turn++) {
        pid_t pid = -1;

        add(&forks);
        switch (turn % 7) {
        case 0:
            if ((pid = fork()) == 0)
                _exit(0);
            reap(pid, "leaves", SOON_MS);
            break;
        case 1:
            if ((pid = fork()) == 0) {
                execv("/bin/true", words);
                _exit(1);
            }
            reap(pid, "runs another program", SOON_MS);
            break;
        case 2:
            reap(run_after_vfork(words), "runs another program after vfork", SOON_MS);
            break;
        case 3:
            if (posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) == 0)
                reap(pid, "is spawned", SOON_MS);
            break;
        case 4:
            if (system("true") != 0)
                add(&bad);
            break;
        case 5:
            if ((pid = fork()) == 0) {
                memset(shared.mem, 0xdd, shared.size);
                for (;;)
                    pause();
            }
            if (pid < 0) {
                diag("a child that lives: fork fails");
                add(&bad);
                break;
            }
            add(&lives);
            if (n == LONG_LIVED) {
                end_of_life(living[0]);
                memmove(living, living + 1, (LONG_LIVED - 1) * sizeof living[0]);
                n--;
            }
            living[n++] = pid;
            break;
        default:
            if ((pid = fork()) == 0) {
                alarm(100);
                _exit(open_for_itself());
            }
            add(&opened);
            reap(pid, "opens the adapter", SOON_MS);
        }
    }
    while (n > 0) {
        end_of_life(living[--n]);
    }
    return NULL;
}

/* Creates and frees objects, so that other threads own locks of the libraries during forks. */
static void *maker(void *arg)
{
    (void)arg;
    while (is_running()) {
        DAT_EVD_HANDLE evd, async = DAT_HANDLE_NULL;
        DAT_CONN_QUAL qual;
        DAT_PSP_HANDLE psp;
        DAT_IA_HANDLE ia;

        for (int i = 0; i < 8; i++) {
            if (dat_evd_create(fx.ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd) != DAT_SUCCESS ||
                dat_evd_free(evd) != DAT_SUCCESS ||
                dat_psp_create_any(fx.ia, &qual, fx.cr, DAT_PSP_CONSUMER_FLAG, &psp) != DAT_SUCCESS ||
                dat_psp_free(psp) != DAT_SUCCESS)
                add(&bad);
        }
        if (dat_ia_open(env_ia(), 8, &async, &ia) != DAT_SUCCESS ||
            dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG) != DAT_SUCCESS)
            add(&bad);
    }
    return NULL;
}

static bool round_trip(struct side *s, unsigned seed)
{
    size_t n = 1 + seed * 997 % SIZE;
    unsigned char *in = shared.mem + SIZE;

    pattern_fill(shared.mem, n, seed);
    memset(in, 0, n);
    return post_recv(s, &shared, SIZE, SIZE, 3) == DAT_SUCCESS && post_send(s, &shared, 0, n, 4) == DAT_SUCCESS &&
           wait_dto(s->req, 4, DAT_DTO_SUCCESS, NULL) && wait_dto(s->recv, 3, DAT_DTO_SUCCESS, NULL) &&
           pattern_check(in, n, seed) < 0 && pattern_check(shared.mem, n, seed) < 0;
}

static bool some_of_each(unsigned rounds)
{
    return rounds > 5 && __atomic_load_n(&forks, __ATOMIC_SEQ_CST) > 7 &&
           __atomic_load_n(&opened, __ATOMIC_SEQ_CST) > 0 && __atomic_load_n(&lives, __ATOMIC_SEQ_CST) > 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "echo", echo }, { "mortal", mortal }, { NULL, NULL } };
    const char *given = getenv("DAT_TEST_SECONDS");
    pthread_t forker_of[FORKERS], maker_of[MAKERS];
    unsigned rounds = 0, good = 0;
    struct peer p;
    struct side s;
    uint64_t end;

    env_init(argc, argv, roles);
    if (env_valgrind())
        skip_all("children of a thread among others leave what valgrind takes for leaks");
    parent_dies();
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &shared, 2 * SIZE, MEM_LOCAL);
    peer_start(&p, "echo");
    side_connect_peer(&s, &p.link);
    ok(round_trip(&s, 1), "before any fork: a message and its answer");
    __atomic_store_n(&running, 1, __ATOMIC_SEQ_CST);
    for (uintptr_t i = 0; i < FORKERS; i++)
        must(pthread_create(&forker_of[i], NULL, forker, (void *)i) == 0, "no thread");
    for (int i = 0; i < MAKERS; i++)
        must(pthread_create(&maker_of[i], NULL, maker, NULL) == 0, "no thread");
    end = now_ms() + (given != NULL ? strtoul(given, NULL, 0) * 1000 : (unsigned)env_count(4000, 1000));
    /* On a slow machine, continue until every kind of child has run. */
    while ((now_ms() < end || (!some_of_each(rounds) && now_ms() < end + env_ms(SOON_MS))) && good == rounds)
        good += round_trip(&s, ++rounds + 1);
    __atomic_store_n(&running, 0, __ATOMIC_SEQ_CST);
    for (int i = 0; i < FORKERS; i++)
        pthread_join(forker_of[i], NULL);
    for (int i = 0; i < MAKERS; i++)
        pthread_join(maker_of[i], NULL);
    diag("%u messages and answers, %ld forks, %ld children lived, %ld opened the adapter", rounds, forks, lives, opened);
    is_int(good, rounds, "forks under traffic: every message and its answer is whole");
    is_int(bad, 0, "forks under traffic: every child ends well, no call fails");
    ok(some_of_each(rounds), "forks under traffic: there were some of each kind");
    ok(round_trip(&s, 7), "after all that: a message and its answer");
    must_rc(dat_ep_disconnect(s.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    peer_ok(&p, "after all that: the peer ends well");
    side_free(&s);
    region_free(&shared);
    fx_close(&fx);
    return done_testing();
}
