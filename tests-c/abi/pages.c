/*
 * pages.c - the names in the manual pages of the specification compile, as the pages spell them: dat_srq_create,
 * dat_srq_resize, dat_srq_set_lw, dat_srq_query and dat_ep_modify. pages.sh compares this file with the pages.
 */
#include "common/dat.h"
#include "common/env.h"
#include "common/tap.h"

#include <string.h>

/* The constants, each with its number. */
static const struct {
    const char *name;
    long value, number;
} constants[] = {
#define CONSTANT(name, number) { #name, (long)(name), number }
    CONSTANT(DAT_SUCCESS, 0),
    CONSTANT(DAT_INSUFFICIENT_RESOURCES, 0x00030000),
    CONSTANT(DAT_INVALID_HANDLE, 0x00050000),
    CONSTANT(DAT_INVALID_PARAMETER, 0x00060000),
    CONSTANT(DAT_INVALID_STATE, 0x00070000),
    CONSTANT(DAT_MODEL_NOT_SUPPORTED, 0x00090000),
    CONSTANT(DAT_PROTECTION_VIOLATION, 0x000C0000),
    CONSTANT(DAT_COMPLETION_SUPPRESS_FLAG, 0x01),
    CONSTANT(DAT_COMPLETION_SOLICITED_WAIT_FLAG, 0x02),
    CONSTANT(DAT_COMPLETION_UNSIGNALLED_FLAG, 0x04),
    CONSTANT(DAT_COMPLETION_NOTIFICATION_SUPPRESS_FLAG, 0x04),
    CONSTANT(DAT_COMPLETION_BARRIER_FENCE_FLAG, 0x08),
    CONSTANT(DAT_COMPLETION_EVD_THRESHOLD_FLAG, 0x10),
    CONSTANT(DAT_EP_STATE_UNCONNECTED, 0),
    CONSTANT(DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING, 7),
    CONSTANT(DAT_SRQ_LW_DEFAULT, 0),
    CONSTANT(DAT_VALUE_UNKNOWN, -2),
#undef CONSTANT
};

/* Compiles the calls with the types and the parameters of the synopses. */
static void calls(void)
{
    DAT_IA_HANDLE ia_handle = DAT_HANDLE_NULL;
    DAT_PZ_HANDLE pz_handle = DAT_HANDLE_NULL;
    DAT_SRQ_HANDLE srq_handle = DAT_HANDLE_NULL;
    DAT_EP_HANDLE ep_handle = DAT_HANDLE_NULL;
    DAT_SRQ_ATTR attributes, *srq_attr = &attributes;
    DAT_SRQ_PARAM *srq_param, params;
    DAT_SRQ_PARAM_MASK srq_param_mask = DAT_SRQ_FIELD_ALL;
    DAT_EP_PARAM *ep_param, changes;
    DAT_EP_PARAM_MASK ep_param_mask = DAT_EP_FIELD_PZ_HANDLE;
    DAT_COUNT srq_max_recv_dto = 1, low_watermark = DAT_SRQ_LW_DEFAULT;
    enum dat_completion_flags completion_flags = DAT_COMPLETION_NOTIFICATION_SUPPRESS_FLAG;
    DAT_RETURN rc;

    memset((void *)&attributes, 0, sizeof attributes);
    memset((void *)&params, 0, sizeof params);
    memset((void *)&changes, 0, sizeof changes);
    srq_attr->max_recv_dtos = 1;
    srq_attr->max_recv_iov = 1;
    srq_attr->low_watermark = low_watermark;
    srq_param = &params;
    ep_param = &changes;
    ep_param->pz_handle = pz_handle;
    ep_param->ep_attr.recv_completion_flags = (DAT_COMPLETION_FLAGS)completion_flags;
    rc = dat_srq_create(ia_handle, pz_handle, srq_attr, &srq_handle);
    is_type(rc, DAT_INVALID_HANDLE, "dat_srq_create: as in its page: DAT_INVALID_HANDLE");
    rc = dat_srq_resize(srq_handle, srq_max_recv_dto);
    is_type(rc, DAT_INVALID_HANDLE, "dat_srq_resize: as in its page: DAT_INVALID_HANDLE");
    rc = dat_srq_set_lw(srq_handle, low_watermark);
    is_type(rc, DAT_INVALID_HANDLE, "dat_srq_set_lw: as in its page: DAT_INVALID_HANDLE");
    rc = dat_srq_query(srq_handle, srq_param_mask, srq_param);
    is_type(rc, DAT_INVALID_HANDLE, "dat_srq_query: as in its page: DAT_INVALID_HANDLE");
    rc = dat_ep_modify(ep_handle, ep_param_mask, ep_param);
    is_type(rc, DAT_INVALID_HANDLE, "dat_ep_modify: as in its page: DAT_INVALID_HANDLE");
    rc = dat_srq_post_recv(srq_handle, 0, NULL, (DAT_DTO_COOKIE){ .as_64 = 1 });
    is_type(rc, DAT_INVALID_HANDLE, "dat_srq_post_recv: in a SEE ALSO: DAT_INVALID_HANDLE");
    is_type(dat_srq_free(srq_handle), DAT_INVALID_HANDLE, "dat_srq_free: in a SEE ALSO: DAT_INVALID_HANDLE");
    ok(params.ia_handle == ia_handle && params.pz_handle == pz_handle && params.available_dto_count == 0 &&
           params.outstanding_dto_count == 0 && params.max_recv_dtos == 0 && params.max_recv_iov == 0 &&
           params.low_watermark == 0,
       "DAT_SRQ_PARAM: the members of the pages");
}

int main(int argc, char **argv)
{
    DAT_PROVIDER_ATTR attributes;

    env_init(argc, argv, NULL);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        ok(constants[i].value == constants[i].number, "%s: its number", constants[i].name);
    memset((void *)&attributes, 0, sizeof attributes);
    attributes.srq_ep_pz_difference_support = DAT_TRUE;
    ok(attributes.srq_ep_pz_difference_supported == DAT_TRUE,
       "DAT_PROVIDER_ATTR: srq_ep_pz_difference_support is srq_ep_pz_difference_supported");
    calls();
    return done_testing();
}
