/*
 * link.c - the link goes down under load.
 *
 * Two processes use two adapters at the ends of a pair of virtual interfaces, the only kind that this test takes down.
 */
#define _DEFAULT_SOURCE
#include "adapters.h"
#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The near end does not send on the last connection, so only the far end detects its failure. */
enum { FLOWS = 4, SILENT = FLOWS - 1, BUSY = 60 };
/*
 * Buffers of each connection's pool, as many as its EVD has events. On iWARP, a message without a buffer ends the
 * connection, for example if the other process does not run for a while.
 */
enum { BUFFERS = 64 };
/* A device retries seven times, as endpoints request, which takes seconds. */
#define GIVE_UP_MS 60000u

static char netdev[64], routes[64];

static bool run(const char *command)
{
    int status = system(command);

    if (status != 0)
        diag("%s: status %d", command, status);
    return status == 0;
}

/* Sets the link up or down. Restores routes and neighbours, which the kernel removes with the link. */
static bool cable(bool in)
{
    char command[1024];

    if (!in) {
        snprintf(command, sizeof command,
                 "ip -4 route show table all dev %s | grep -v -e 'proto kernel' -e '^local' "
                 "-e '^broadcast' | sed 's/^/route replace /' >%s; "
                 "ip neigh show dev %s nud permanent | "
                 "sed -n 's/^\\([0-9.]*\\) lladdr \\([^ ]*\\).*/neigh replace \\1 lladdr \\2 nud permanent/p' "
                 ">>%s; ip link set dev %s down",
                 netdev, routes, netdev, routes, netdev);
        return run(command);
    }
    snprintf(command, sizeof command,
             "ip link set dev %s up && while read -r lost; do ip $lost dev %s; done <%s",
             netdev, netdev, routes);
    return run(command) && unlink(routes) == 0;
}

/*
 * Returns whether the device is Soft-RoCE. On some kernels, for example 6.1, Soft-RoCE cannot connect after its link went
 * down under load, also with rping, until the device is recreated.
 */
static bool soft_roce(void)
{
    char command[512];

    snprintf(command, sizeof command, "cat /sys/class/infiniband/*/parent 2>/dev/null | grep -qx %s",
             netdev);
    return system(command) == 0;
}

/* Does what side_connect_peer() does, but returns false if the connection is not established. */
static bool joined(struct side *s, struct link *l)
{
    struct {
        struct sockaddr_storage address;
        DAT_CONN_QUAL qual;
    } card; /* what side_accept_peer() sends */
    DAT_EVENT e;

    must(LINK_RECV(l, card), "no invitation from the peer");
    must_rc(side_connect(s, (DAT_IA_ADDRESS_PTR)&card.address, card.qual), DAT_SUCCESS,
            "dat_ep_connect");
    return wait_number(s->conn, DAT_CONNECTION_EVENT_ESTABLISHED, &e);
}

static void describe(struct flow *f, struct link *l)
{
    DAT_RMR_TRIPLET mine = target(&f->r, 0, FLOW_BULK);

    must(LINK_SEND(l, mine) && LINK_RECV(l, f->theirs), "the other process is gone");
}

static void step_all(struct flow *f, bool silent)
{
    for (int i = 0; i < FLOWS; i++) {
        flow_step(&f[i], !(silent && i == SILENT));
        pool_fill(f[i].pool);
    }
}

/* Returns whether every connection has sent and received messages. On SILENT, only the far end sends. */
static bool busy(const struct flow *f, bool silent)
{
    for (int i = 0; i < FLOWS; i++)
        if (f[i].heard < (!silent && i == SILENT ? 0 : BUSY / 3) ||
            (f[i].completed < BUSY && !(silent && i == SILENT)))
            return false;
    return true;
}

struct report {
    int broken, disconnected, other, faults, whole, incomplete;
    uint64_t posted, good;
};

static struct report look(struct flow *f)
{
    struct report r = { .whole = true };

