/* limits.c - calls under limits on file size, descriptors and address space fail with an error code. */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"
#include "common/place.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    must(dir != NULL, "/proc/self/fd");
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 3;
}

static bool are_open(void *files)
{
    return open_files() == *(int *)files;
}

static void limit(int resource, rlim_t soft)
{
    struct rlimit l;

    must(getrlimit(resource, &l) == 0, "getrlimit");
    l.rlim_cur = soft < l.rlim_max ? soft : l.rlim_max;
    must(setrlimit(resource, &l) == 0, "setrlimit");
}

/* Opens and closes an adapter. Returns whether it opened; any error but DAT_INSUFFICIENT_RESOURCES ends the program. */
static bool try_open(const char *what, unsigned long amount)
{
    DAT_IA_HANDLE ia = UNTOUCHED;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_RETURN rc = dat_ia_open(env_ia(), 8, &async, &ia);

    must(rc == DAT_SUCCESS || DAT_GET_TYPE(rc) == DAT_INSUFFICIENT_RESOURCES,
         "dat_ia_open: %s of %lu: %s", what, amount, rc_text(rc));
    if (rc != DAT_SUCCESS) {
        must(ia == UNTOUCHED, "dat_ia_open: %s of %lu: a handle was written", what, amount);
        return false;
    }
    must_rc(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ia_close: %s of %lu", what, amount);
    return true;
}

static void unchanged(int files, const char *what, unsigned long amount)
{
    must(open_files() == files, "dat_ia_open: %s of %lu: %d descriptors, %d before", what, amount,
         open_files(), files);
    must(place_count("") <= 0, "dat_ia_open: %s of %lu: an entry is left", what, amount);
}

/* The second process: opens an adapter under a limit, which increases until dat_ia_open has succeeded three times. */
static int opens(struct link *up)
{
    static const struct {
        const char *name;
        int resource;
        unsigned long from, step, max;
    } *kind, kinds[] = {
        { "files", RLIMIT_FSIZE, 0, 4096, 1 << 20 },
        { "descriptors", RLIMIT_NOFILE, 0, 1, 64 },
        { "addresses", RLIMIT_AS, 0, 128 << 10, 64 << 20 },
    };
    unsigned long base = 0, size, resident;
    int files, which = 0;
    unsigned opened = 0;
    FILE *memory;

    must(LINK_RECV(up, which), "the other process is gone");
    kind = &kinds[which];
    /* The first call allocates descriptors and memory that the library keeps until the process exits. */
    try_open("no limit", 0);
    files = open_files();
    if (kind->resource == RLIMIT_NOFILE)
        base = (unsigned long)files;
    if (kind->resource == RLIMIT_AS) {
        memory = fopen("/proc/self/statm", "r");
        must(memory != NULL && fscanf(memory, "%lu %lu", &size, &resident) == 2, "/proc/self/statm");
        fclose(memory);
        base = size * (unsigned long)sysconf(_SC_PAGESIZE);
    }
    for (unsigned long more = kind->from; more <= kind->max && opened < 3; more += kind->step) {
        limit(kind->resource, base + more);
        opened += try_open(kind->name, more);
        limit(kind->resource, RLIM_INFINITY);
        unchanged(files, kind->name, more);
    }
    must(opened == 3, "dat_ia_open: %s: it never works", kind->name);
    must(try_open("no limit", 0), "dat_ia_open after the limit was lifted");
    return 0;
}

/* Waits for a connection request on cr, or for UNREACHABLE on conn. Returns true and sets *event for a request. */
static bool asked_or_unreachable(DAT_EVD_HANDLE cr, DAT_EVD_HANDLE conn, DAT_EVENT *event)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);

    while (now_ms() < end) {
        if (dat_evd_dequeue(cr, event) == DAT_SUCCESS)
            return true;
        if (dat_evd_dequeue(conn, event) == DAT_SUCCESS) {
            must(event->event_number == DAT_CONNECTION_EVENT_UNREACHABLE, "%s", event_text(event->event_number));
            return false;
        }
        breathe();
    }
    must(false, "neither a request nor UNREACHABLE");
    return false;
}

