/*
 * create.c - dat_srq_create: sizes, the mandatory PZ, a code for each bad argument; and the
 * attributes of dat_ia_query for SRQs.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include "common/zoo.h"

#include <limits.h>
#include <string.h>

static struct zoo zoo;
static DAT_IA_ATTR ia_attr;
static DAT_PROVIDER_ATTR provider_attr;

static DAT_RETURN create(DAT_COUNT dtos, DAT_COUNT iov, DAT_COUNT watermark, DAT_SRQ_HANDLE *srq)
{
    DAT_SRQ_ATTR attr = { dtos, iov, watermark };

    return dat_srq_create(zoo.fx.ia, zoo.fx.pz, &attr, srq);
}

static void capabilities(void)
{
    DAT_COUNT w = provider_attr.srq_watermarks_supported;
    bool soft_roce = strcmp(ia_attr.vendor_name, "0xffffff") == 0;

    is_int(provider_attr.srq_supported, DAT_TRUE, "dat_ia_query: srq_supported: true");
    is_int(w & (WATERMARK_LOW | WATERMARK_SOFT_HIGH | WATERMARK_HARD_HIGH),
           WATERMARK_LOW | WATERMARK_SOFT_HIGH | WATERMARK_HARD_HIGH,
           "dat_ia_query: srq_watermarks_supported: low, soft high and hard high");
    is_int(provider_attr.srq_ep_pz_difference_supported, !soft_roce,
           "dat_ia_query: srq_ep_pz_difference_supported: %s", soft_roce ? "false on Soft-RoCE" : "true");
    is_int(provider_attr.srq_info_supported & (INFO_FIRST | INFO_SECOND), INFO_FIRST | INFO_SECOND,
           "dat_ia_query: srq_info_supported: both counters");
    is_int(provider_attr.ep_recv_info_supported & (INFO_FIRST | INFO_SECOND),
           INFO_FIRST | INFO_SECOND, "dat_ia_query: ep_recv_info_supported: both values");
    ok(ia_attr.max_srqs >= 1, "dat_ia_query: max_srqs: at least 1");
    ok(ia_attr.max_ep_per_srq >= 1 && ia_attr.max_ep_per_srq <= ia_attr.max_eps,
       "dat_ia_query: max_ep_per_srq: at least 1, no more than max_eps");
    ok(ia_attr.max_recv_per_srq >= 1, "dat_ia_query: max_recv_per_srq: at least 1");
    ok(ia_attr.max_iov_segments_per_dto >= 1, "dat_ia_query: max_iov_segments_per_dto: at least 1");
    diag("max_srqs %d, max_ep_per_srq %d, max_recv_per_srq %d, max_iov_segments_per_dto %d",
         (int)ia_attr.max_srqs, (int)ia_attr.max_ep_per_srq, (int)ia_attr.max_recv_per_srq,
         (int)ia_attr.max_iov_segments_per_dto);
}

static void sizes(void)
{
    static const DAT_COUNT dtos[] = { 1, 2, 3, 10, 63, 64, 65, 255, 256, 1000 };
    DAT_COUNT iovs[] = { 1, 2, 3, ia_attr.max_iov_segments_per_dto };

    for (size_t i = 0; i < sizeof dtos / sizeof *dtos; i++) {
        DAT_COUNT iov = iovs[i % 4] <= iovs[3] ? iovs[i % 4] : iovs[3];
        DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
        DAT_SRQ_PARAM p;

        if (!is_success(create(dtos[i], iov, DAT_SRQ_LW_DEFAULT, &srq),
                        "dat_srq_create: %d buffers of %d segments: success", (int)dtos[i],
                        (int)iov))
            continue;
        p = srq_param(srq);
        ok(p.max_recv_dtos >= dtos[i] && p.max_recv_iov >= iov,
           "dat_srq_query: asked for %d of %d: at least that many", (int)dtos[i], (int)iov);
        ok(p.max_recv_dtos <= ia_attr.max_recv_per_srq &&
               p.max_recv_iov <= ia_attr.max_iov_segments_per_dto,
           "dat_srq_query: asked for %d of %d: no more than the adapter's limits", (int)dtos[i],
           (int)iov);
        ok(p.available_dto_count == 0 && p.outstanding_dto_count == 0,
           "dat_srq_query: new queue: no buffer available, none outstanding");
        ok(p.srq_state == DAT_SRQ_STATE_OPERATIONAL && p.low_watermark == DAT_SRQ_LW_DEFAULT,
           "dat_srq_query: new queue: operational, low watermark DAT_SRQ_LW_DEFAULT");
        ok(p.ia_handle == zoo.fx.ia && p.pz_handle == zoo.fx.pz,
           "dat_srq_query: new queue: the IA and the zone of its creation");
        is_success(dat_srq_free(srq), "dat_srq_free: new queue: success, for nothing is attached");
    }
    ok(no_event(zoo.fx.async), "dat_srq_create: default watermark: no asynchronous event");
}

static void bad_attributes(void)
{
    static const struct {
        const char *what;
        DAT_COUNT dtos, iov, watermark;
    } bad[] = {
        { "max_recv_dtos 0", 0, 1, 0 },
        { "max_recv_dtos -1", -1, 1, 0 },
        { "max_recv_dtos INT_MIN", INT_MIN, 1, 0 },
        { "max_recv_iov 0", 10, 0, 0 },
        { "max_recv_iov -1", 10, -1, 0 },
        { "max_recv_iov INT_MIN", 10, INT_MIN, 0 },
        { "low_watermark 1", 10, 1, 1 },
        { "low_watermark max_recv_dtos", 10, 1, 10 },
        { "low_watermark 11 of 10", 10, 1, 11 },
        { "low_watermark -1", 10, 1, -1 },
        { "everything 0", 0, 0, 0 },
    };
    DAT_SRQ_HANDLE srq;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        srq = UNTOUCHED;
        is_code(create(bad[i].dtos, bad[i].iov, bad[i].watermark, &srq), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG3, "dat_srq_create: %s: DAT_INVALID_PARAMETER", bad[i].what);
        is_ptr(srq, UNTOUCHED, "dat_srq_create: %s: the handle is not written", bad[i].what);
    }
    srq = UNTOUCHED;
    if (ia_attr.max_recv_per_srq < INT_MAX)
        is_code(create(ia_attr.max_recv_per_srq + 1, 1, 0, &srq), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG3,
                "dat_srq_create: max_recv_dtos above max_recv_per_srq: DAT_INVALID_PARAMETER");
    is_code(create(INT_MAX, 1, 0, &srq), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_srq_create: max_recv_dtos INT_MAX: DAT_INVALID_PARAMETER");
    if (ia_attr.max_iov_segments_per_dto < INT_MAX)
        is_code(create(1, ia_attr.max_iov_segments_per_dto + 1, 0, &srq), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG3,
                "dat_srq_create: max_recv_iov above max_iov_segments_per_dto: "
                "DAT_INVALID_PARAMETER");
    is_ptr(srq, UNTOUCHED, "dat_srq_create: sizes above the limits: the handle is not written");
    ok(no_event(zoo.fx.async), "dat_srq_create: refused watermarks: no asynchronous event");
}

/* Tests that the limits of dat_ia_query are valid arguments. The call may fail for lack of memory. */
static void limits(void)
{
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    DAT_RETURN rc = create(ia_attr.max_recv_per_srq, 1, 0, &srq);

    is_either(rc, DAT_SUCCESS, DAT_INSUFFICIENT_RESOURCES,
              "dat_srq_create: max_recv_per_srq buffers: not refused as a parameter");
    if (rc == DAT_SUCCESS) {
        is_int(srq_param(srq).max_recv_dtos, ia_attr.max_recv_per_srq,
               "dat_srq_query: max_recv_per_srq buffers: reported");
        is_success(dat_srq_free(srq), "dat_srq_free: the largest queue: success");
    }
}

