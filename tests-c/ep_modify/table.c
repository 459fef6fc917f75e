/*
 * table.c - dat_ep_modify: each field in each endpoint state, compared with the table in
 * modify_common.c.
 */
#define _POSIX_C_SOURCE 200809L
#include "modify_common.h"

#include <string.h>

/*
 * Modifies a field of the endpoint, and checks the result. `expected` is a letter of struct field. Clears *named
 * if a subtype of DAT_INVALID_STATE is wrong.
 */
static void try_field(struct stage *g, const struct field *f, char expected, const struct values *v,
                      const char *state, bool *named)
{
    DAT_EP_PARAM before = ep_param(g->ep), p, after;
    DAT_EP_STATE is = before.ep_state;
    DAT_RETURN rc;

    param_rubbish(&p);
    f->another(&p, &before, v);
    rc = dat_ep_modify(g->ep, f->bit, &p);
    switch (expected) {
    case 'A':
        if (!is_success(rc, "dat_ep_modify: %s: %s (%s): can be modified", state, f->title,
                        f->bit_name))
            return;
        after = ep_param(g->ep);
        ok(f->same(&after, &p), "dat_ep_query: %s: %s: the new value", state, f->title);
        for (int i = 0; i < field_count; i++)
            if (&fields[i] != f && !fields[i].same(&after, &before))
                fail("dat_ep_modify: %s: %s alters %s", state, f->title, fields[i].title);
        break;
    case 'S':
        is_type(rc, DAT_INVALID_STATE, "dat_ep_modify: %s: %s (%s): DAT_INVALID_STATE", state,
                f->title, f->bit_name);
        if (DAT_GET_SUBTYPE(rc) != stage_subtype(is)) {
            diag("  subtype %u, the state's is %u", (unsigned)DAT_GET_SUBTYPE(rc),
                 (unsigned)stage_subtype(is));
            *named = false;
        }
        is_same(g->ep, &before, "dat_ep_modify: %s: %s: nothing changes", state, f->title);
        break;
    default:
        is_code(rc, DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "dat_ep_modify: %s: %s (%s): DAT_INVALID_PARAMETER", state, f->title, f->bit_name);
        is_same(g->ep, &before, "dat_ep_modify: %s: %s: nothing changes", state, f->title);
        break;
    }
}

static void in_state(int s)
{
    DAT_EP_STATE state = stage_states[s];
    const char *name = stage_name(state), *why = "";
    struct values v;
    struct stage g;
    bool named = true;

    if (!stage_open(&g, state, &why)) {
        skip_named(name, why);
        return;
    }
    values_make(&v, &g.fx);
    for (int i = 0; i < field_count; i++)
        try_field(&g, &fields[i], fields[i].in[s], &v, name, &named);
    ok(named, "dat_ep_modify: %s: each DAT_INVALID_STATE has the subtype of the state", name);
    if (state == DAT_EP_STATE_COMPLETION_PENDING && ep_state(g.ep) == DAT_EP_STATE_CONNECTED)
        skip_named("the endpoint is still in it", "the transport has completed meanwhile");
    else
        is_state(ep_state(g.ep), state, "dat_ep_modify: %s: the endpoint is still in it", name);
    stage_close(&g);
}

/* Checks that the table contains each bit of DAT_EP_FIELD_ALL once. */
static void complete(void)
{
    DAT_EP_PARAM_MASK all = 0;
    bool once = true;

    for (int i = 0; i < field_count; i++) {
        once = once && (all & fields[i].bit) == 0 && strlen(fields[i].in) == STAGE_STATES;
        all |= fields[i].bit;
    }
    ok(once && all == DAT_EP_FIELD_ALL, "the table holds every field once");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { STAGE_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    complete();
    for (int s = 0; s < STAGE_STATES; s++)
        in_state(s);
    return done_testing();
}
