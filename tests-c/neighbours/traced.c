/*
 * traced.c - which processes may read a program's memory if Yama permits only parents to read it.
 *
 * After the program's first connection with another process, any process of the user may read it. Before, or with
 * DAT_SHM_VM=0, no other process may read it.
 */
#define _GNU_SOURCE
#include "common/fixture.h"
#include "common/rights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct place {
    pid_t pid;
    uintptr_t addr;
};

/* The second process: for each order, tries to read a byte of another process, and reports whether it could. */
static int reader(struct link *up)
{
    struct place place;

    drop_ptrace();
    while (LINK_RECV(up, place) && place.pid != 0) {
        char byte;
        struct iovec local = { &byte, 1 }, remote = { (void *)place.addr, 1 };
        bool may = process_vm_readv(place.pid, &local, 1, &remote, 1, 0) == 1;

        must(LINK_SEND(up, may), "the other process is gone");
    }
    return 0;
}

static int met(struct link *up)
{
    struct fx fx;
    struct side s;

    drop_ptrace();
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    side_accept_peer(&s, up);
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static char secret = 1;

static bool may_read(struct peer *p)
{
    struct place place = { getpid(), (uintptr_t)&secret };
    bool may = true;

    must(LINK_SEND(&p->link, place) && LINK_RECV(&p->link, may), "the other process is gone");
    return may;
}

static bool meets(struct peer *reads)
{
    struct fx fx;
    struct side s;
    struct peer other;
    bool may;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    ok(!may_read(reads), "the adapter is open, nobody has been met: another process may not read the memory");
    peer_start(&other, "met");
    side_connect_peer(&s, &other.link);
    may = may_read(reads);
    link_say(&other.link, "bye");
    peer_ok(&other, "the process that was met ends");
    fx_close(&fx);
    return may;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "reader", reader }, { "met", met }, { NULL, NULL } };
    static const struct place end = { 0, 0 };
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");
    int scope = file != NULL ? fgetc(file) : EOF;
    struct peer reads;

    env_init(argc, argv, roles);
    if (file != NULL)
        fclose(file);
    if (!env_is_shm())
        skip_all("a device needs no rights to the memory of another process");
    if (scope != '1')
        skip_all("kernel.yama.ptrace_scope is not 1");
    peer_start(&reads, "reader");
    setenv("DAT_SHM_VM", "0", 1);
    ok(!meets(&reads), "DAT_SHM_VM=0: a process was met: another one may not read the memory");
    unsetenv("DAT_SHM_VM");
    ok(meets(&reads), "a process was met: another one may read the memory");
    must(LINK_SEND(&reads.link, end), "the other process is gone");
    peer_ok(&reads, "the process that reads ends");
    return done_testing();
}
