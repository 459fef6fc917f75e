/*
 * post_recv.c - dat_srq_post_recv: requirements on a buffer, the number of buffers, and the
 * endpoint in the completion.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include "common/zoo.h"

#include <limits.h>
#include <string.h>

static struct zoo zoo;

static DAT_RETURN post(struct srq *q, DAT_COUNT n, DAT_LMR_TRIPLET *iov)
{
    return dat_srq_post_recv(q->handle, n, iov, cookie(srq_cookie(0)));
}

/* Checks that a post returns this code and that the queue stays empty. */
static void refused(struct srq *q, DAT_COUNT n, DAT_LMR_TRIPLET *iov, DAT_UINT32 type,
                    DAT_UINT32 subtype, const char *what)
{
    is_code(post(q, n, iov), type, subtype, "dat_srq_post_recv: %s: %s", what, rc_text(type));
    is_counts(q->handle, 0, 0, "dat_srq_post_recv: %s: nothing is queued", what);
}

static void zone(void)
{
    DAT_PZ_HANDLE other = DAT_HANDLE_NULL;
    struct region foreign;
    DAT_LMR_TRIPLET t[2];
    struct srq q;

    srq_open(&q, &zoo.fx, 4, 4, 256);
    must_rc(dat_pz_create(zoo.fx.ia, &other), DAT_SUCCESS, "dat_pz_create");
    region_make_in(&zoo.fx, other, &foreign, 256, DAT_MEM_PRIV_ALL_FLAG);
    t[0] = segment(&foreign, 0, 256);
    refused(&q, 1, t, DAT_PROTECTION_VIOLATION, DAT_PROTECTION_WRITE, "memory of another zone");
    t[0] = segment(&q.mem, 0, 128);
    t[1] = segment(&foreign, 0, 128);
    refused(&q, 2, t, DAT_PROTECTION_VIOLATION, DAT_PROTECTION_WRITE,
            "second segment of another zone");
    region_free(&foreign);
    must_rc(dat_pz_free(other), DAT_SUCCESS, "dat_pz_free");
    srq_close(&q);
}

static void instance(void)
{
    struct fx other;
    struct region foreign;
    DAT_LMR_TRIPLET t;
    struct srq q;

    srq_open(&q, &zoo.fx, 4, 4, 256);
    fx_open(&other);
    region_make(&other, &foreign, 256, DAT_MEM_PRIV_ALL_FLAG);
    t = segment(&foreign, 0, 256);
    refused(&q, 1, &t, DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE, "memory of another instance");
    t = segment(&q.mem, 0, 128);
    t.lmr_context = foreign.lmr_context;
    refused(&q, 1, &t, DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE, "the context of another instance's memory");
    region_free(&foreign);
    fx_close(&other);
    srq_close(&q);
}

static void privileges(void)
{
    static const struct {
        unsigned flags;
        const char *what;
    } bad[] = {
        { DAT_MEM_PRIV_NONE_FLAG, "memory without any privilege" },
        { DAT_MEM_PRIV_LOCAL_READ_FLAG, "memory with local read only" },
        { DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG,
          "memory with local and remote read" },
    };
    struct region r;
    DAT_LMR_TRIPLET t[2];
    struct srq q;

    srq_open(&q, &zoo.fx, 4, 4, 256);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        region_make(&zoo.fx, &r, 256, bad[i].flags);
        t[0] = segment(&r, 0, 256);
        refused(&q, 1, t, DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE, bad[i].what);
        t[0] = segment(&q.mem, 0, 64);
        t[1] = segment(&r, 0, 64);
        refused(&q, 2, t, DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE,
                "second segment without local write");
        region_free(&r);
    }
    region_make(&zoo.fx, &r, 256, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
    t[0] = segment(&r, 0, 256);
    is_success(post(&q, 1, t), "dat_srq_post_recv: memory with local write only: success");
    srq_close(&q); /* frees the posted buffer */
    region_free(&r);
}

