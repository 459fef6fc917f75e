/*
 * namespaces.c - two processes in separate namespaces that share a rendezvous directory, as containers do.
 *
 * Messages and RDMA of all sizes arrive. The test also checks whether the kernel copies, or all bytes go through shared
 * memory, and what dat_ep_connect returns if the processes cannot reach each other.
 */
#define _GNU_SOURCE
#include "common/exchange.h"
#include "common/place.h"
#include "common/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Properties of a container, besides the flags of unshare(2), which are larger than these flags. */
enum {
    OWN_PROC = 1,  /* mounts its own /proc */
    ELSEWHERE = 2, /* mounts the rendezvous directory at another path */
    NOBODY = 4,    /* has no uid in the user namespace */
    OTHER_PLACE = 8,
    OTHER_USER = 16
};

#define ALONE (CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS)

/* Exit status if the system does not permit such a container. */
#define NOT_HERE 77

/* Number of copies of at least one page. Shorter copies only identify the peer. */
static int copies;

static ssize_t count(int number, pid_t pid, const struct iovec *local, unsigned long ln,
                     const struct iovec *remote, unsigned long rn, unsigned long flags)
{
    ssize_t done = syscall(number, pid, local, ln, remote, rn, flags);

    if (done >= 4096)
        __atomic_add_fetch(&copies, 1, __ATOMIC_SEQ_CST);
    return done;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long ln,
                         const struct iovec *remote, unsigned long rn, unsigned long flags)
{
    return count(SYS_process_vm_readv, pid, local, ln, remote, rn, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long ln,
                          const struct iovec *remote, unsigned long rn, unsigned long flags)
{
    return count(SYS_process_vm_writev, pid, local, ln, remote, rn, flags);
}

/* ---- A container ---- */

static bool put(const char *file, const char *text)
{
    int fd = open(file, O_WRONLY);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return done;
}

/* Writes a configuration with another rendezvous directory. */
static void configure(const char *name)
{
    char path[128], line[1024];
    const char *place = place_path();
    FILE *from = fopen(getenv("DAT_OVERRIDE"), "r"), *to;

    snprintf(path, sizeof path, "%s-%s.conf", place, name);
    to = fopen(path, "w");
    must(from != NULL && to != NULL, "no configuration");
    while (fgets(line, sizeof line, from) != NULL) {
        char *at = strstr(line, place);

        if (at == NULL)
            fputs(line, to);
        else
            fprintf(to, "%.*s%s-%s%s", (int)(at - line), line, place, name, at + strlen(place));
    }
    fclose(from);
    must(fclose(to) == 0, "no configuration");
    setenv("DAT_OVERRIDE", path, 1);
}

/*
 * Moves this process into a container. For a new pid namespace, a child continues, and its parent does not return.
 * Returns false if the system does not permit the container.
 */
static bool enter(int what)
{
    char map[64], path[128];
    uid_t user = geteuid();
    int status;
    pid_t child;

    if ((what & OTHER_USER) != 0 && !become_user(65534))
        return false;
    if ((what & CLONE_NEWUSER) != 0)
        load_provider();
    if (unshare(what & ~0xff) != 0)
        return false;
    if ((what & CLONE_NEWUSER) != 0 && (what & NOBODY) == 0) {
        snprintf(map, sizeof map, "%u %u 1", (unsigned)user, (unsigned)user);
        if (!put("/proc/self/uid_map", map))
            return false;
    }
    if ((what & CLONE_NEWPID) != 0) {
        child = fork();
        if (child < 0)
            return false;
        if (child > 0) {
            while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    if ((what & CLONE_NEWNS) != 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return false;
    if ((what & OWN_PROC) != 0 && mount("proc", "/proc", "proc", 0, NULL) != 0)
        return false;
    if ((what & ELSEWHERE) != 0) {
        snprintf(path, sizeof path, "%s-elsewhere", place_path());
        if ((mkdir(path, 0700) != 0 && errno != EEXIST) || mount(place_path(), path, NULL, MS_BIND, NULL) != 0)
            return false;
        configure("elsewhere");
    }
    if ((what & OTHER_PLACE) != 0)
        configure("other");
    return true;
}

/* ---- The two processes ---- */

struct order {
    int what;
    bool copies; /* the kernel must copy */
};

static int contained(struct link *up, struct order *o)
{
    must(LINK_RECV(up, *o), "the other process is gone");
    if (!enter(o->what)) {
        link_say(up, "not");
        return NOT_HERE;
    }
    must(link_say(up, "here") && link_hear(up, "go"), "the other process is gone");
    return 0;
}

static int talk(struct link *up, bool first)
{
    struct fx fx;
    struct side s;
    struct region r;
    struct order o;
    DAT_RMR_TRIPLET all;
    char what[80] = "";
    int status = contained(up, &o);

    if (status != 0)
        return status;
    exchange_open(&fx, &s, &r);
    if (first)
        side_accept_peer(&s, up);
    else
        side_connect_peer(&s, up);
    exchange_targets(up, &r, &all);
    must(exchange_both_ways(&s, &r, all, first ? 10 : 50, first ? 50 : 10, first, what, sizeof what), "%s",
         what);
    must((__atomic_load_n(&copies, __ATOMIC_SEQ_CST) > 0) == o.copies, "%d copies by the kernel", copies);
    must(link_say(up, "bye") && link_hear(up, "bye"), "the other process is gone");
    fx_close(&fx);
    return 0;
}

static int first(struct link *up)
{
    return talk(up, true);
}

static int second(struct link *up)
{
    return talk(up, false);
}

/* The second process: connects to a service point in another rendezvous directory. */
static int stranger(struct link *up)
{
    struct fx fx;
    struct side s;
    struct order o;
    DAT_CONN_QUAL qual;
    int status = contained(up, &o);

    if (status != 0)
        return status;
    must(LINK_RECV(up, qual), "the other process is gone");
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED), "no NON_PEER_REJECTED");
    fx_close(&fx);
    return 0;
}

/* The second process: opens the adapter with a rendezvous directory of another user, which must fail. */
static int intruder(struct link *up)
{
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    struct order o;
    int status = contained(up, &o);

    if (status != 0)
        return status;
    must_rc(dat_ia_open(env_ia(), 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES, "dat_ia_open");
    return 0;
}

/* ---- The first process ---- */

static bool begin(struct peer *p, const char *role, struct order o)
{
    peer_start(p, role);
    return LINK_SEND(&p->link, o) && link_hear(&p->link, "here") && link_say(&p->link, "go");
}

/* Forwards the messages of the two processes until both have exited. */
static void relay(struct peer *a, struct peer *b)
{
    struct pollfd in[2] = { { a->link.in, POLLIN, 0 }, { b->link.in, POLLIN, 0 } };
    int out[2] = { b->link.out, a->link.out };
    uint64_t end = now_ms() + env_ms(SOON_MS);

    while ((in[0].fd >= 0 || in[1].fd >= 0) && now_ms() < end) {
        poll(in, 2, 100);
        for (int i = 0; i < 2; i++) {
            char bytes[4096];
            ssize_t size;

            if (in[i].revents == 0)
                continue;
            size = read(in[i].fd, bytes, sizeof bytes);
            if (size <= 0 || write(out[i], bytes, (size_t)size) != size)
                in[i].fd = -1;
        }
    }
}

/*
 * Runs two processes in containers. Returns 0 if both succeeded, or NOT_HERE if the system does not permit these
 * containers.
 */
static int row(struct order a, struct order b)
{
    struct peer one, two;
    int status, other;

    peer_start(&two, "second");
    if (!begin(&one, "first", a) ||
        !(LINK_SEND(&two.link, b) && link_hear(&two.link, "here") && link_say(&two.link, "go"))) {
        peer_kill(&one);
        peer_kill(&two);
        return NOT_HERE;
    }
    relay(&one, &two);
    status = peer_join(&one, SOON_MS);
    other = peer_join(&two, SOON_MS);
    peer_end_all();
    return status == 0 ? other : status;
}

static int row_within(int what, struct order a, struct order b)
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    must(child >= 0, "fork");
    if (child == 0)
        _exit(enter(what) ? row(a, b) : NOT_HERE);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void result(int status, const char *what)
{
    if (status == NOT_HERE)
        skip(1, "no such namespaces here");
    else
        ok(status == 0, "%s", what);
}

static void meet(const char *what, int within, int a, int b, bool are_copied)
{
    struct order one = { a, are_copied }, two = { b, are_copied };

    result(within != 0 ? row_within(within, one, two) : row(one, two), what);
}

static void alone(const char *what, const char *role, int flags)
{
    struct order o = { flags, false };
    struct fx fx;
    struct peer p;
    DAT_CONN_QUAL qual = 0;

    fx_open(&fx);
    fx_listen(&fx, &qual);
    if (begin(&p, role, o)) {
        LINK_SEND(&p.link, qual);
        result(peer_join(&p, SOON_MS), what);
    } else {
        peer_kill(&p);
        result(NOT_HERE, what);
    }
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "first", first },       { "second", second },
                                              { "stranger", stranger }, { "intruder", intruder },
                                              { NULL, NULL } };
    /* Without privileges, other namespaces need a user namespace. */

    int user = geteuid() == 0 ? 0 : CLONE_NEWUSER;
    char around[128];
    int own_pids = user | CLONE_NEWPID | CLONE_NEWNS | OWN_PROC;

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("only shm is between processes of one host");
    if (env_valgrind())
        skip_all("valgrind looks at processes through /proc");
    place_make();
    snprintf(around, sizeof around, "%s/..", place_path());
    must(mkdir(place_path(), 0700) == 0 && chmod(around, 0755) == 0, "mkdir");

    meet("no namespaces of their own: the kernel copies", 0, 0, 0, true);
    if (user == 0)
        meet("ipc, network, uts and mount namespaces of their own, the directory at two paths: the kernel copies",
             0, ALONE, ALONE | ELSEWHERE, true);
    meet("one pid namespace, with its own /proc: the kernel copies", own_pids, 0, 0, true);
    meet("one pid namespace, with the /proc of another: through shared memory", user | CLONE_NEWPID, 0, 0, false);
    meet("pid namespaces of their own: through shared memory", 0, own_pids, own_pids, false);
    meet("pid namespaces of their own, with the /proc of another: through shared memory", 0,
         user | CLONE_NEWPID, user | CLONE_NEWPID, false);
    meet("a pid namespace within the other's: through shared memory", 0, 0, own_pids, false);
    meet("user namespaces of their own: through shared memory", 0, CLONE_NEWUSER, CLONE_NEWUSER, false);
    meet("user namespaces without a number for the user: through shared memory", 0, CLONE_NEWUSER | NOBODY,
         CLONE_NEWUSER | NOBODY, false);
    meet("all namespaces of their own, the directory at two paths: through shared memory", 0,
         CLONE_NEWUSER | CLONE_NEWPID | ALONE | OWN_PROC,
         CLONE_NEWUSER | CLONE_NEWPID | ALONE | OWN_PROC | ELSEWHERE, false);

    alone("another directory: the connection is rejected", "stranger", OTHER_PLACE);
    if (geteuid() == 0) {
        alone("another user's directory: dat_ia_open refuses it", "intruder", OTHER_USER);
        alone("and where that user looks like this one", "intruder", OTHER_USER | CLONE_NEWUSER | NOBODY);
    }
    place_end();
    return done_testing();
}
