/*
 * unmodifiable.c - dat_ep_modify: DAT_INVALID_PARAMETER in each state for read-only fields and
 * unknown bits, also together with other fields.
 */
#define _POSIX_C_SOURCE 200809L
#include "modify_common.h"

/* Modifiable fields, which are combined with wrong bits. */
static const DAT_EP_PARAM_MASK companions[] = {
    DAT_EP_FIELD_PZ_HANDLE, DAT_EP_FIELD_RECV_EVD_HANDLE, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE,
    DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR,
};

enum { COMPANIONS = sizeof companions / sizeof companions[0] };

static const DAT_EP_PARAM_MASK unknown[] = {
    UINT64_C(0x800),
    UINT64_C(0x80000000),
    UINT64_C(0x100000000),
    UINT64_C(0x8000000000000000),
};

enum { UNKNOWN = sizeof unknown / sizeof unknown[0] };

/* Sets valid values in all fields, so that a call can fail only because of its mask. */
static void all_good(DAT_EP_PARAM *p, const DAT_EP_PARAM *now, const struct values *v)
{
    param_rubbish(p);
    for (int i = 0; i < field_count; i++)
        fields[i].another(p, now, v);
}

static void in_state(int s)
{
    const char *name = stage_name(stage_states[s]), *why = "";
    DAT_EP_PARAM before, p;
    struct values v;
    struct stage g;

    if (!stage_open(&g, stage_states[s], &why)) {
        skip_named(name, why);
        return;
    }
    values_make(&v, &g.fx);
    before = ep_param(g.ep);
    all_good(&p, &before, &v);

    for (int i = 0; i < UNKNOWN; i++) {
        is_code(dat_ep_modify(g.ep, unknown[i], &p), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "dat_ep_modify: %s: bit 0x%llx: DAT_INVALID_PARAMETER", name,
                (unsigned long long)unknown[i]);
        for (int k = 0; k < COMPANIONS; k++)
            is_code(dat_ep_modify(g.ep, unknown[i] | companions[k], &p), DAT_INVALID_PARAMETER,
                    DAT_INVALID_ARG2,
                    "dat_ep_modify: %s: bits 0x%llx and 0x%llx: DAT_INVALID_PARAMETER", name,
                    (unsigned long long)unknown[i], (unsigned long long)companions[k]);
    }
    for (int i = 0; i < field_count; i++) {
        if (fields[i].in[0] != 'P')
            continue;
        for (int k = 0; k < COMPANIONS; k++)
            is_code(dat_ep_modify(g.ep, fields[i].bit | companions[k], &p), DAT_INVALID_PARAMETER,
                    DAT_INVALID_ARG2, "dat_ep_modify: %s: %s and bit 0x%llx: DAT_INVALID_PARAMETER",
                    name, fields[i].title, (unsigned long long)companions[k]);
        if (letter_unchanged(&fields[i], s) == 'P')
            is_type(dat_ep_modify(g.ep, fields[i].bit, &before), DAT_INVALID_PARAMETER,
                    "dat_ep_modify: %s: %s, its present value: DAT_INVALID_PARAMETER", name,
                    fields[i].title);
    }
    is_type(dat_ep_modify(g.ep, DAT_EP_FIELD_ALL, &p), DAT_INVALID_PARAMETER,
            "dat_ep_modify: %s: DAT_EP_FIELD_ALL: DAT_INVALID_PARAMETER", name);
    is_type(dat_ep_modify(g.ep, DAT_EP_FIELD_EP_ATTR_ALL, &p), DAT_INVALID_PARAMETER,
            "dat_ep_modify: %s: DAT_EP_FIELD_EP_ATTR_ALL: DAT_INVALID_PARAMETER", name);
    is_type(dat_ep_modify(g.ep, ~(DAT_EP_PARAM_MASK)0, &p), DAT_INVALID_PARAMETER,
            "dat_ep_modify: %s: all bits: DAT_INVALID_PARAMETER", name);
    is_type(dat_ep_modify(g.ep, DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, NULL), DAT_INVALID_PARAMETER,
            "dat_ep_modify: %s: a field and ep_param NULL: DAT_INVALID_PARAMETER", name);
    is_success(dat_ep_modify(g.ep, 0, &p), "dat_ep_modify: %s: mask 0: success", name);
    is_success(dat_ep_modify(g.ep, 0, NULL), "dat_ep_modify: %s: mask 0, ep_param NULL: success",
               name);
    is_same(g.ep, &before, "dat_ep_modify: %s: nothing changes", name);
    if (stage_states[s] != DAT_EP_STATE_COMPLETION_PENDING)
        is_state(ep_state(g.ep), stage_states[s], "dat_ep_modify: %s: the endpoint is still in it",
                 name);
    stage_close(&g);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { STAGE_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    for (int s = 0; s < STAGE_STATES; s++)
        in_state(s);
    return done_testing();
}