    for (int i = 0; i < FLOWS; i++) {
        r.broken += f[i].ends == 1 && f[i].end == DAT_CONNECTION_EVENT_BROKEN;
        r.disconnected += f[i].ends == 1 && f[i].end == DAT_CONNECTION_EVENT_DISCONNECTED;
        r.other += f[i].ends > 0 && f[i].end != DAT_CONNECTION_EVENT_BROKEN &&
                   f[i].end != DAT_CONNECTION_EVENT_DISCONNECTED;
        r.faults += f[i].faults;
        r.incomplete += (int)(f[i].posted - f[i].completed);
        r.posted += f[i].posted;
        r.good += f[i].good;
        r.whole = pool_whole(f[i].pool) && r.whole;
    }
    return r;
}

static int far(struct link *up)
{
    char name[DAT_NAME_MAX_LENGTH];
    struct fx fx;
    struct pool pool[FLOWS];
    struct flow f[FLOWS];
    struct side again;
    struct report report;
    bool told = false;
    uint64_t end;

    must(LINK_RECV(up, name), "no name of an adapter");
    fx_open_on(&fx, name);
    for (int i = 0; i < FLOWS; i++) {
        pool_open(&pool[i], &fx, BUFFERS);
        flow_make(&f[i], &pool[i]);
        side_accept_peer(&f[i].s, up);
        f[i].up = true;
        describe(&f[i], up);
    }
    must(link_hear(up, "go"), "no start");
    end = now_ms() + env_ms(GIVE_UP_MS);
    for (int done = 0; done < FLOWS && now_ms() < end;) {
        step_all(f, false);
        if (!told && busy(f, false))
            told = link_say(up, "busy");
        done = 0;
        for (int i = 0; i < FLOWS; i++)
            done += flow_done(&f[i]);
    }
    report = look(f);
    must(LINK_SEND(up, report), "the other process is gone");
    for (int i = 0; i < FLOWS; i++) {
        must(quiet(f[i].s.conn), "a second event of a connection");
        flow_free(&f[i]);
    }
    must(link_hear(up, "again"), "no start");
    side_make(&again, &fx, NULL);
    side_accept_peer(&again, up);
    must(wait_connection(again.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no end");
    side_free(&again);
    for (int i = 0; i < FLOWS; i++)
        pool_close(&pool[i]);
    fx_close(&fx);
    return 0;
}

/* Checks that a connection attempt fails while the link is down. */
static void connect_without(struct fx *fx, DAT_IA_ADDRESS_PTR address)
{
    struct side s;
    DAT_EVENT e;

    side_make(&s, fx, NULL);
    must_rc(dat_ep_connect(s.ep, address, unique_qual(false), env_us(1500), 0, NULL,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
    ok(wait_event(s.conn, &e) && (e.event_number == DAT_CONNECTION_EVENT_UNREACHABLE ||
                                  e.event_number == DAT_CONNECTION_EVENT_TIMED_OUT ||
                                  e.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "dat_ep_connect: the link is down: the attempt ends");
    ok(quiet(s.conn), "dat_ep_connect: the link is down: one event");
    side_free(&s);
}

static void check(const char *where, const struct report *r, int must_break)
{
    ok(r->broken + r->disconnected == FLOWS && r->other == 0,
       "%s end: every connection has one event", where);
    /* On iWARP the TCP connection can also end in order. */
    ok(r->broken + (env_is_iwarp() ? r->disconnected : 0) >= must_break,
       "%s end: where it sent, the event is BROKEN", where);
    diag("  %d BROKEN, %d DISCONNECTED, %d other; %llu requests, %llu of them before", r->broken,
         r->disconnected, r->other, (unsigned long long)r->posted, (unsigned long long)r->good);
    is_int(r->incomplete, 0, "%s end: every request has completed", where);
    is_int(r->faults, 0, "%s end: in order, and once", where);
    ok(r->whole, "%s end: dat_srq_query: every buffer is in the queue or was given back", where);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "far", far }, { NULL, NULL } };
    char name[DAT_NAME_MAX_LENGTH];
    struct fx fx, tmp;
    struct sockaddr_storage there;
    struct pool pool[FLOWS];
    struct flow f[FLOWS];
    struct side again;
    struct peer p;
    struct report near, other;
    char word[32];
    bool pulled = false, heard = false, linked;
    uint64_t end, begin = 0;
    int done = 0;

    env_init(argc, argv, roles);
    if (netdev_of(env_ia()) == NULL)
        skip_all("the name of %s tells no network interface", env_ia());
    if (!other_adapter(name))
        skip_all("there is no adapter verbs-* besides %s", env_ia());
    if (geteuid() != 0)
        skip_all("only root can take a link down");
    if (!one_cable(netdev_of(env_ia()), netdev_of(name)))
        skip_all("%s and %s are not the two ends of a virtual cable", env_ia(), name);
    snprintf(netdev, sizeof netdev, "%s", netdev_of(env_ia()));
    snprintf(routes, sizeof routes, "/tmp/libdat-routes.%d", (int)getpid());
    fx_open_on(&tmp, name);
    memcpy(&there, &tmp.address, sizeof there);
    fx_close(&tmp);

    fx_open(&fx);
    peer_start(&p, "far");
    must(link_send(&p.link, name, sizeof name), "the other process is gone");
    for (int i = 0; i < FLOWS; i++) {
        pool_open(&pool[i], &fx, BUFFERS);
        flow_make(&f[i], &pool[i]);
        side_connect_peer(&f[i].s, &p.link);
        f[i].up = true;
        describe(&f[i], &p.link);
    }
    must(link_say(&p.link, "go"), "the other process is gone");
    end = now_ms() + env_ms(GIVE_UP_MS);
    while (done < FLOWS - 1 && now_ms() < end) {
        step_all(f, true);
        if (!heard)
            heard = link_recv(&p.link, word, sizeof word, 0);
        if (!pulled && heard && busy(f, true)) {
            if (!cable(false))
                bail("the link cannot be taken down");
            pulled = true;
            begin = now_ms();
        }
        done = 0;
        for (int i = 0; i < FLOWS; i++)
            done += flow_done(&f[i]);
    }
    ok(pulled, "the link is taken down in the middle of sends, writes and reads");
    ok(done >= FLOWS - 1, "near end: all connections that send are over");
    diag("  after %llu ms", (unsigned long long)(now_ms() - begin));
    if (!link_recv(&p.link, &other, sizeof other, GIVE_UP_MS)) {
        cable(true);
        bail("the far end does not see the end of its connections");
    }
    diag("  far end: after %llu ms", (unsigned long long)(now_ms() - begin));
    check("far", &other, FLOWS);
    connect_without(&fx, (DAT_IA_ADDRESS_PTR)&there);

    if (!cable(true))
        bail("the link cannot be taken up again");
    /* The idle connection has ended by now, or ends when it sends. */
    end = now_ms() + env_ms(GIVE_UP_MS);
    while (!flow_done(&f[SILENT]) && now_ms() < end)
        step_all(f, false);
    near = look(f);
    check("near", &near, FLOWS - 1);
    linked = true;
    for (int i = 0; i < FLOWS; i++)
        linked = linked && quiet(f[i].s.conn);
    ok(linked, "near end: no connection has a second event");
    for (int i = 0; i < FLOWS; i++)
        flow_free(&f[i]);
    pass("near end: endpoints and EVDs are freed");

    must(link_say(&p.link, "again"), "the other process is gone");
    side_make(&again, &fx, NULL);
    if (!joined(&again, &p.link) && soft_roce()) {
        skip_named("the link is up again: a new connection",
                   "this kernel's Soft-RoCE connects nobody any more after that");
        peer_kill(&p);
        fx_close(&fx);
        return done_testing();
    }
    is_state(ep_state(again.ep), DAT_EP_STATE_CONNECTED, "the link is up again: a new connection");
    is_success(dat_ep_disconnect(again.ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect: success");
    ok(wait_connection(again.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "it ends in good order");
    side_free(&again);
    for (int i = 0; i < FLOWS; i++)
        pool_close(&pool[i]);
    peer_ok(&p, "the far end ends in good order");
    fx_close(&fx);
    return done_testing();
}