static void bounds(void)
{
    DAT_VADDR base;
    DAT_LMR_TRIPLET t[2];
    struct srq q;

    srq_open(&q, &zoo.fx, 8, 4, 256);
    base = (DAT_VADDR)(uintptr_t)q.mem.mem;
    t[0] = segment(&q.mem, 0, q.mem.size + 1);
    refused(&q, 1, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, "one byte longer than the region");
    t[0] = segment(&q.mem, 1, q.mem.size);
    refused(&q, 1, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, "one byte past the region");
    t[0] = segment(&q.mem, q.mem.size, 1);
    refused(&q, 1, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, "begins at the region's end");
    t[0].virtual_address = base - 1;
    refused(&q, 1, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, "begins before the region");
    t[0].virtual_address = 0;
    refused(&q, 1, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, "address 0");
    t[0] = segment(&q.mem, 0, 16);
    t[0].segment_length = SEG_LENGTH_MAX;
    refused(&q, 1, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, "length of all ones");
#if UDAPL == 12 /* 2.0 has 32-bit lengths */
    t[0].segment_length = ~(DAT_VLEN)0 - base + 2; /* wraps to address 1 */
    refused(&q, 1, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, "end beyond the address space");
#endif
    t[0] = segment(&q.mem, 0, 16);
    t[0].virtual_address = ~(DAT_VADDR)0 - 7;
    refused(&q, 1, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, "across the end of the address space");
    t[0] = segment(&q.mem, 0, 16);
    t[1] = segment(&q.mem, q.mem.size - 15, 16);
    refused(&q, 2, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, "second segment past the region");

    t[0] = segment(&q.mem, 0, q.mem.size);
    is_success(post(&q, 1, t), "dat_srq_post_recv: exactly the region: success");
    t[0] = segment(&q.mem, q.mem.size - 1, 1);
    is_success(post(&q, 1, t), "dat_srq_post_recv: the region's last byte: success");
    is_counts(q.handle, 2, 2, "dat_srq_post_recv: two accepted: two available");
    srq_close(&q);
}

static void contexts(void)
{
    struct region gone;
    DAT_LMR_TRIPLET t[2];
    struct srq q;

    srq_open(&q, &zoo.fx, 4, 4, 256);
    region_make(&zoo.fx, &gone, 256, DAT_MEM_PRIV_ALL_FLAG);
    t[0] = segment(&gone, 0, 256);
    must_rc(dat_lmr_free(gone.lmr), DAT_SUCCESS, "dat_lmr_free");
    gone.lmr = DAT_HANDLE_NULL;
    refused(&q, 1, t, DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE, "context of a freed region");
    region_free(&gone);
    t[0] = segment(&q.mem, 0, 256);
    t[0].lmr_context = 0xdeadbeefu;
    refused(&q, 1, t, DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE, "context that never was");
    t[0].lmr_context = ~(DAT_LMR_CONTEXT)0;
    refused(&q, 1, t, DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE, "context of all ones");
    t[0] = segment(&q.mem, 0, 16);
    t[1] = segment(&q.mem, 16, 16);
    t[1].lmr_context = 0xdeadbeefu;
    refused(&q, 2, t, DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE,
            "second segment of an unknown context");
    t[1].segment_length = 0;
    is_success(post(&q, 2, t), "dat_srq_post_recv: empty segment of an unknown context: success, "
                               "for it is skipped");
    srq_close(&q);
}