/* The second process: creates regions and connections under a limit on file size. */
static int grows(struct link *up)
{
    enum { MAX_PAIRS = 64, REGIONS = 40000 };
    static DAT_LMR_HANDLE lmrs[REGIONS];
    static struct pair pairs[MAX_PAIRS];
    static char memory[4096];
    DAT_REGION_DESCRIPTION region = { .for_va = memory };
    DAT_CONN_QUAL qual = 0;
    DAT_EVENT event;
    DAT_RETURN rc = DAT_SUCCESS;
    struct fx fx;
    int connected, made;

    (void)up;
    limit(RLIMIT_FSIZE, 1 << 20);
    fx_open(&fx);
    for (made = 0; made < REGIONS && rc == DAT_SUCCESS; made += rc == DAT_SUCCESS)
        rc = dat_lmr_create(fx.ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, fx.pz, DAT_MEM_PRIV_ALL_FLAG,
                            &lmrs[made], NULL, NULL, NULL, NULL);
    must(made >= 10000 && made < REGIONS, "%d regions under a limit of 1 MiB", made);
    must(DAT_GET_TYPE(rc) == DAT_INSUFFICIENT_RESOURCES, "dat_lmr_create: %s", rc_text(rc));
    while (made > 0)
        must_rc(dat_lmr_free(lmrs[--made]), DAT_SUCCESS, "dat_lmr_free");

    fx_listen(&fx, &qual);
    for (connected = 0; connected < MAX_PAIRS; connected++) {
        struct pair *pair = &pairs[connected];

        side_make(&pair->a, &fx, NULL);
        must_rc(side_connect(&pair->a, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
        if (!asked_or_unreachable(fx.cr, pair->a.conn, &event))
            break;
        side_make(&pair->b, &fx, NULL);
        must_rc(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, pair->b.ep, 0, NULL),
                DAT_SUCCESS, "dat_cr_accept");
        must(wait_connection(pair->a.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
        must(wait_connection(pair->b.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
    }
    must(connected >= 1 && connected < MAX_PAIRS, "%d connections under a limit of 1 MiB", connected);
    for (int i = 0; i < connected; i++)
        must(sides_talk(&pairs[i].a, &pairs[i].b), "connection %d of %d does not work", i, connected);

    /* A freed connection number can be reused, with the limit and without. */
    must_rc(dat_ep_disconnect(pairs[0].a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(pairs[0].b.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    for (int lifted = 0; lifted < 2; lifted++) {
        struct pair again;

        if (lifted)
            limit(RLIMIT_FSIZE, RLIM_INFINITY);
        pair_open(&again, &fx, NULL);
        must(sides_talk(&again.a, &again.b), "another connection does not work");
    }
    fx_close(&fx);
    return 0;
}

static int listener(struct link *up)
{
    struct fx fx;
    struct side s;
    DAT_CONN_QUAL qual = 0;
    DAT_EVENT event;

    fx_open(&fx);
    fx_listen(&fx, &qual);
    must(LINK_SEND(up, qual), "the other process is gone");
    while (wait_event(fx.cr, &event)) {
        side_make(&s, &fx, NULL);
        must_rc(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, s.ep, 0, NULL), DAT_SUCCESS,
                "dat_cr_accept");
    }
    return 1;
}

/* The second process: connects with an increasing limit on descriptors until a connect succeeds. */
static int connects(struct link *up)
{
    struct fx fx;
    struct side s;
    DAT_CONN_QUAL qual = 0;
    DAT_EVENT event;
    int files, established = 0;

    must(LINK_RECV(up, qual), "the other process is gone");
    fx_open(&fx);
    must(quiet(fx.async), "an event on the asynchronous EVD"); /* the first wait allocates descriptors, which stay */
    files = open_files();
    for (int more = 0; more < 40 && !established; more++) {
        side_make(&s, &fx, NULL);
        limit(RLIMIT_NOFILE, (rlim_t)(files + more));
        must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect: %d descriptors", more);
        must(wait_event(s.conn, &event), "dat_ep_connect: %d descriptors: no event", more);
        limit(RLIMIT_NOFILE, RLIM_INFINITY);
        established = event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED;
        must(established || event.event_number == DAT_CONNECTION_EVENT_UNREACHABLE,
             "dat_ep_connect: %d descriptors: %s", more, event_text(event.event_number));
        if (!established) {
            side_free(&s);
            /* The progress thread closes the descriptors after it has reported the end. */
            must(wait_until(are_open, &files, SOON_MS), "dat_ep_connect: %d descriptors: %d, %d before", more,
                 open_files(), files);
        }
    }
    must(established, "dat_ep_connect never works");
    fx_close(&fx);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "opens", opens },       { "grows", grows },
                                              { "listener", listener }, { "connects", connects },
                                              { NULL, NULL } };
    static const char *const names[] = { "the size of files", "descriptors", "addresses" };
    struct peer p, other;
    DAT_CONN_QUAL qual = 0;

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("the limits are those of what the adapter shm makes");
    if (env_valgrind())
        skip_all("valgrind has descriptors and memory of its own");
    place_make();
    for (int which = 0; which < 3; which++) {
        peer_start(&p, "opens");
        LINK_SEND(&p.link, which);
        ok(peer_join(&p, 3 * SOON_MS) == 0, "dat_ia_open: a limit on %s: DAT_INSUFFICIENT_RESOURCES or success",
           names[which]);
    }
    peer_start(&p, "grows");
    ok(peer_join(&p, 2 * SOON_MS) == 0,
       "dat_lmr_create: a limit on the size of files: DAT_INSUFFICIENT_RESOURCES; connects: unreachable; both work later");
    peer_start(&other, "listener");
    must(LINK_RECV(&other.link, qual), "no listener");
    peer_start(&p, "connects");
    LINK_SEND(&p.link, qual);
    ok(peer_join(&p, 3 * SOON_MS) == 0, "dat_ep_connect: a limit on descriptors: unreachable, or established");
    peer_kill(&other);
    place_end();
    return done_testing();
}
