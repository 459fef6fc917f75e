/*
 * gone.c - the device is removed during traffic: at this end, then at both ends.
 *
 * Two processes use the adapters at the two ends of a cable. Each has busy connections, threads that sleep in waits, a
 * connection attempt without a reply, a pending request and a service point. After the removal every connection and
 * request ends with its event, every call returns, all objects can be freed, and the kernel completes the removal. Then
 * the same process opens a new device.
 */
#define _DEFAULT_SOURCE
#include "adapters.h"
#include "common/waiter.h"
#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FLOWS = 4, BUFFERS = 64, BUSY = 30 };

/* Checks a condition as a subtest. In the second process, a failure ends the process. */
#define CHECK(cond, ...) (peer_is_one() ? must((cond), __VA_ARGS__) : (void)ok((cond), __VA_ARGS__))

struct card {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
};

/* All objects of a process on its adapter. */
struct scene {
    struct fx fx;
    struct pool pool;
    struct flow f[FLOWS];
    struct side silent;              /* connected; threads wait on its EVDs */
    struct region r;
    struct waiter on_recv, on_conn;
    struct side asking, nowhere;     /* connecting: to a peer that does not reply; to an unused address */
    DAT_EVD_HANDLE requests;
    DAT_PSP_HANDLE psp;
    DAT_CR_HANDLE pending;           /* neither accepted nor rejected */
    const char *where;
};

static bool run(const char *command)
{
    int status = system(command);

    if (status != 0)
        fprintf(stderr, "# %s: status %d\n", command, status);
    return status == 0;
}

/* Finds the device of Soft-RoCE or soft-iWARP on the interface. Returns false if there is none. */
static bool device_on(const char *netdev, char device[64])
{
    char command[512];
    FILE *f;
    bool found;

    snprintf(command, sizeof command,
             "rdma link show 2>/dev/null | sed -n 's|^link \\([^/]*\\)/.* netdev %s *$|\\1|p' | while read -r d; do "
             "cd /sys/class/infiniband/$d && grep -qsx -e %s -e 'Software iWARP stack' parent node_desc && echo $d; done",
             netdev, netdev);
    f = popen(command, "r");
    found = f != NULL && fscanf(f, "%63s", device) == 1;
    if (f != NULL)
        pclose(f);
    return found;
}

static pid_t removal(const char *device)
{
    pid_t pid = fork();

    if (pid == 0) {
        execlp("rdma", "rdma", "link", "delete", device, (char *)NULL);
        _exit(127);
    }
    must(pid > 0, "no process");
    return pid;
}

/* Creates a device of this kind, "rxe" or "siw". */
static bool added(const char *device, const char *kind, const char *netdev)
{
    char command[256];

    snprintf(command, sizeof command, "rdma link add %s type %s netdev %s", device, kind, netdev);
    return run(command);
}

static bool reaped(void *arg)
{
    pid_t *pid = arg;
    int status;

    if (*pid > 0 && waitpid(*pid, &status, WNOHANG) == *pid)
        *pid = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
    return *pid <= 0;
}

/* ---- before ---- */

static void join(struct side *s, struct link *l, bool active)
{
    if (active)
        side_connect_peer(s, l);
    else
        side_accept_peer(s, l);
}