static void segments(void)
{
    DAT_COUNT iov, max;
    DAT_LMR_TRIPLET t[64];
    struct srq q;

    srq_open(&q, &zoo.fx, 8, 4, 256);
    iov = srq_param(q.handle).max_recv_iov;
    max = (DAT_COUNT)(sizeof t / sizeof *t);
    for (DAT_COUNT i = 0; i < max; i++)
        t[i] = segment(&q.mem, (size_t)i, 1);
    if (iov < max) {
        refused(&q, iov + 1, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "one segment above max_recv_iov");
        is_success(post(&q, iov, t), "dat_srq_post_recv: max_recv_iov segments: success");
    } else {
        skip(2, "max_recv_iov is %d", (int)iov);
    }
    srq_close(&q);

    srq_open(&q, &zoo.fx, 8, 4, 256);
    refused(&q, -1, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG2, "-1 segments");
    refused(&q, INT_MIN, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG2, "INT_MIN segments");
    refused(&q, INT_MAX, t, DAT_INVALID_PARAMETER, DAT_INVALID_ARG2, "INT_MAX segments");
    refused(&q, 1, NULL, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, "one segment and no list");
    is_success(post(&q, 0, NULL), "dat_srq_post_recv: no segment and no list: success");
    is_success(post(&q, 0, t), "dat_srq_post_recv: no segment: success");
    is_counts(q.handle, 2, 2, "dat_srq_post_recv: buffers of no bytes: counted as any other");
    srq_close(&q);
}

static void full(DAT_COUNT size)
{
    struct srq_pair p;
    struct srq q;
    DAT_COUNT max, i;
    DAT_RETURN rc = DAT_SUCCESS;

    srq_open(&q, &zoo.fx, size, size + 64, 32);
    max = srq_param(q.handle).max_recv_dtos;
    for (i = 0; i < max && i < q.buffers; i++)
        if ((rc = srq_post(&q, i)) != DAT_SUCCESS)
            break;
    is_success(rc, "dat_srq_post_recv: queue of %d: all are accepted", (int)max);
    is_int(i, max, "dat_srq_post_recv: queue of %d: that many", (int)max);
    is_code(srq_post(&q, i), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
            "dat_srq_post_recv: queue of %d is full: DAT_INSUFFICIENT_RESOURCES", (int)max);
    is_counts(q.handle, max, max, "dat_srq_post_recv: queue of %d is full: nothing is queued",
              (int)max);

    srq_pair_open(&p, &q);
    ok(srq_send(&p, 16, 1), "queue of %d is full: a message arrives", (int)max);
    is_code(srq_post(&q, i), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
            "dat_srq_post_recv: one completed, not dequeued: DAT_INSUFFICIENT_RESOURCES");
    is_counts(q.handle, max - 1, max, "dat_srq_post_recv: one completed: nothing is queued");
    ok(srq_take(&q, p.rx.recv, p.rx.ep, 16, 0, 1) >= 0, "the completion is dequeued");
    is_success(srq_post(&q, i), "dat_srq_post_recv: one dequeued: one more is accepted");
    is_code(srq_post(&q, i + 1), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
            "dat_srq_post_recv: full again: DAT_INSUFFICIENT_RESOURCES");
    is_counts(q.handle, max, max, "dat_srq_post_recv: full again: every entry is taken");
    srq_pair_close(&p);
    srq_close(&q);
}

static void names_the_endpoint(void)
{
    struct srq_pair p[2];
    DAT_EP_PARAM param;
    struct srq q;
    bool good = true;

    srq_open(&q, &zoo.fx, 16, 16, 256);
    for (int i = 0; i < 2; i++)
        srq_pair_open(&p[i], &q);
    srq_fill(&q, 0, 16);
    for (unsigned n = 0; n < 16; n++) {
        struct srq_pair *from = &p[n * 5 % 7 % 2];

        good = good && srq_send(from, 200, n) &&
               srq_take(&q, from->rx.recv, from->rx.ep, 200, 0, n) >= 0;
    }
    ok(good, "dat_srq_post_recv: completions: on the taker's EVD, with its handle, the cookie that "
             "was posted, and the message");
    memset((void *)&param, 0, sizeof param);
    is_success(dat_ep_query(p[0].rx.ep, DAT_EP_FIELD_SRQ_HANDLE, &param), "dat_ep_query: success");
    is_ptr(param.srq_handle, q.handle, "dat_ep_query: srq_handle: the queue");
    for (int i = 0; i < 2; i++)
        srq_pair_close(&p[i]);
    srq_close(&q);
}