static void null_pointers(void)
{
    DAT_SRQ_HANDLE srq = UNTOUCHED;
    DAT_SRQ_ATTR attr = { 10, 2, DAT_SRQ_LW_DEFAULT }, copy = attr;

    is_code(dat_srq_create(zoo.fx.ia, zoo.fx.pz, NULL, &srq), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG3, "dat_srq_create: srq_attr NULL: DAT_INVALID_PARAMETER");
    is_ptr(srq, UNTOUCHED, "dat_srq_create: srq_attr NULL: the handle is not written");
    is_code(dat_srq_create(zoo.fx.ia, zoo.fx.pz, &attr, NULL), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG4, "dat_srq_create: srq_handle NULL: DAT_INVALID_PARAMETER");
    is_success(dat_srq_create(zoo.fx.ia, zoo.fx.pz, &attr, &srq), "dat_srq_create: success");
    ok(memcmp(&attr, &copy, sizeof attr) == 0, "dat_srq_create: the attributes are only read");
    is_success(dat_srq_free(srq), "dat_srq_free: success");
}

static DAT_RETURN with_ia(DAT_HANDLE handle, void *arg)
{
    DAT_SRQ_ATTR attr = { 10, 1, DAT_SRQ_LW_DEFAULT };

    return dat_srq_create(handle, zoo.fx.pz, &attr, arg);
}

