/* forked.c - forks of a process with connections; the child exits, executes a program or uses handles. */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * valgrind reports memory as lost in the child if only the parent's other threads refer to it. It still reports all
 * other errors.
 */
#define EXPECT_LEAKS() ((void)0)
#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#undef EXPECT_LEAKS
#define EXPECT_LEAKS() VALGRIND_CLO_CHANGE("--leak-check=no")
#endif
#endif

static int echo(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_EVENT e;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    must_rc(post_recv(&s, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    side_accept_peer(&s, up);
    for (;;) {
        must(wait_number(s.recv, DAT_DTO_COMPLETION_EVENT, &e), "no message");
        if (e.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
            break;
        must_rc(post_recv(&s, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&s, &r, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
        must(wait_dto(s.req, 2, DAT_DTO_SUCCESS, NULL), "the answer is not sent");
    }
    fx_close(&fx);
    return 0;
}

/* Reports how many descriptors it has inherited, in addition to the standard ones and the two pipes. */
static int heir(struct link *up)
{
    int others = 0;

    for (int fd = 3; fd < 1024; fd++)
        others += fd != up->in && fd != up->out && fcntl(fd, F_GETFD) >= 0;
    must(LINK_SEND(up, others), "the other process is gone");
    return 0;
}

static bool round_trip(struct side *s, struct region *r, unsigned seed)
{
    pattern_fill(r->mem, 64, seed);
    return post_recv(s, r, 64, 64, 3) == DAT_SUCCESS && post_send(s, r, 0, 64, 4) == DAT_SUCCESS &&
           wait_dto(s->req, 4, DAT_DTO_SUCCESS, NULL) &&
           wait_dto(s->recv, 3, DAT_DTO_SUCCESS, NULL) && pattern_check(r->mem + 64, 64, seed) < 0;
}

/* Codes of the calls in reopen(); DAT_SUCCESS before. */
static DAT_RETURN opened, closed;
static DAT_IA_HANDLE reopened;
/* The adapter of the parent, if the handler in the child makes calls. */
static DAT_IA_HANDLE inherited;

/* The handler in the child. It runs before the provider's, which is installed later. */
static void reopen(void)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;

    if (inherited == DAT_HANDLE_NULL)
        return;
    alarm(60);
    closed = dat_ia_close(inherited, DAT_CLOSE_ABRUPT_FLAG);
    opened = dat_ia_open(env_ia(), 8, &async, &reopened);
}

/* Returns the child's exit status, 128 + n for signal n, or -1 if the child does not exit. */
static int reap(pid_t pid)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);
    int status;

    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);

        if (got == pid)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (got < 0 || now_ms() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            return -1;
        }
        breathe();
    }
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "echo", echo }, { "heir", heir },
                                              { NULL, NULL } };
    static const char *const ways[] = { "_exit", "exit", "execs another program",
                                        "uses the parent's handles" };
    struct fx fx;
    struct peer p;
    struct side s;
    struct region r;

    int heirlooms = 0;

    env_init(argc, argv, roles);
    must(pthread_atfork(NULL, NULL, reopen) == 0, "pthread_atfork");
    for (int fd = 3; fd < 1024; fd++)
        heirlooms += fcntl(fd, F_GETFD) >= 0 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    peer_start(&p, "echo");
    side_connect_peer(&s, &p.link);
    ok(round_trip(&s, &r, 1), "before any fork: a message and its answer");
    for (int way = 0; way < 4; way++) {
        pid_t pid;
        int status;

        fflush(stdout);
        pid = fork();
        must(pid >= 0, "fork");
        if (pid == 0) {
            DAT_PZ_HANDLE pz;
            DAT_RETURN rc;

            EXPECT_LEAKS();
            alarm(30); /* ends a child that hangs */
            switch (way) {
            case 0: _exit(0);
            case 1: exit(0);
            case 2: execl("/bin/true", "true", (char *)NULL); _exit(1);
            default:
                /* The calls fail, or have no effect on the parent. */
                rc = dat_pz_create(fx.ia, &pz);
                rc |= dat_ep_disconnect(s.ep, DAT_CLOSE_ABRUPT_FLAG);
                _exit(rc == DAT_SUCCESS ? 2 : 0);
            }
        }
        status = reap(pid);
        if (way == 3 && status == 2)
            diag("the child's calls succeeded; that is not forbidden as long as nothing breaks");
        ok(status == 0 || (way == 3 && status == 2), "the child %s: it ends well", ways[way]);
        if (status != 0)
            diag("status %d", status);
        ok(round_trip(&s, &r, 2 + (unsigned)way), "the child %s: the parent's connection goes on",
           ways[way]);
        ok(quiet(s.conn), "the child %s: no connection event in the parent", ways[way]);
    }
    {
        pid_t pid;

        fflush(stdout);
        pid = fork();
        must(pid >= 0, "fork");
        if (pid == 0) {
            DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
            DAT_IA_HANDLE ia;
            DAT_RETURN rc;

            EXPECT_LEAKS();
            alarm(60);
            rc = dat_ia_open(env_ia(), 8, &async, &ia);
            if (rc != DAT_SUCCESS)
                _exit(1);
            _exit(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG) == DAT_SUCCESS ? 0 : 2);
        }
        is_int(reap(pid), 0, "the child opens and closes the adapter for itself");

        fflush(stdout);
        inherited = fx.ia;
        pid = fork();
        must(pid >= 0, "fork");
        if (pid == 0) {
            DAT_PZ_HANDLE pz;

            EXPECT_LEAKS();
            if (!rc_is(closed, DAT_INVALID_HANDLE))
                _exit(1);
            if (opened != DAT_SUCCESS)
                _exit(2);
            if (dat_pz_create(reopened, &pz) != DAT_SUCCESS)
                _exit(3);
            _exit(dat_ia_close(reopened, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS ? 0 : 4);
        }
        inherited = DAT_HANDLE_NULL;
        is_int(reap(pid), 0, "a handler in the child, older than the provider's: closes and opens the adapter");
    }
    if (!env_valgrind()) {
        struct peer h;
        int others = -1;

        peer_start(&h, "heir");
        must(LINK_RECV(&h.link, others), "no answer");
        /* Descriptors that this process itself has inherited are inherited again. */
        is_int(others, heirlooms, "a program started while connections stand: inherits none of the "
                               "library's descriptors");
        peer_ok(&h, "a program started while connections stand: ends well");
    }
    ok(round_trip(&s, &r, 9), "after all that: a message and its answer");
    must_rc(dat_ep_disconnect(s.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "after all that: DISCONNECTED");
    peer_ok(&p, "after all that: the peer ends well");
    fx_close(&fx);
    return done_testing();
}
