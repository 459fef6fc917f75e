/*
 * unmapped.c - transfers from and to registered memory that its process has unmapped or freed fail, and both processes
 * continue.
 *
 * If the provider copied within the process that owns the memory, the copy would crash that process. The provider
 * copies short messages in this way, so all messages of this test are long.
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE ((size_t)64 << 10)

enum kind { WRITE, READ, RECEIVER, SENDER, FREED, KINDS };

static const char *const names[] = {
    "an RDMA write to it", "an RDMA read from it", "a message of 64 KiB to it", "a message of 64 KiB from it",
    "a message of 64 KiB, then dat_lmr_free",
};

/* Maps pages, which can be unmapped later, and registers them. */
static void mapped(struct fx *fx, struct region *r)
{
    DAT_REGION_DESCRIPTION where;
    DAT_VLEN length;
    DAT_VADDR address;

    memset(r, 0, sizeof *r);
    r->size = SIZE;
    r->mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    must(r->mem != MAP_FAILED, "no memory");
    where.for_va = r->mem;
    must_rc(dat_lmr_create(fx->ia, DAT_MEM_TYPE_VIRTUAL, where, SIZE, fx->pz, DAT_MEM_PRIV_ALL_FLAG, &r->lmr,
                           &r->lmr_context, &r->rmr_context, &length, &address),
            DAT_SUCCESS, "dat_lmr_create");
}

/* The second process: unmaps or frees its registered memory, and continues. */
static int owner(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    enum kind kind;
    int status = DAT_DTO_SUCCESS;

    must(LINK_RECV(up, kind), "no orders");
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    mapped(&fx, &r);
    side_accept_peer(&s, up);
    if (kind == RECEIVER)
        must_rc(post_recv(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_recv");
    if (kind == FREED) {
        must_rc(post_send(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_send");
        must_rc(dat_lmr_free(r.lmr), DAT_SUCCESS, "dat_lmr_free");
    } else {
        must(munmap(r.mem, SIZE) == 0, "munmap");
    }
    must(link_send_target(up, target(&r, 0, SIZE)), "the other process is gone");
    if (kind == SENDER)
        must_rc(post_send(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_send");
    if (kind >= RECEIVER)
        status = wait_status(kind == RECEIVER ? s.recv : s.req, 1);
    must(LINK_SEND(up, status), "the other process is gone");
    must(link_hear(up, "bye"), "the other process is gone");
    fx_close(&fx);
    return 0;
}

static void play(enum kind kind)
{
    static const int here[] = { DAT_DTO_ERR_REMOTE_ACCESS, DAT_DTO_ERR_REMOTE_ACCESS, DAT_DTO_ERR_REMOTE_RESPONDER,
                                DAT_DTO_ERR_LOCAL_PROTECTION, DAT_DTO_ERR_FLUSHED };
    static const int there[] = { DAT_DTO_SUCCESS, DAT_DTO_SUCCESS, DAT_DTO_ERR_LOCAL_PROTECTION,
                                 DAT_DTO_ERR_REMOTE_RESPONDER, DAT_DTO_ERR_LOCAL_PROTECTION };
    struct fx fx;
    struct side s;
    struct region r;
    struct peer p;
    DAT_RMR_TRIPLET theirs;
    int status = -1;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, SIZE, DAT_MEM_PRIV_ALL_FLAG);
    if (kind == SENDER)
        must_rc(post_recv(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_recv");
    peer_start(&p, "owner");
    must(LINK_SEND(&p.link, kind), "the other process is gone");
    side_connect_peer(&s, &p.link);
    must(link_recv_target(&p.link, &theirs), "no memory is named");
    switch (kind) {
    case WRITE:
        must_rc(post_write(&s, &r, 0, SIZE, theirs, 1), DAT_SUCCESS, "dat_ep_post_rdma_write");
        break;
    case READ:
        must_rc(post_read(&s, &r, 0, SIZE, theirs, 1), DAT_SUCCESS, "dat_ep_post_rdma_read");
        break;
    case RECEIVER:
        must_rc(post_send(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_send");
        break;
    case FREED:
        must_rc(post_recv(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_recv");
        break;
    default:
        break;
    }
    is_status(wait_status(kind >= SENDER ? s.recv : s.req, 1), here[kind], "memory was unmapped, %s: it fails",
              names[kind]);
    must(LINK_RECV(&p.link, status), "the other process says nothing");
    is_int(status, there[kind], "memory was unmapped, %s: what its process is told", names[kind]);
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_BROKEN), "memory was unmapped, %s: BROKEN", names[kind]);
    link_say(&p.link, "bye");
    peer_ok(&p, "memory was unmapped, %s: its process goes on", names[kind]);
    fx_close(&fx);
}

/* Returns whether DAT_SHM_VM and the kernel permit copies between processes. */
static bool copies(void)
{
    char from = 1, to = 0;
    struct iovec local = { &to, 1 }, remote = { &from, 1 };
    const char *wanted = getenv("DAT_SHM_VM");

    return (wanted == NULL || strcmp(wanted, "0") != 0) && process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "owner", owner }, { NULL, NULL } };

    env_init(argc, argv, roles);
    if (env_valgrind())
        skip_all("valgrind complains of every use of memory that is unmapped");
    if (!env_is_shm())
        skip_all("a device has pinned the memory");
    if (!copies())
        skip_all("each process copies from and to its own memory");
    for (enum kind kind = WRITE; kind < KINDS; kind++)
        play(kind);
    return done_testing();
}