static void scene_open(struct scene *s, const char *adapter, struct link *l, bool active)
{
    DAT_RMR_TRIPLET mine;
    struct card card, other;
    char name[DAT_NAME_MAX_LENGTH]; /* fx_open_on() changes what env_ia() points to */

    snprintf(name, sizeof name, "%s", adapter);
    memset(s, 0, sizeof *s);
    s->where = active ? "near end" : "far end";
    fx_open_on(&s->fx, name);
    pool_open(&s->pool, &s->fx, BUFFERS);
    for (int i = 0; i < FLOWS; i++) {
        flow_make(&s->f[i], &s->pool);
        join(&s->f[i].s, l, active);
        s->f[i].up = true;
        mine = target(&s->f[i].r, 0, FLOW_BULK);
        must(LINK_SEND(l, mine) && LINK_RECV(l, s->f[i].theirs), "the other process is gone");
    }
    side_make(&s->silent, &s->fx, NULL);
    region_make(&s->fx, &s->r, 64, DAT_MEM_PRIV_ALL_FLAG);
    must_rc(post_recv(&s->silent, &s->r, 0, 64, 7), DAT_SUCCESS, "dat_ep_post_recv");
    join(&s->silent, l, active);
    waiter_start(&s->on_recv, s->silent.recv, DAT_TIMEOUT_INFINITE, 1);
    waiter_start(&s->on_conn, s->silent.conn, DAT_TIMEOUT_INFINITE, 1);

    /* Each end connects to the other, and neither replies. */
    s->requests = fx_evd(&s->fx, 8, DAT_EVD_CR_FLAG);
    memset(&card, 0, sizeof card);
    s->psp = fx_listen_on(&s->fx, s->requests, DAT_PSP_CONSUMER_FLAG, &card.qual);
    card.address = s->fx.address;
    must(LINK_SEND(l, card) && LINK_RECV(l, other), "the other process is gone");
    side_make(&s->asking, &s->fx, NULL);
    must_rc(dat_ep_connect(s->asking.ep, (DAT_IA_ADDRESS_PTR)&other.address, other.qual,
                           DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT,
                           DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
    s->pending = next_request(s->requests);
    side_make(&s->nowhere, &s->fx, NULL);
    ((struct sockaddr_in *)&other.address)->sin_addr.s_addr ^= htonl(0x50);
    must_rc(dat_ep_connect(s->nowhere.ep, (DAT_IA_ADDRESS_PTR)&other.address, other.qual,
                           DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT,
                           DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
}

static void step(struct scene *s)
{
    for (int i = 0; i < FLOWS; i++)
        flow_step(&s->f[i], true);
    pool_fill(&s->pool);
}

static bool busy(const struct scene *s)
{
    for (int i = 0; i < FLOWS; i++)
        if (s->f[i].completed < BUSY || s->f[i].heard < BUSY / 3)
            return false;
    return true;
}

static bool all_over(const struct scene *s)
{
    for (int i = 0; i < FLOWS; i++)
        if (!flow_done(&s->f[i]))
            return false;
    return true;
}

/* ---- after ---- */

static bool ends(struct side *s)
{
    DAT_EVENT e;

    return wait_event(s->conn, &e) && e.event_number > DAT_CONNECTION_EVENT_ESTABLISHED &&
           e.event_number <= DAT_CONNECTION_EVENT_UNREACHABLE;
}

/* Checks that calls that need the device fail. */
static void refused(struct scene *s)
{
    DAT_REGION_DESCRIPTION where;
    DAT_SRQ_ATTR attr = { 4, 1, DAT_SRQ_LW_DEFAULT };
    DAT_PZ_HANDLE pz = UNTOUCHED;
    DAT_SRQ_HANDLE srq = UNTOUCHED;
    DAT_EVD_HANDLE evd = UNTOUCHED;
    DAT_LMR_HANDLE lmr = UNTOUCHED;
    DAT_RMR_HANDLE rmr = UNTOUCHED;
    DAT_PSP_HANDLE psp = UNTOUCHED;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
    DAT_CONN_QUAL qual;
    DAT_VLEN length;
    DAT_VADDR address;
    DAT_RETURN rc;
    struct side *silent = &s->silent;

    memset(&where, 0, sizeof where);
    where.for_va = s->r.mem;
    CHECK(rc_is(dat_pz_create(s->fx.ia, &pz), DAT_INSUFFICIENT_RESOURCES) && pz == UNTOUCHED,
          "dat_pz_create: the device is gone: DAT_INSUFFICIENT_RESOURCES");
    CHECK(rc_is(dat_lmr_create(s->fx.ia, DAT_MEM_TYPE_VIRTUAL, where, 64, s->fx.pz, MEM_LOCAL, &lmr,
                               &lmr_context, &rmr_context, &length, &address),
                DAT_INSUFFICIENT_RESOURCES) && lmr == UNTOUCHED,
          "dat_lmr_create: the device is gone: DAT_INSUFFICIENT_RESOURCES");
    rc = dat_rmr_create(s->fx.pz, &rmr);
    CHECK((s->fx.max_rmrs > 0 ? rc_is(rc, DAT_INSUFFICIENT_RESOURCES) : rc_not_implemented(rc)) && rmr == UNTOUCHED,
          "dat_rmr_create: the device is gone: DAT_INSUFFICIENT_RESOURCES, or without windows DAT_NOT_IMPLEMENTED");
    CHECK(rc_is(dat_evd_create(s->fx.ia, 4, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd),
                DAT_INSUFFICIENT_RESOURCES) && evd == UNTOUCHED,
          "dat_evd_create: the device is gone: DAT_INSUFFICIENT_RESOURCES");
    CHECK(rc_is(dat_srq_create(s->fx.ia, s->fx.pz, &attr, &srq), DAT_INSUFFICIENT_RESOURCES) &&
              srq == UNTOUCHED,
          "dat_srq_create: the device is gone: DAT_INSUFFICIENT_RESOURCES");
    CHECK(rc_is(dat_psp_create_any(s->fx.ia, &qual, s->requests, DAT_PSP_CONSUMER_FLAG, &psp),
                DAT_INSUFFICIENT_RESOURCES) && psp == UNTOUCHED,
          "dat_psp_create_any: the device is gone: DAT_INSUFFICIENT_RESOURCES");
    CHECK(rc_is(dat_ep_disconnect(silent->ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS) ||
              ep_state(silent->ep) == DAT_EP_STATE_DISCONNECTED,
          "dat_ep_disconnect: the device is gone: answers");
    CHECK(rc_is(dat_ep_reset(silent->ep), DAT_SUCCESS), "dat_ep_reset: the device is gone: success");
    CHECK(rc_is(dat_ep_connect(silent->ep, fx_address(&s->fx), 1, env_us(SOON_MS), 0, NULL,
                               DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
                DAT_INSUFFICIENT_RESOURCES),
          "dat_ep_connect: the device is gone: DAT_INSUFFICIENT_RESOURCES");
}

static void scene_lost(struct scene *s)
{
    DAT_EVENT e;
    DAT_RETURN rc;
    uint64_t end = now_ms() + env_ms(2 * SOON_MS);
    int broken = 0, other = 0, faults = 0;

    CHECK(wait_event(s->fx.async, &e) && e.event_number == DAT_ASYNC_ERROR_IA_CATASTROPHIC &&
              e.event_data.asynch_error_event_data.dat_handle == (DAT_HANDLE)s->fx.ia,
          "%s: the device is removed: IA_CATASTROPHIC for the adapter", s->where);
    while (!all_over(s) && now_ms() < end)
        step(s);
    for (int i = 0; i < FLOWS; i++) {
        broken += s->f[i].ends == 1 && s->f[i].end == DAT_CONNECTION_EVENT_BROKEN;
        other += s->f[i].ends == 1 && s->f[i].end == DAT_CONNECTION_EVENT_DISCONNECTED;
        faults += s->f[i].faults;
    }
    CHECK(all_over(s) && broken + other == FLOWS,
          "%s: the device is removed: each busy connection ends once, every request completes", s->where);
    CHECK(faults == 0, "%s: the device is removed: completions in order, each once", s->where);
    CHECK(pool_whole(&s->pool), "%s: the device is removed: every buffer is in the queue or given back",
          s->where);
    CHECK(waiter_done(&s->on_recv, SOON_MS) && rc_is(s->on_recv.rc, DAT_SUCCESS) &&
              s->on_recv.event.event_number == DAT_DTO_COMPLETION_EVENT &&
              s->on_recv.event.event_data.dto_completion_event_data.status == DAT_DTO_ERR_FLUSHED,
          "dat_evd_wait: %s: the device is removed: the receive is flushed", s->where);
    CHECK(waiter_done(&s->on_conn, SOON_MS) && rc_is(s->on_conn.rc, DAT_SUCCESS) &&
              (s->on_conn.event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
               s->on_conn.event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED),
          "dat_evd_wait: %s: the device is removed: the connection is over", s->where);
    waiter_join(&s->on_recv);
    waiter_join(&s->on_conn);
    CHECK(ends(&s->asking), "%s: the device is removed: an attempt that is not answered ends", s->where);
    CHECK(ends(&s->nowhere), "%s: the device is removed: an attempt to nobody ends", s->where);
    refused(s);
    rc = dat_cr_reject(s->pending);
    CHECK(rc_is(rc, DAT_SUCCESS), "dat_cr_reject: the device is gone: success");
    CHECK(quiet(s->fx.async), "%s: the device is removed: one asynchronous event", s->where);
}

static void scene_close(struct scene *s)
{
    for (int i = 0; i < FLOWS; i++)
        flow_free(&s->f[i]);
    side_free(&s->silent);
    side_free(&s->asking);
    side_free(&s->nowhere);
    region_free(&s->r);
    must_rc(dat_psp_free(s->psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(s->requests), DAT_SUCCESS, "dat_evd_free");
    pool_close(&s->pool);
    must_rc(dat_evd_free(s->fx.cr), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_pz_free(s->fx.pz), DAT_SUCCESS, "dat_pz_free");
    must_rc(dat_ia_close(s->fx.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ia_close");
}

/* Checks the end whose device still exists, after the other end's device was removed. */
static void scene_left(struct scene *s)
{
    uint64_t end = now_ms() + env_ms(60000);
    bool silent, asking;

    /* The peer may be unable to disconnect. Then requests end by the device's retry limit. */
    while (!all_over(s) && now_ms() < end)
        step(s);
    CHECK(all_over(s), "%s: the other device is removed: each busy connection ends", s->where);
    CHECK(pool_whole(&s->pool), "%s: the other device is removed: every buffer is there", s->where);
    /* The idle connection ends by the peer's message, or when this end disconnects. */
    silent = waiter_done(&s->on_conn, SOON_MS);
    if (!silent) {
        must_rc(dat_ep_disconnect(s->silent.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        silent = waiter_done(&s->on_conn, SOON_MS);
    }
    CHECK(silent && waiter_done(&s->on_recv, SOON_MS), "%s: the other device is removed: waits end", s->where);
    waiter_join(&s->on_recv);
    waiter_join(&s->on_conn);
    asking = dat_ep_disconnect(s->asking.ep, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS;
    CHECK(asking || ep_state(s->asking.ep) == DAT_EP_STATE_DISCONNECTED,
          "%s: the other device is removed: an attempt can be given up", s->where);
    must_rc(dat_ep_disconnect(s->nowhere.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must_rc(dat_cr_reject(s->pending), DAT_SUCCESS, "dat_cr_reject");
    CHECK(quiet(s->fx.async), "%s: the other device is removed: no asynchronous event", s->where);
}

struct order {
    char adapter[DAT_NAME_MAX_LENGTH];
    int rounds;
};

static int far(struct link *up)
{
    struct order order;
    char word[32];

    must(LINK_RECV(up, order), "no order");
    for (int round = 0; round < order.rounds; round++) {
        struct scene s;
        bool told = false;

        must(link_hear(up, "open"), "no start");
        scene_open(&s, order.adapter, up, false);
        do {
            step(&s);
            if (!told && busy(&s))
                told = link_say(up, "busy");
        } while (!link_recv(up, word, sizeof word, 0));
        if (strcmp(word, "both") == 0)
            scene_lost(&s);
        else
            scene_left(&s);
        scene_close(&s);
        must(link_say(up, "closed"), "the other process is gone");
    }
    return link_hear(up, "bye") ? 0 : 1;
}

static void round_of(struct peer *p, bool both, const char *device, const char *other)
{
    struct scene s;
    pid_t near_removal, far_removal = 0;
    char word[32];
    bool heard = false;
    uint64_t end = now_ms() + env_ms(2 * SOON_MS), begin;

    must(link_say(&p->link, "open"), "the other process is gone");
    scene_open(&s, env_ia(), &p->link, true);
    while (!(heard && busy(&s)) && now_ms() < end) {
        step(&s);
        heard = heard || link_recv(&p->link, word, sizeof word, 0);
    }
    ok(heard && busy(&s), "%s: traffic flows", both ? "both devices" : "one device");
    begin = now_ms();
    near_removal = removal(device);
    if (both)
        far_removal = removal(other);
    must(link_say(&p->link, both ? "both" : "one"), "the other process is gone");
    scene_lost(&s);
    scene_close(&s);
    pass("%s: everything is freed and closed", s.where);
    ok(wait_until(reaped, &near_removal, SOON_MS) && near_removal == 0,
       "%s: the removal waits for nobody once the adapter is closed", s.where);
    diag("  after %llu ms", (unsigned long long)(now_ms() - begin));
    must(link_recv(&p->link, word, sizeof word, 90000) && strcmp(word, "closed") == 0,
         "the other process is stuck");
    ok(wait_until(reaped, &far_removal, SOON_MS) && far_removal == 0, "far end: closed as well");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "far", far }, { NULL, NULL } };
    struct order order;
    char device[64], other[64], far_netdev[64];
    const char *kind;
    struct peer p;
    int fds = 0;

    env_init(argc, argv, roles);
    memset(&order, 0, sizeof order);
    if (netdev_of(env_ia()) == NULL)
        skip_all("the name of %s tells no network interface", env_ia());
    if (!other_adapter(order.adapter) || !one_cable(netdev_of(env_ia()), netdev_of(order.adapter)))
        skip_all("there is no adapter at the other end of a virtual cable");
    snprintf(far_netdev, sizeof far_netdev, "%s", netdev_of(order.adapter));
    if (geteuid() != 0 || !device_on(netdev_of(env_ia()), device) || !device_on(far_netdev, other))
        skip_all("only root can remove a device, of Soft-RoCE or soft-iWARP");
    kind = env_is_iwarp() ? "siw" : "rxe";
    order.rounds = 2;
    peer_start(&p, "far");
    must(LINK_SEND(&p.link, order), "the other process is gone");
    for (int round = 0; round < order.rounds; round++) {
        struct fx fx;
        struct pair pair;

        round_of(&p, round > 0, device, other);
        if (!added(device, kind, netdev_of(env_ia())) || (round > 0 && !added(other, kind, far_netdev)))
            bail("the device cannot be made anew");
        fx_open(&fx);
        pair_open(&pair, &fx, NULL);
        ok(sides_talk(&pair.a, &pair.b), "a new device: the same process connects on it");
        pair_close(&pair);
        fx_close(&fx);
        if (round == 0)
            fds = entries("/proc/self/fd");
    }
    ok(wait_until(descriptors_at_most, &fds, SOON_MS), "no descriptor is left of a device that is gone");
    must(link_say(&p.link, "bye"), "the other process is gone");
    peer_ok(&p, "the far end ends in good order");
    return done_testing();
}
