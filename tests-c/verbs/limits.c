/*
 * limits.c - many limits on locked memory, descriptors and address space. Each call succeeds or returns an error code,
 * connection attempts end, and all objects can be freed. Without the limit the process works again, on the same adapter
 * and on a new one.
 *
 * Each value is tested in a separate process. $DAT_TEST_LIMITS multiplies the number of values.
 *
 * For address space the room is 0, 2 or 4 million bytes. With about 600000 bytes Soft-RoCE's library (rdma-core 44) can
 * get a completion queue without memory, and its next poll crashes the process. $DAT_TEST_LIMITS above 2 can test such
 * values.
 */
#define _GNU_SOURCE
#include "adapters.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EVDS = 3, BIG = 1 << 20 };

struct order {
    int resource;
    unsigned long room; /* in addition to the current use; for RLIMIT_MEMLOCK, the limit */
    bool open_first;    /* set the limit after dat_ia_open() */
};

struct tally {
    int made, refused, odd;
};

/* ---- one use of all objects ---- */

/* Counts the result as a success, an expected error, or an unexpected error. Returns whether it is a success. */
static bool did(struct tally *t, DAT_RETURN rc, const char *what)
{
    if (rc == DAT_SUCCESS) {
        t->made++;
        return true;
    }
    t->refused++;
    if (!rc_is(rc, DAT_INSUFFICIENT_RESOURCES) && !rc_is(rc, DAT_PROVIDER_NOT_FOUND) &&
        !rc_is(rc, DAT_INTERNAL_ERROR)) {
        fprintf(stderr, "# %s: %s\n", what, rc_text(rc));
        t->odd++;
    }
    return false;
}

/* Counts the result of a free, which must succeed despite the limit. */
static void undo(struct tally *t, DAT_RETURN rc, const char *what)
{
    if (rc != DAT_SUCCESS) {
        fprintf(stderr, "# %s: %s\n", what, rc_text(rc));
        t->odd++;
    }
}

struct end {
    DAT_EVD_HANDLE evd[EVDS];
    int evds;
    DAT_EP_HANDLE ep;
};

static bool end_make(struct tally *t, struct end *e, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz)
{
    static const unsigned flags[EVDS] = { DAT_EVD_DTO_FLAG, DAT_EVD_DTO_FLAG,
                                          DAT_EVD_CONNECTION_FLAG };

    memset(e, 0, sizeof *e);
    while (e->evds < EVDS &&
           did(t, dat_evd_create(ia, 16, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)flags[e->evds], &e->evd[e->evds]),
               "dat_evd_create"))
        e->evds++;
    return e->evds == EVDS &&
           did(t, dat_ep_create(ia, pz, e->evd[0], e->evd[1], e->evd[2], NULL, &e->ep), "dat_ep_create");
}

static void end_free(struct tally *t, struct end *e)
{
    if (e->ep != DAT_HANDLE_NULL)
        undo(t, dat_ep_free(e->ep), "dat_ep_free");
    while (e->evds > 0)
        undo(t, dat_evd_free(e->evd[--e->evds]), "dat_evd_free");
}

/* Returns 1 if the end is connected, 0 if its attempt failed, -1 without an event. */
static int outcome(struct end *e)
{
    DAT_EVENT event;

    if (!wait_event(e->evd[2], &event))
        return -1;
    return event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED;
}

