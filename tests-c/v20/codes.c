/* codes.c - return codes of uDAPL 2.0 that the other programs of this directory do not test. */
#include "v20/extended.h"

#include <string.h>
#include <sys/socket.h>

static struct fx fx;

/* dat_ep_modify accepts only a supported communicator. */
static void communication(void)
{
    static const DAT_COMM odd[] = {
        { AF_UNIX, SOCK_STREAM, 0 },
        { AF_INET, SOCK_DGRAM, 0 },
        { AF_INET, SOCK_STREAM, 99 },
        { -1, -1, -1 },
    };
    static const DAT_COMM good = { AF_INET, SOCK_STREAM, IPPROTO_TCP };
    DAT_EP_PARAM param;
    struct side s;

    side_make(&s, &fx, NULL);
    memset(&param, 0, sizeof param);
    param.comm = good;
    is_success(dat_ep_modify(s.ep, DAT_EP_FIELD_COMM, &param), "dat_ep_modify: comm: success");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        param.comm = odd[i];
        is_type(dat_ep_modify(s.ep, DAT_EP_FIELD_COMM, &param), DAT_COMM_NOT_SUPPORTED,
                "dat_ep_modify: comm %d, %d, %d: DAT_COMM_NOT_SUPPORTED", odd[i].domain, odd[i].type,
                odd[i].protocol);
    }
    must_rc(dat_ep_query(s.ep, DAT_EP_FIELD_COMM, &param), DAT_SUCCESS, "dat_ep_query");
    ok(memcmp(&param.comm, &good, sizeof good) == 0, "dat_ep_modify: errors: comm is as before");
    side_free(&s);
}

/* Checks that posts with memory of another protection zone fail. */
static void another_zone(void)
{
    struct region here, there;
    DAT_PZ_HANDLE zone;
    struct pair p;

    must_rc(dat_pz_create(fx.ia, &zone), DAT_SUCCESS, "dat_pz_create");
    region_make_in(&fx, zone, &here, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &there, 4096, ALL_AND_ATOMIC);
    pair_open(&p, &fx, NULL);
    is_code(post_immediate(&p.a, &here, 0, 8, target(&there, 0, 8), 1, 1), DAT_PROTECTION_VIOLATION,
            DAT_PROTECTION_READ, "dat_extension_op: write of another zone: DAT_PROTECTION_VIOLATION");
    is_code(post_fetch_add(&p.a, &here, 0, target(&there, 0, 8), 1, 1), DAT_PROTECTION_VIOLATION,
            DAT_PROTECTION_WRITE, "dat_extension_op: addition into another zone: DAT_PROTECTION_VIOLATION");
    is_code(post_cmp_swap(&p.a, &here, 0, target(&there, 0, 8), 1, 2, 1), DAT_PROTECTION_VIOLATION,
            DAT_PROTECTION_WRITE, "dat_extension_op: exchange into another zone: DAT_PROTECTION_VIOLATION");
    ok(quiet(p.a.req), "dat_extension_op: another zone: no completion comes");
    pair_close(&p);
    region_free(&here);
    region_free(&there);
    must_rc(dat_pz_free(zone), DAT_SUCCESS, "dat_pz_free");
}

/*
 * Fills the request queue with writes with immediate data for which the peer has no receives. Further requests fail
 * until the peer posts receives.
 */
static void no_place(void)
{
    struct region here, there;
    DAT_EP_ATTR attr;
    struct pair p;

    region_make(&fx, &here, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &there, 4096, ALL_AND_ATOMIC);
    attr_default(&attr);
    attr.max_request_dtos = 2;
    pair_open(&p, &fx, &attr);
    must_rc(post_immediate(&p.a, &here, 0, 0, target(&there, 0, 0), 1, 1), DAT_SUCCESS, "post_immediate");
    must_rc(post_immediate(&p.a, &here, 0, 8, target(&there, 0, 8), 2, 2), DAT_SUCCESS, "post_immediate");
    is_code(post_immediate(&p.a, &here, 0, 8, target(&there, 0, 8), 3, 3), DAT_INSUFFICIENT_RESOURCES,
            DAT_RESOURCE_MEMORY, "dat_extension_op: write, no place is left: DAT_INSUFFICIENT_RESOURCES");
    is_code(post_fetch_add(&p.a, &here, 0, target(&there, 0, 8), 1, 3), DAT_INSUFFICIENT_RESOURCES,
            DAT_RESOURCE_MEMORY, "dat_extension_op: addition, no place is left: DAT_INSUFFICIENT_RESOURCES");
    for (DAT_UINT64 i = 1; i <= 2; i++)
        must_rc(post_recv(&p.b, &there, 2048, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
    for (DAT_UINT64 i = 1; i <= 2; i++)
        ok(wait_extended(p.a.req, p.a.ep, i, DAT_IB_DTO_RDMA_WRITE_IMMED, DAT_DTO_SUCCESS, NULL),
           "dat_extension_op: no place was left: write %d ends", (int)i);
    is_success(post_fetch_add(&p.a, &here, 0, target(&there, 0, 8), 1, 4),
               "dat_extension_op: a place is free again: success");
    ok(wait_extended(p.a.req, p.a.ep, 4, DAT_IB_DTO_FETCH_ADD, DAT_DTO_SUCCESS, NULL),
       "dat_extension_op: a place is free again: the addition ends");
    pair_close(&p);
    region_free(&here);
    region_free(&there);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    communication();
    if (announces(&fx, DAT_IB_ATTR_IMMED_DATA) && announces(&fx, DAT_IB_ATTR_FETCH_AND_ADD)) {
        another_zone();
        no_place();
    } else {
        skip_named("extended operations", "the adapter does not announce them");
    }
    fx_close(&fx);
    return done_testing();
}