static void scatter(void)
{
    struct srq_pair p;
    struct srq q;
    DAT_LMR_TRIPLET t[4];
    DAT_EVENT event;
    unsigned char want[300];

    srq_open(&q, &zoo.fx, 4, 4, 256);
    srq_pair_open(&p, &q);
    memset(q.mem.mem, 0xee, q.mem.size);
    t[0] = segment(&q.mem, 700, 100);
    t[1] = segment(&q.mem, 10, 60);
    t[2] = segment(&q.mem, 300, 100);
    t[3] = segment(&q.mem, 500, 50);
    is_success(dat_srq_post_recv(q.handle, 4, t, cookie(0x1122334455667788u)),
               "dat_srq_post_recv: four segments: success");
    memset(t, 0xff, sizeof t); /* the caller can reuse the list */
    message_fill(want, 200, 0, 9);
    ok(srq_send(&p, 200, 9) && wait_dto(p.rx.recv, 0x1122334455667788u, DAT_DTO_SUCCESS, &event) &&
           event.event_data.dto_completion_event_data.transfered_length == 200,
       "dat_srq_post_recv: four segments of 310 bytes: 200 bytes arrive");
    ok(memcmp(q.mem.mem + 700, want, 100) == 0 && memcmp(q.mem.mem + 10, want + 100, 60) == 0 &&
           memcmp(q.mem.mem + 300, want + 160, 40) == 0,
       "dat_srq_post_recv: four segments: filled in their order");
    ok(all_bytes(q.mem.mem + 340, 60, 0xee) && all_bytes(q.mem.mem + 500, 50, 0xee) &&
           all_bytes(q.mem.mem + 800, 100, 0xee) && all_bytes(q.mem.mem + 70, 230, 0xee),
       "dat_srq_post_recv: four segments: the rest is untouched");
    srq_pair_close(&p);
    srq_close(&q);
}

static void nothing_in_it(void)
{
    struct srq_pair p;
    struct srq q;
    DAT_EVENT event;

    srq_open(&q, &zoo.fx, 4, 4, 256);
    srq_pair_open(&p, &q);
    is_success(dat_srq_post_recv(q.handle, 0, NULL, cookie(77)),
               "dat_srq_post_recv: no segments: success");
    ok(srq_send(&p, 0, 1) && wait_dto(p.rx.recv, 77, DAT_DTO_SUCCESS, &event) &&
           event.event_data.dto_completion_event_data.transfered_length == 0,
       "dat_srq_post_recv: no segments: receives a message of 0 bytes");
    srq_fill(&q, 0, 1);
    ok(srq_send(&p, 0, 2) && srq_take(&q, p.rx.recv, p.rx.ep, 0, 0, 2) == 0,
       "dat_srq_post_recv: 256 bytes: receive a message of 0 bytes");
    is_counts(q.handle, 0, 0, "dat_srq_query: all dequeued: 0 and 0");
    srq_pair_close(&p);
    srq_close(&q);
}

static DAT_RETURN with_srq(DAT_HANDLE handle, void *arg)
{
    (void)arg;
    return dat_srq_post_recv(handle, 0, NULL, cookie(1));
}

static void handles(void)
{
    struct srq q;
    DAT_SRQ_HANDLE freed;

    srq_open(&q, &zoo.fx, 4, 4, 256);
    freed = q.handle;
    srq_close(&q);
    zoo_sweep(&zoo, "dat_srq_post_recv", DAT_HANDLE_TYPE_SRQ, DAT_INVALID_HANDLE_SRQ, freed, 0,
              with_srq, NULL);
    zoo_intact(&zoo, "dat_srq_post_recv");
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    zoo_open(&zoo);
    zone();
    instance();
    privileges();
    bounds();
    contexts();
    segments();
    full(1);
    full(10);
    full(100);
    names_the_endpoint();
    scatter();
    nothing_in_it();
    handles();
    zoo_close(&zoo);
    return done_testing();
}
