/*
 * query.c - dat_srq_query: arguments, and the two counters, which are always exact. books.c tests
 * them after the end of an endpoint.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include "common/zoo.h"

#include <string.h>

static struct zoo zoo;

static DAT_RETURN with_srq(DAT_HANDLE handle, void *arg)
{
    return dat_srq_query(handle, DAT_SRQ_FIELD_ALL, arg);
}

static void arguments(void)
{
    static const unsigned unknown[] = { 0x100, 0x1ff, 0x80000000u, 0xffffffffu };
    DAT_SRQ_HANDLE freed;
    DAT_SRQ_PARAM p, untouched;
    struct srq q;

    srq_open(&q, &zoo.fx, 10, 10, 64);
    memset(&untouched, 0x5a, sizeof untouched);
    p = untouched;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        is_code(dat_srq_query(q.handle, (DAT_SRQ_PARAM_MASK)unknown[i], &p), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG2, "dat_srq_query: mask 0x%x: DAT_INVALID_PARAMETER", unknown[i]);
    is_code(dat_srq_query(q.handle, DAT_SRQ_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG3, "dat_srq_query: srq_param NULL: DAT_INVALID_PARAMETER");
    freed = q.handle;
    srq_close(&q);
    zoo_sweep(&zoo, "dat_srq_query", DAT_HANDLE_TYPE_SRQ, DAT_INVALID_HANDLE_SRQ, freed, 0,
              with_srq, &p);
    ok(memcmp(&p, &untouched, sizeof p) == 0, "dat_srq_query: errors: nothing is written");
    zoo_intact(&zoo, "dat_srq_query");
}

static void mask(void)
{
    struct srq q;
    DAT_SRQ_PARAM p, all;

    srq_open(&q, &zoo.fx, 10, 10, 64);
    srq_fill(&q, 0, 3);
    if (!is_success(dat_srq_set_lw(q.handle, 2), "dat_srq_set_lw: 2, 3 available: success")) {
        srq_close(&q);
        return;
    }
    all = srq_param(q.handle);
    is_success(dat_srq_query(q.handle, (DAT_SRQ_PARAM_MASK)0, &p), "dat_srq_query: mask 0: success");

#define ONE(bit, field)                                                                       \
    do {                                                                                      \
        memset(&p, 0x5a, sizeof p);                                                           \
        is_success(dat_srq_query(q.handle, bit, &p), "dat_srq_query: " #bit ": success");     \
        ok(p.field == all.field, "dat_srq_query: " #bit ": fills " #field);                   \
    } while (0)
    ONE(DAT_SRQ_FIELD_IA_HANDLE, ia_handle);
    ONE(DAT_SRQ_FIELD_SRQ_STATE, srq_state);
    ONE(DAT_SRQ_FIELD_PZ_HANDLE, pz_handle);
    ONE(DAT_SRQ_FIELD_MAX_RECV_DTO, max_recv_dtos);
    ONE(DAT_SRQ_FIELD_MAX_RECV_IOV, max_recv_iov);
    ONE(DAT_SRQ_FIELD_LOW_WATERMARK, low_watermark);
    ONE(DAT_SRQ_FIELD_AVAILABLE_DTO_COUNT, available_dto_count);
    ONE(DAT_SRQ_FIELD_OUTSTANDING_DTO_COUNT, outstanding_dto_count);
#undef ONE
    ok(all.ia_handle == zoo.fx.ia && all.pz_handle == zoo.fx.pz && all.low_watermark == 2 &&
           all.max_recv_iov >= 4 && all.available_dto_count == 3 && all.outstanding_dto_count == 3,
       "dat_srq_query: DAT_SRQ_FIELD_ALL: everything is right");
    srq_close(&q);
}

/* Checks the numbers in one line of the worked example; max_recv_dtos is always 10. */
static void line(struct srq *q, DAT_COUNT available, DAT_COUNT outstanding, const char *when)
{
    is_int(srq_param(q->handle).max_recv_dtos, 10, "the worked example: %s: max_recv_dtos 10",
           when);
    is_counts(q->handle, available, outstanding,
              "the worked example: %s: available_dto_count %d, outstanding_dto_count %d", when,
              (int)available, (int)outstanding);
}

