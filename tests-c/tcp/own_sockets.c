/*
 * own_sockets.c - the library changes no socket of the program.
 *
 * Tests sockets at the address and port of a service point, and sockets that another thread creates while adapters are
 * opened and closed. Each socket works afterwards, also in the child of a fork, and no socket is close-on-exec.
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two connected sockets of the program. */
struct ends {
    const char *name;
    int fd[2];
};

static struct fx fx;


static bool passes(int from, int to, char byte)
{
    struct pollfd f = { to, POLLIN, 0 };
    char got = 0;

    return send(from, &byte, 1, MSG_NOSIGNAL) == 1 && poll(&f, 1, (int)env_ms(SOON_MS)) == 1 &&
           recv(to, &got, 1, 0) == 1 && got == byte;
}

/* Returns whether both ends survive an exec and pass a byte in both directions. */
static bool work(const struct ends *e)
{
    for (int i = 0; i < 2; i++) {
        int flags = fcntl(e->fd[i], F_GETFD);

        if (flags < 0 || (flags & FD_CLOEXEC) != 0)
            return false;
    }
    return passes(e->fd[0], e->fd[1], 'a') && passes(e->fd[1], e->fd[0], 'b');
}

/* Returns how many of the pairs work in the child of a fork, or -1 if the child is killed. */
static int work_in_child(const struct ends *all, int count)
{
    int status, good = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    must(pid >= 0, "fork: %s", strerror(errno));
    if (pid == 0) {
        alarm(60);
        for (int i = 0; i < count; i++)
            good += work(&all[i]);
        _exit(good);
    }
    must(waitpid(pid, &status, 0) == pid, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void all_work(const struct ends *all, int count, const char *when)
{
    for (int i = 0; i < count; i++)
        ok(work(&all[i]), "%s: %s works, and is not close-on-exec", when, all[i].name);
    is_int(work_in_child(all, count), count, "%s: all sockets work in the child of a fork", when);
    for (int i = 0; i < count; i++)
        ok(work(&all[i]), "%s, after the fork: %s works", when, all[i].name);
}

/* ---- Sockets at the port of a service point ---- */

static socklen_t size_of(const struct sockaddr_storage *a)
{
    return a->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static void set_port(struct sockaddr_storage *a, in_port_t port)
{
    if (a->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)a)->sin6_port = port;
    else
        ((struct sockaddr_in *)a)->sin_port = port;
}

static in_port_t port_of(int fd)
{
    struct sockaddr_storage a;
    socklen_t len = sizeof a;

    must(getsockname(fd, (struct sockaddr *)&a, &len) == 0, "getsockname");
    return a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port : ((struct sockaddr_in *)&a)->sin_port;
}

/* Returns a socket that is bound to a port of the adapter's address and shares the port. */
static int bound(int type, in_port_t port)
{
    struct sockaddr_storage a = fx.address;
    int fd = socket(a.ss_family, type, 0), on = 1;

    set_port(&a, port);
    must(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
             bind(fd, (struct sockaddr *)&a, size_of(&a)) == 0,
         "no socket at port %u: %s", (unsigned)ntohs(port), strerror(errno));
    return fd;
}

static void connect_to(int fd, in_port_t port)
{
    struct sockaddr_storage a = fx.address;

    set_port(&a, port);
    must(connect(fd, (struct sockaddr *)&a, size_of(&a)) == 0, "connect: %s", strerror(errno));
}

enum { KINDS = 4 };

/* Creates connected sockets at one port. Returns the port, at which no socket listens. */
static DAT_CONN_QUAL make(struct ends *all)
{
    int listener = bound(SOCK_STREAM, 0), other = bound(SOCK_STREAM, 0);
    in_port_t port = port_of(listener);

    must(listen(listener, 1) == 0 && listen(other, 1) == 0, "listen");
    all[0].name = "a TCP connection that was accepted at the port";
    all[0].fd[0] = bound(SOCK_STREAM, 0);
    connect_to(all[0].fd[0], port);
    all[0].fd[1] = accept(listener, NULL, NULL);
    close(listener);
    all[1].name = "a TCP connection from the port";
    all[1].fd[0] = bound(SOCK_STREAM, port);
    connect_to(all[1].fd[0], port_of(other));
    all[1].fd[1] = accept(other, NULL, NULL);
    close(other);
    all[2].name = "a UDP socket at the port";
    all[2].fd[0] = bound(SOCK_DGRAM, port);
    all[2].fd[1] = bound(SOCK_DGRAM, 0);
    connect_to(all[2].fd[0], port_of(all[2].fd[1]));
    connect_to(all[2].fd[1], port);
    all[3].name = "a socket pair";
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, all[3].fd) == 0, "socketpair");
    for (int i = 0; i < KINDS; i++)
        must(all[i].fd[0] >= 0 && all[i].fd[1] >= 0, "%s: no socket", all[i].name);
    return ntohs(port);
}