/* Connects two ends and sends a message. Returns whether it arrived intact. */
static bool talk(struct tally *t, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_IA_ADDRESS_PTR address,
                 unsigned char *memory)
{
    struct end a, b;
    DAT_EVD_HANDLE requests = DAT_HANDLE_NULL;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_REGION_DESCRIPTION where;
    DAT_LMR_CONTEXT context;
    DAT_RMR_CONTEXT remote;
    DAT_CONN_QUAL qual;
    DAT_VLEN length;
    DAT_VADDR from;
    DAT_EVENT event;
    bool good = false, here;
    int up;

    memset(&where, 0, sizeof where);
    where.for_va = memory;
    here = end_make(t, &a, ia, pz);
    here = end_make(t, &b, ia, pz) && here;
    if (did(t, dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, where, BIG, pz, MEM_LOCAL, &lmr, &context, &remote,
                              &length, &from), "dat_lmr_create") &&
        did(t, dat_evd_create(ia, 4, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests), "dat_evd_create") &&
        did(t, dat_psp_create_any(ia, &qual, requests, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create_any") &&
        here &&
        did(t, dat_ep_connect(a.ep, address, qual, env_us(SOON_MS), 0, NULL, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG), "dat_ep_connect")) {
        bool asked = false, accepted = false;
        uint64_t end = now_ms() + env_ms(2 * SOON_MS);

        /* Wait until the request arrives or the attempt ends. */
        while (!asked && now_ms() < end) {
            DAT_COUNT more;

            asked = dat_evd_wait(requests, 20000, 1, &event, &more) == DAT_SUCCESS;
            if (!asked && ep_state(a.ep) == DAT_EP_STATE_DISCONNECTED)
                break;
        }
        if (asked) {
            DAT_CR_HANDLE cr = event.event_data.cr_arrival_event_data.cr_handle;

            accepted = did(t, dat_cr_accept(cr, b.ep, 0, NULL), "dat_cr_accept");
            if (!accepted)
                undo(t, dat_cr_reject(cr), "dat_cr_reject");
        }
        up = outcome(&a);
        if (up < 0 || (accepted && outcome(&b) < 0)) {
            fprintf(stderr, "# no event for an attempt\n");
            t->odd++;
        }
        if (up == 1 && accepted) {
            DAT_LMR_TRIPLET to = { .lmr_context = context, .virtual_address = (DAT_VADDR)(uintptr_t)memory, .segment_length = 4096 };
            DAT_LMR_TRIPLET of = { .lmr_context = context, .virtual_address = (DAT_VADDR)(uintptr_t)memory + BIG / 2,
                                   .segment_length = 4096 };

            pattern_fill(memory + BIG / 2, 4096, 5);
            if (did(t, dat_ep_post_recv(b.ep, 1, &to, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                    "dat_ep_post_recv") &&
                did(t, dat_ep_post_send(a.ep, 1, &of, cookie(2), DAT_COMPLETION_DEFAULT_FLAG),
                    "dat_ep_post_send"))
                good = wait_dto(b.evd[0], 1, DAT_DTO_SUCCESS, NULL) &&
                       pattern_check(memory, 4096, 5) == -1 &&
                       wait_dto(a.evd[1], 2, DAT_DTO_SUCCESS, NULL);
            undo(t, dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
        }
    }
    end_free(t, &a);
    end_free(t, &b);
    if (psp != DAT_HANDLE_NULL)
        undo(t, dat_psp_free(psp), "dat_psp_free");
    if (requests != DAT_HANDLE_NULL)
        undo(t, dat_evd_free(requests), "dat_evd_free");
    if (lmr != DAT_HANDLE_NULL)
        undo(t, dat_lmr_free(lmr), "dat_lmr_free");
    return good;
}

static bool whole(struct tally *t, DAT_IA_HANDLE *opened, unsigned char *memory)
{
    DAT_IA_HANDLE ia = *opened;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    DAT_IA_ATTR attr;
    bool good = false;

    if (ia == DAT_HANDLE_NULL && !did(t, dat_ia_open(env_ia(), 8, &async, &ia), "dat_ia_open"))
        return false;
    undo(t, dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL), "dat_ia_query");
    if (did(t, dat_pz_create(ia, &pz), "dat_pz_create")) {
        struct sockaddr_storage address;

        memset(&address, 0, sizeof address);
        memcpy(&address, attr.ia_address_ptr, sizeof(struct sockaddr_in));
        good = talk(t, ia, pz, (DAT_IA_ADDRESS_PTR)&address, memory);
        undo(t, dat_pz_free(pz), "dat_pz_free");
    }
    if (*opened == DAT_HANDLE_NULL)
        undo(t, dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), "dat_ia_close");
    return good;
}

/* ---- the process with the limit ---- */

/* Drops CAP_IPC_LOCK, because the kernel ignores RLIMIT_MEMLOCK for processes with this capability. */
static void drop_ipc_lock(void)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2];

    must(syscall(SYS_capget, &head, data) == 0, "capget");
    data[0].effective &= ~(1u << CAP_IPC_LOCK);
    must(syscall(SYS_capset, &head, data) == 0, "capset");
}

/* Returns the limit that leaves this room (struct order). */
static unsigned long limit_for(int resource, unsigned long room)
{
    FILE *f;
    unsigned long pages = 0;

    if (resource == RLIMIT_MEMLOCK)
        return room;
    if (resource == RLIMIT_NOFILE) {
        int fd = 0;

        /* The limit permits `room` unused descriptor numbers. */
        for (unsigned long free = 0; fcntl(fd, F_GETFD) != -1 || free++ < room;)
            fd++;
        return (unsigned long)fd;
    }
    f = fopen("/proc/self/statm", "r");
    must(f != NULL && fscanf(f, "%lu", &pages) == 1, "no /proc/self/statm");
    fclose(f);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE) + room;
}

