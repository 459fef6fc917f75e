/*
 * refused_datagrams.c - the device rejects posts of an endpoint for datagrams while it has no other work of that
 * endpoint, so the provider makes the queue pair ready again. What the device accepts then is sent, and each datagram
 * has one completion. The endpoint receives as soon as the device accepts its receives.
 *
 * With DAT_VERBS_SRQ_BACKLOG=1 the provider does not resize the SRQ of the device. So the device has room for ROOM
 * receives, and others wait.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq/srq_common.h"
#include "v20/datagram.h"
#include "verbs/faulty.h"

#include <stdlib.h>

#define NAME "dat_ib_post_send_ud"

enum { SENDS = 3, BUFFERS = 8, ROOM = 2, SIZE = 64, PLACE = GRH + SIZE, ALWAYS = 1 << 30 };

/* Calls of post_send after the first datagram: see sends(). */
enum { ACCEPTED = 4, REJECTED = 5 };

static struct faults faults;
static struct fx fx;
static struct side x, y; /* x sends to y */
static struct known to;
static struct region out, in;

static int calls(const char *name)
{
    return __atomic_load_n(&faults.calls[faulty_kind(name)], __ATOMIC_ACQUIRE);
}

static void open_sides(DAT_SRQ_HANDLE srq)
{
    ud_make(&x, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&y, &fx, srq, NULL);
    ud_meet(&x, &to, &y, NULL);
}

static void close_sides(void)
{
    side_free(&x);
    side_free(&y);
}

/*
 * Posts datagrams of which the device accepts the first. It rejects the second with the posts of the second and third
 * (calls 1 and 2), and after the first (call 3). So the queue pair becomes ready again, with the second (ACCEPTED) and
 * not the third (REJECTED). Later calls up to `last` fail. Then `lost` of the datagrams have failed.
 *
 * Returns false if the provider learned too early that the first is sent.
 */
static bool sends(int last, int lost, const char *what)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;
    int posted = 1, sent = 0, failed = 0, arrived = 0;
    bool in_time;

    open_sides(DAT_HANDLE_NULL);
    for (unsigned i = 0; i < SENDS; i++)
        must_rc(ud_receive(&y, &in, i * PLACE, SIZE, i), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(ud_send(&x, &out, 0, SIZE, &to, 0), DAT_SUCCESS, NAME);
    faulty_reject("post_send", last, ACCEPTED);
    while (posted < SENDS && ud_send(&x, &out, 0, SIZE, &to, (DAT_UINT64)posted) == DAT_SUCCESS)
        posted++;
    while (sent + failed < posted && wait_event(x.req, &e) && d->user_cookie.as_64 == (DAT_UINT64)(sent + failed)) {
        sent += d->status == DAT_DTO_SUCCESS;
        failed += d->status == DAT_DTO_ERR_TRANSPORT;
    }
    in_time = calls("post_send") >= REJECTED;
    if (in_time) {
        is_int(sent, SENDS - lost, NAME ": %s: those are sent that it accepts", what);
        is_int(failed, lost, NAME ": %s: DAT_DTO_ERR_TRANSPORT for others", what);
        while (arrived < sent && ud_received(&y, (DAT_UINT64)arrived, SIZE))
            arrived++;
        is_int(arrived, SENDS - lost, NAME ": %s: those arrive", what);
        ok(ud_quiet(&x) && ud_quiet(&y), NAME ": %s: no other event", what);
        faults.armed = 0;
        if (lost == 0)
            ok(ud_passes(&x, &to, &y), NAME ": %s: the next datagram arrives", what);
        else
            is_type(ud_send(&x, &out, 0, SIZE, &to, SENDS), DAT_INSUFFICIENT_RESOURCES,
                    NAME ": %s: the endpoint rejects others: DAT_INSUFFICIENT_RESOURCES", what);
    }
    faults.armed = 0;
    close_sides();
    return in_time;
}

static void sends_in_time(int last, int lost, const char *what)
{
    uint64_t late = now_ms() + env_ms(SOON_MS);

    while (!sends(last, lost, what))
        must(now_ms() < late, "the first datagram is always sent too early");
}

static bool recovers(void *unused)
{
    (void)unused;
    return calls("ibv_modify_qp") > 0;
}

/* The device rejects all receives of the endpoint's SRQ until the provider gives up. */
static void receives(void)
{
    uint64_t late;
    struct srq q;
    DAT_EVENT e;
    int arrived = 0;

    srq_open(&q, &fx, ROOM, BUFFERS, PLACE);
    must_rc(dat_srq_resize(q.handle, BUFFERS), DAT_SUCCESS, "dat_srq_resize");
    srq_fill(&q, 0, BUFFERS);
    open_sides(q.handle);
    faulty_reject("post_srq_recv", ALWAYS, 0);
    while (arrived < ROOM && ud_send(&x, &out, 0, SIZE, &to, (DAT_UINT64)arrived) == DAT_SUCCESS &&
           ud_sent(&x, (DAT_UINT64)arrived, SIZE) && ud_received(&y, srq_cookie(arrived), SIZE))
        arrived++;
    is_int(arrived, ROOM, "dat_srq_post_recv: the device rejects the others: what it has is used");
    ok(wait_until(recovers, NULL, SOON_MS), "dat_srq_post_recv: the device rejects the others: the endpoint recovers");
    faults.armed = 0;
    late = now_ms() + env_ms(SOON_MS);
    do
        must(ud_send(&x, &out, 0, SIZE, &to, 0) == DAT_SUCCESS && ud_sent(&x, 0, SIZE), "a send fails");
    while (!wait_event_ms(y.recv, QUIET_MS, &e) && now_ms() < late);
    ok(ud_is_datagram(&e, &y, srq_cookie(ROOM), SIZE), "dat_srq_post_recv: the device accepts the others: the next is used");
    close_sides();
    srq_close(&q);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    faulty_use(&faults);
    must(setenv("DAT_VERBS_SRQ_BACKLOG", "1", 1) == 0, "setenv");
    ud_open(&fx);
    region_make(&fx, &out, SIZE, MEM_LOCAL);
    region_make(&fx, &in, SENDS * PLACE, MEM_LOCAL);
    sends_in_time(REJECTED, 0, "the device rejects posts for some time");
    sends_in_time(ALWAYS, 1, "the device rejects all posts but two");
    receives();
    region_free(&out);
    region_free(&in);
    fx_close(&fx);
    return done_testing();
}
