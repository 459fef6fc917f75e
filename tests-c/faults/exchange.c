/*
 * exchange.c - one allocation fails while two endpoints connect, or exchange the addresses of datagrams.
 *
 * For each allocation there is a process, in which only this one fails. A refused call returns
 * DAT_INSUFFICIENT_RESOURCES, changes nothing, and succeeds when it is repeated. Each side gets an event of its end.
 */
#include "common/fixture.h"

#include "allocator.h"
#include "life.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit statuses of a child. */
enum { COMPLETE = 10, FAILED, ALL_SERVED, WRONG_CODE, REFUSED_TWICE, NO_EVENT_ACTIVE, NO_EVENT_PASSIVE, NO_REASON };

static const char *const wrongs[] = { "a refused call has another code", "the repeated call fails",
                                      "no event at the active side", "no event at the passive side",
                                      "not established, although no allocation failed" };

/* An attempt of the child, with a connection or with datagrams. */
struct attempt {
    struct fx fx;
    struct side a, b;
    DAT_CONN_QUAL qual;
    DAT_CR_HANDLE cr;
    DAT_EVENT request, ended;
    bool has_request, has_ended;
};

static void prepare(struct attempt *t, bool datagrams)
{
    DAT_EP_ATTR attr;

    memset(t, 0, sizeof *t);
    fx_open(&t->fx);
    attr_default(&attr);
#if UDAPL == 20
    if (datagrams) {
        attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
        attr.max_message_size = 256;
        attr.max_rdma_size = attr.max_rdma_read_in = attr.max_rdma_read_out = 0;
    }
#else
    (void)datagrams;
#endif
    side_make(&t->a, &t->fx, &attr);
    side_make(&t->b, &t->fx, &attr);
    (void)fx_listen(&t->fx, &t->qual);
}

static DAT_RETURN connects(struct attempt *t)
{
    return side_connect(&t->a, fx_address(&t->fx), t->qual);
}

static DAT_RETURN accepts(struct attempt *t)
{
    return dat_cr_accept(t->cr, t->b.ep, 0, NULL);
}

/* Makes the call, and if it is refused, once more. Returns COMPLETE if it has succeeded. */
static int twice(DAT_RETURN (*call)(struct attempt *), struct attempt *t)
{
    DAT_RETURN rc = call(t);

    if (rc == DAT_SUCCESS)
        return COMPLETE;
    if (!rc_is(rc, DAT_INSUFFICIENT_RESOURCES))
        return WRONG_CODE;
    return call(t) == DAT_SUCCESS ? COMPLETE : REFUSED_TWICE;
}

static bool asked_or_ended(void *arg)
{
    struct attempt *t = arg;

    t->has_request = dat_evd_dequeue(t->fx.cr, &t->request) == DAT_SUCCESS;
    t->has_ended = !t->has_request && dat_evd_dequeue(t->a.conn, &t->ended) == DAT_SUCCESS;
    return t->has_request || t->has_ended;
}

static bool is_established(const DAT_EVENT *event)
{
#if UDAPL == 20
    if (event->event_number == (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED)
        return true;
#endif
    return event->event_number == DAT_CONNECTION_EVENT_ESTABLISHED;
}

static int attempt(bool datagrams, long n)
{
    static struct attempt t;
    DAT_EVENT active, passive;
    int status;
    bool failed;

    prepare(&t, datagrams);
    allocator_fail(n, n);
    status = twice(connects, &t);
    if (status != COMPLETE)
        return status;
    if (!wait_until(asked_or_ended, &t, SOON_MS))
        return NO_EVENT_ACTIVE;
    if (t.has_ended)
        return allocator_calls() >= n ? FAILED : NO_REASON;
    t.cr = t.request.event_data.cr_arrival_event_data.cr_handle;
    status = twice(accepts, &t);
    if (status != COMPLETE)
        return status;
    if (!wait_event(t.a.conn, &active))
        return NO_EVENT_ACTIVE;
    if (!wait_event(t.b.conn, &passive))
        return NO_EVENT_PASSIVE;
    failed = allocator_calls() >= n;
    allocator_restore();
    if (is_established(&active) && is_established(&passive))
        return failed ? COMPLETE : ALL_SERVED;
    return failed ? FAILED : NO_REASON;
}

/* Runs the attempt in a process of its own. Returns its outcome, or another number if the process has died. */
static int run(bool datagrams, long n)
{
    int status;

    if (life_fork(&status, 60000))
        _exit(attempt(datagrams, n));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void each_allocation(bool datagrams, const char *what)
{
    int bad = 0, outcome = COMPLETE;
    long n = 0;

    while (outcome != ALL_SERVED && bad < 10) {
        outcome = run(datagrams, ++n);
        if (outcome > ALL_SERVED || outcome < COMPLETE) {
            bad++;
            diag("allocation %ld: %s", n,
                 outcome > ALL_SERVED && outcome <= NO_REASON ? wrongs[outcome - WRONG_CODE] : "the process has died");
        }
    }
    diag("%ld allocations", n - 1);
    ok(bad == 0 && n > 1, "%s, and an allocation fails: a refused call can be repeated, each side gets an event", what);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    if (env_valgrind())
        skip_all("valgrind has an allocator of its own");
    if (env_has_device())
        skip_all("the libraries of an RDMA device can lose a request without memory");
    each_allocation(false, "two endpoints connect");
#if UDAPL == 20
    each_allocation(true, "two endpoints exchange the addresses of datagrams");
#endif
    return done_testing();
}