/* Opens the adapter and sleeps in a wait for completions, after which the thread keeps a descriptor. */
static void sleep_once(void)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd;
    DAT_IA_HANDLE ia;

    must_rc(dat_ia_open(env_ia(), 8, &async, &ia), DAT_SUCCESS, "dat_ia_open");
    must_rc(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd), DAT_SUCCESS, "dat_evd_create");
    must(quiet(async) && quiet(evd), "an event");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ia_close");
}

static int limited(struct link *up)
{
    static unsigned char memory[BIG];
    struct order o;
    struct tally t = { 0, 0, 0 }, after = { 0, 0, 0 };
    struct rlimit before, now;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL, none = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    int fds;
    bool closed;

    must(LINK_RECV(up, o), "no order");
    if (o.resource == RLIMIT_MEMLOCK)
        drop_ipc_lock();
    /* libibverbs loads its drivers only once; if memory is missing then, it never has a device. */
    if (o.resource == RLIMIT_AS)
        sleep_once();
    if (o.open_first)
        must_rc(dat_ia_open(env_ia(), 8, &async, &ia), DAT_SUCCESS, "dat_ia_open");
    must(getrlimit((__rlimit_resource_t)o.resource, &before) == 0, "getrlimit");
    now = before;
    now.rlim_cur = limit_for(o.resource, o.room);
    must(setrlimit((__rlimit_resource_t)o.resource, &now) == 0, "setrlimit");
    whole(&t, &ia, memory);
    must(setrlimit((__rlimit_resource_t)o.resource, &before) == 0, "setrlimit");
    if (o.resource == RLIMIT_MEMLOCK) {
        now.rlim_cur = now.rlim_max = RLIM_INFINITY;
        must(setrlimit(RLIMIT_MEMLOCK, &now) == 0, "setrlimit");
    }
    must(t.odd == 0, "an odd answer");
    if (o.open_first) {
        must(whole(&after, &ia, memory), "the same adapter does not work afterwards");
        must_rc(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ia_close");
    }
    must(whole(&after, &none, memory), "a new adapter does not work afterwards");
    sleep_once();
    fds = entries("/proc/self/fd");
    must(whole(&after, &none, memory), "a new adapter does not work the second time");
    /* On iWARP the kernel frees a connection attempt after up to 20 s. */
    closed = wait_until(descriptors_at_most, &fds, 3 * SOON_MS);
    if (!closed)
        descriptors_show();
    must(closed, "%d descriptors, %d before", entries("/proc/self/fd"), fds);
    must(after.odd == 0 && after.refused == 0, "an odd answer afterwards");
    must(LINK_SEND(up, t), "the other process is gone");
    return 0;
}

static void sweep(int resource, const char *name, unsigned long step, int values)
{
    for (int first = 0; first < 2; first++) {
        int good = 0, refused = 0;

        for (int i = 0; i < values; i++) {
            struct order o = { resource, (unsigned long)i * step, first != 0 };
            struct peer p;
            struct tally t = { 0, 0, 0 };
            bool told;
            int status;

            peer_start(&p, "limited");
            must(LINK_SEND(&p.link, o), "the other process is gone");
            told = link_recv(&p.link, &t, sizeof t, 4 * SOON_MS);
            status = peer_join(&p, SOON_MS);
            if (status < 0)
                peer_kill(&p);
            good += told && status == 0;
            refused += t.refused > 0;
            if (!told || status != 0)
                diag("room for %lu: status %d", o.room, status);
        }
        is_int(good, values, "%s, %d values, set %s: each call answers, all is freed, and works afterwards",
               name, values, first ? "after dat_ia_open" : "at first");
        ok(refused > 0, "%s, set %s: something was lacking", name, first ? "after dat_ia_open" : "at first");
        diag("  %d of %d lacked something", refused, values);
    }
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "limited", limited }, { NULL, NULL } };
    const char *more = getenv("DAT_TEST_LIMITS");
    int times = more != NULL ? atoi(more) : 1;

    env_init(argc, argv, roles);
    if (geteuid() != 0)
        skip_all("only root can lift a limit again");
    sweep(RLIMIT_NOFILE, "RLIMIT_NOFILE", 1, 8 * times);
    sweep(RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", BIG / 2, 2 * times);
    sweep(RLIMIT_AS, "RLIMIT_AS", 2000000ul / (unsigned long)times, 3 * times);
    return done_testing();
}