/* Executes the worked example of the manual page dat_srq_query(3). */
static void worked_example(void)
{
    struct srq_pair p;
    struct srq q;
    DAT_EVENT event;

    srq_open(&q, &zoo.fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    line(&q, 0, 0, "10 entries, one endpoint");
    srq_fill(&q, 0, 3);
    line(&q, 3, 3, "3 buffers posted");
    ok(srq_send(&p, 40, 1), "the worked example: one message arrives");
    line(&q, 2, 3, "one message arrived");
    line(&q, 2, 3, "asked once more");
    is_success(dat_evd_dequeue(p.rx.recv, &event), "the worked example: its completion is there");
    line(&q, 2, 2, "dequeued");
    srq_pair_close(&p);
    srq_close(&q);
}

/* Executes the worked example with a sender in another process, and with dat_evd_wait(). */
static void worked_example_between_processes(void)
{
    struct sender s;
    struct side rx;
    struct srq q;
    DAT_EVENT event;

    srq_open(&q, &zoo.fx, 10, 10, 64);
    side_make_srq(&rx, &zoo.fx, q.handle, NULL);
    sender_start(&s, &rx, 1);
    srq_fill(&q, 0, 3);
    line(&q, 3, 3, "another process: 3 buffers posted");
    sender_send(&s, 0, 1, 40, 1);
    line(&q, 2, 3, "another process: one message arrived");
    ok(wait_event(rx.recv, &event), "the worked example: another process: dat_evd_wait has it");
    line(&q, 2, 2, "another process: dequeued");
    sender_end(&s);
    side_free(&rx);
    srq_close(&q);
}

static void one_by_one(size_t size, struct sender *s, struct side *rx, struct srq *q)
{
    const int n = 8;
    bool down = true, off = true;

    srq_fill(q, 0, n);
    is_counts(q->handle, n, n, "%zu bytes: %d buffers posted: %d, %d", size, n, n, n);
    for (int i = 0; i < n; i++) {
        DAT_SRQ_PARAM p;

        sender_send(s, 0, 1, size, (unsigned)i);
        p = srq_arrived(q->handle, n - i - 1);
        down = down && p.available_dto_count == n - i - 1 && p.outstanding_dto_count == n;
    }
    ok(down, "%zu bytes: each arrival takes one from available, none from outstanding", size);
    for (int i = 0; i < n; i++) {
        DAT_SRQ_PARAM p;

        off = off && srq_take(q, rx->recv, rx->ep, size, 0, (unsigned)i) >= 0;
        p = srq_param(q->handle);
        off = off && p.available_dto_count == 0 && p.outstanding_dto_count == n - i - 1;
    }
    ok(off, "%zu bytes: each dequeue takes one from outstanding, in the order of the sends", size);
    is_counts(q->handle, 0, 0, "%zu bytes: all dequeued: 0, 0", size);
}

static void sizes(void)
{
    static const size_t size[] = { 0, 1, 64, 4096, 65536, 1u << 20 };
    struct sender s;
    struct side rx;
    struct srq q;

    srq_open(&q, &zoo.fx, 10, 10, 1u << 20);
    side_make_srq(&rx, &zoo.fx, q.handle, NULL);
    sender_start(&s, &rx, 1);
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        one_by_one(size[i], &s, &rx, &q);
    sender_end(&s);
    side_free(&rx);
    srq_close(&q);
}

static void burst(void)
{
    struct sender s;
    struct side rx;
    struct srq q;

    srq_open(&q, &zoo.fx, 64, 64, 256);
    side_make_srq(&rx, &zoo.fx, q.handle, NULL);
    sender_start(&s, &rx, 1);
    srq_fill(&q, 0, 64);
    sender_send(&s, 0, 50, 200, 0);
    is_counts(q.handle, 14, 64, "dat_srq_query: 50 of 64 arrived in one go: 14, 64");
    is_int(drain_dtos(rx.recv, 20), 20, "20 completions are dequeued");
    is_counts(q.handle, 14, 44, "dat_srq_query: 20 of them dequeued: 14, 44");
    sender_send(&s, 0, 14, 200, 50);
    is_counts(q.handle, 0, 44, "dat_srq_query: the last 14 taken: 0, 44");
    is_int(drain_dtos(rx.recv, 44), 44, "44 completions are dequeued");
    is_counts(q.handle, 0, 0, "dat_srq_query: all dequeued: 0, 0");
    sender_end(&s);
    side_free(&rx);
    srq_close(&q);
}

static void empty_queue(void)
{
    struct sender s;
    struct side rx;
    struct srq q;

    srq_open(&q, &zoo.fx, 10, 10, 256);
    side_make_srq(&rx, &zoo.fx, q.handle, NULL);
    sender_start(&s, &rx, 1);
    sender_begin(&s, 0, 3, 100, 0);
    sender_posted(&s);
    is_counts(q.handle, 0, 0, "dat_srq_query: three messages wait, no buffer: 0, 0");
    ok(no_event(rx.recv), "no buffer: no completion");
    srq_fill(&q, 0, 5);
    is_int(sender_arrived(&s), 3, "five buffers are posted: the three messages arrive");
    is_counts(q.handle, 2, 5, "dat_srq_query: five posted for three that waited: 2, 5");
    for (unsigned i = 0; i < 3; i++)
        ok(srq_take(&q, rx.recv, rx.ep, 100, 0, i) >= 0, "message %u that waited is complete", i);
    is_counts(q.handle, 2, 2, "dat_srq_query: dequeued: 2, 2");
    sender_end(&s);
    side_free(&rx);
    srq_close(&q);
}

static void three_endpoints(void)
{
    struct sender s;
    struct side rx[3];
    struct srq q;

    srq_open(&q, &zoo.fx, 20, 20, 256);
    for (int i = 0; i < 3; i++)
        side_make_srq(&rx[i], &zoo.fx, q.handle, NULL);
    sender_start(&s, rx, 3);
    srq_fill(&q, 0, 20);
    sender_send(&s, 0, 1, 10, 0);
    sender_send(&s, 1, 2, 10, 0);
    sender_send(&s, 2, 3, 10, 0);
    is_counts(q.handle, 14, 20, "dat_srq_query: 1, 2 and 3 messages on three endpoints: 14, 20");
    is_int(drain_dtos(rx[2].recv, 3), 3, "the third endpoint's three are dequeued");
    is_counts(q.handle, 14, 17, "dat_srq_query: three dequeued: 14, 17");
    is_int(drain_dtos(rx[0].recv, 1) + drain_dtos(rx[1].recv, 2), 3, "and those of the others");
    is_counts(q.handle, 14, 14, "dat_srq_query: all dequeued: 14, 14");
    sender_end(&s);
    for (int i = 0; i < 3; i++)
        side_free(&rx[i]);
    srq_close(&q);
}

static void unconnected(void)
{
    struct side rx[2];
    struct srq q;

    srq_open(&q, &zoo.fx, 10, 10, 64);
    srq_fill(&q, 0, 3);
    for (int i = 0; i < 2; i++)
        side_make_srq(&rx[i], &zoo.fx, q.handle, NULL);
    is_counts(q.handle, 3, 3, "dat_srq_query: two unconnected endpoints: they take nothing");
    for (int i = 0; i < 2; i++)
        side_free(&rx[i]);
    is_counts(q.handle, 3, 3, "dat_srq_query: both are freed: nothing is lost");
    srq_close(&q);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { SENDER_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    zoo_open(&zoo);
    arguments();
    worked_example();
    worked_example_between_processes();
    sizes();
    burst();
    if (!none_waits("empty queue"))
        empty_queue();
    three_endpoints();
    unconnected();
    mask(); /* last, because it also needs dat_srq_set_lw */
    zoo_close(&zoo);
    return done_testing();
}