static DAT_RETURN with_pz(DAT_HANDLE handle, void *arg)
{
    DAT_SRQ_ATTR attr = { 10, 1, DAT_SRQ_LW_DEFAULT };

    return dat_srq_create(zoo.fx.ia, handle, &attr, arg);
}

static void handles(void)
{
    DAT_SRQ_HANDLE srq = UNTOUCHED;
    DAT_PZ_HANDLE freed = DAT_HANDLE_NULL;
    DAT_IA_HANDLE closed;
    struct fx other;

    must_rc(dat_pz_create(zoo.fx.ia, &freed), DAT_SUCCESS, "dat_pz_create");
    must_rc(dat_pz_free(freed), DAT_SUCCESS, "dat_pz_free");
    zoo_sweep(&zoo, "dat_srq_create", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, DAT_HANDLE_NULL, 0,
              with_ia, &srq);
    zoo_sweep(&zoo, "dat_srq_create (zone)", DAT_HANDLE_TYPE_PZ, DAT_INVALID_HANDLE_PZ, freed, 0,
              with_pz, &srq);

    fx_open(&other);
    is_code(with_pz(other.pz, &srq), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ,
            "dat_srq_create: zone of another open of the adapter: DAT_INVALID_HANDLE");
    closed = other.ia;
    fx_close(&other);
    is_code(with_ia(closed, &srq), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
            "dat_srq_create: an adapter that is closed: DAT_INVALID_HANDLE");
    is_ptr(srq, UNTOUCHED, "dat_srq_create: wrong handles: the result is not written");
    zoo_intact(&zoo, "dat_srq_create");
}

static void several(void)
{
    DAT_SRQ_HANDLE srq[4];
    DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_IA;
    DAT_CONTEXT context, back;
    bool apart = true;

    for (int i = 0; i < 4; i++) {
        srq[i] = DAT_HANDLE_NULL;
        must_rc(create(10 + i, 1, 0, &srq[i]), DAT_SUCCESS, "dat_srq_create");
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            apart = apart && srq[i] != srq[j];
    ok(apart, "dat_srq_create: four queues in one zone: four handles");
    is_success(dat_get_handle_type(srq[0], &type), "dat_get_handle_type: an SRQ: success");
    is_int(type, DAT_HANDLE_TYPE_SRQ, "dat_get_handle_type: DAT_HANDLE_TYPE_SRQ");

    memset(&context, 0, sizeof context);
    memset(&back, 0xff, sizeof back);
    is_success(dat_get_consumer_context(srq[0], &back), "dat_get_consumer_context: an SRQ: success");
    is_int((long long)back.as_64, 0, "dat_get_consumer_context: never set: zero");
    context.as_64 = 0x123456789abcdef0u;
    is_success(dat_set_consumer_context(srq[0], context), "dat_set_consumer_context: success");
    is_success(dat_get_consumer_context(srq[0], &back), "dat_get_consumer_context: success");
    is_int((long long)back.as_64, (long long)context.as_64, "dat_get_consumer_context: as set");
    is_success(dat_get_consumer_context(srq[1], &back), "dat_get_consumer_context: success");
    is_int((long long)back.as_64, 0, "dat_get_consumer_context: of another queue: its own");

    for (int i = 0; i < 4; i++)
        is_success(dat_srq_free(srq[i]), "dat_srq_free: queue %d of four: success", i);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    zoo_open(&zoo);
    srq_attributes(&zoo.fx, &ia_attr, &provider_attr);
    capabilities();
    sizes();
    bad_attributes();
    limits();
    null_pointers();
    handles();
    several();
    zoo_close(&zoo);
    return done_testing();
}