/* Connects two endpoints through the service point, exchanges messages and disconnects. */
static bool service_works(DAT_CONN_QUAL qual)
{
    struct side a, b;
    bool good;

    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    must_rc(side_connect(&a, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(next_request(fx.cr), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    good = wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
           wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED) && sides_talk(&a, &b);
    side_free(&a);
    side_free(&b);
    return good;
}

static void at_the_port(void)
{
    struct ends all[KINDS];
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual;

    fx_open(&fx);
    qual = make(all);
    all_work(all, KINDS, "before the service point");
    must_rc(dat_psp_create(fx.ia, qual, fx.cr, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS, "dat_psp_create");
    ok(service_works(qual), "a service point at a port with other sockets: it connects endpoints");
    all_work(all, KINDS, "with the service point");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    all_work(all, KINDS, "after dat_psp_free");
    must_rc(dat_psp_create(fx.ia, qual, fx.cr, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS, "dat_psp_create");
    ok(service_works(qual), "a second service point at that port: it connects endpoints");
    fx_close(&fx);
    all_work(all, KINDS, "after dat_ia_close");
    for (int i = 0; i < KINDS; i++) {
        close(all[i].fd[0]);
        close(all[i].fd[1]);
    }
}

/* ---- Sockets of another thread ---- */

enum { PAIRS = 48, ROUNDS = 100 };

static struct ends pairs[PAIRS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static unsigned long made, failed;

/* Repeatedly replaces the oldest pair. Counts the pairs that do not work in `failed`. */
static void *maker(void *unused)
{
    (void)unused;
    for (unsigned at = 0; !stop; at = (at + 1) % PAIRS) {
        struct ends *e = &pairs[at];

        pthread_mutex_lock(&lock);
        if (e->name != NULL) {
            failed += !work(e);
            close(e->fd[0]);
            close(e->fd[1]);
        }
        e->name = "a pair";
        must(socketpair(AF_UNIX, at % 2 != 0 ? SOCK_DGRAM : SOCK_STREAM, 0, e->fd) == 0, "socketpair: %s", strerror(errno));
        made++;
        pthread_mutex_unlock(&lock);
        /* Give the other thread time to lock. */
        if (at % 16 == 0)
            poll(NULL, 0, 1);
    }
    return NULL;
}

static void beside_another_thread(void)
{
    int rounds = env_count(ROUNDS, 20), in_children = 0, forks = 0;
    pthread_t thread;

    for (int i = 0; i < PAIRS; i++) {
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i].fd) == 0, "socketpair");
        pairs[i].name = "a pair";
    }
    must(pthread_create(&thread, NULL, maker, NULL) == 0, "pthread_create");
    for (int i = 0; i < rounds; i++) {
        struct pair p;

        fx_open(&fx);
        pair_open(&p, &fx, NULL);
        must(sides_talk(&p.a, &p.b), "no message");
        if (i % 10 == 0) {
            pthread_mutex_lock(&lock);
            in_children += work_in_child(pairs, PAIRS);
            pthread_mutex_unlock(&lock);
            forks++;
        }
        if (i % 2 == 0)
            pair_close(&p);
        fx_close(&fx);
        if (i % 10 == 5) {
            pthread_mutex_lock(&lock);
            in_children += work_in_child(pairs, PAIRS);
            pthread_mutex_unlock(&lock);
            forks++;
        }
    }
    stop = 1;
    pthread_join(thread, NULL);
    for (int i = 0; i < PAIRS; i++)
        failed += !work(&pairs[i]);
    is_int((long long)failed, 0, "adapters are opened and closed %d times: all socket pairs of another thread work", rounds);
    is_int(in_children, (long long)forks * PAIRS, "adapters are opened and closed: all socket pairs work in children of forks");
    diag("%lu pairs", made);
    for (int i = 0; i < PAIRS; i++) {
        close(pairs[i].fd[0]);
        close(pairs[i].fd[1]);
    }
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    at_the_port();
    beside_another_thread();
    return done_testing();
}
