/* generic.c - dat_get_handle_type, dat_set_consumer_context, dat_get_consumer_context. */
#include "common/zoo.h"

#include <string.h>

static DAT_RETURN type_of(DAT_HANDLE h, void *arg)
{
    DAT_HANDLE_TYPE type = (DAT_HANDLE_TYPE)77;
    DAT_RETURN rc = dat_get_handle_type(h, &type);

    (void)arg;
    if (rc != DAT_SUCCESS && (int)type != 77)
        diag("dat_get_handle_type failed and wrote its output");
    return rc;
}

static DAT_RETURN set(DAT_HANDLE h, void *arg)
{
    return dat_set_consumer_context(h, *(DAT_CONTEXT *)arg);
}

static DAT_RETURN get(DAT_HANDLE h, void *arg)
{
    DAT_CONTEXT c;
    DAT_RETURN rc;

    (void)arg;
    c.as_64 = 77;
    rc = dat_get_consumer_context(h, &c);
    if (rc != DAT_SUCCESS && c.as_64 != 77)
        diag("dat_get_consumer_context failed and wrote its output");
    return rc;
}

/* Tests values that are no handle. Removes the other objects from the sweep, because the calls accept every kind. */
static void not_objects(struct zoo *z, const char *call, zoo_call fn, void *arg)
{
    struct zoo nothing = *z;

    memset(nothing.of, 0, sizeof nothing.of);
    nothing.of[DAT_HANDLE_TYPE_PZ] = z->of[DAT_HANDLE_TYPE_PZ];
    zoo_sweep(&nothing, call, DAT_HANDLE_TYPE_PZ, DAT_INVALID_HANDLE1, NULL, 0, fn, arg);
}

int main(int argc, char **argv)
{
    struct zoo z;
    DAT_CONTEXT c;

    env_init(argc, argv, NULL);
    zoo_open(&z);

    for (int k = 0; k < ZOO_KINDS; k++) {
        const char *kind = kind_text((DAT_HANDLE_TYPE)k);
        DAT_HANDLE h = z.of[k];
        DAT_HANDLE_TYPE type = (DAT_HANDLE_TYPE)77;

        if (h == DAT_HANDLE_NULL) {
            skip(8, "%s: not implemented", kind);
            continue;
        }
        is_success(dat_get_handle_type(h, &type), "dat_get_handle_type: %s: success", kind);
        is_int(type, k, "dat_get_handle_type: %s: true", kind);
        is_code(dat_get_handle_type(h, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "dat_get_handle_type: %s, no output: DAT_INVALID_PARAMETER", kind);

        memset(&c, 0x5a, sizeof c);
        is_success(dat_get_consumer_context(h, &c),
                   "dat_get_consumer_context: %s, never set: success", kind);
        is_int((long long)c.as_64, 0, "dat_get_consumer_context: %s, never set: zero", kind);
        is_code(dat_get_consumer_context(h, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                "dat_get_consumer_context: %s, no output: DAT_INVALID_PARAMETER", kind);
        c.as_64 = 0x8000000000000000u + (DAT_UINT64)k;
        is_success(dat_set_consumer_context(h, c), "dat_set_consumer_context: %s: success", kind);
    }
    for (int k = 0; k < ZOO_KINDS; k++)
        if (z.of[k] != DAT_HANDLE_NULL) {
            const char *kind = kind_text((DAT_HANDLE_TYPE)k);

            c.as_64 = 0;
            dat_get_consumer_context(z.of[k], &c);
            ok(c.as_64 == 0x8000000000000000u + (DAT_UINT64)k,
               "dat_get_consumer_context: %s: what was set for it, and for no other", kind);
            c.as_ptr = NULL;
            is_success(dat_set_consumer_context(z.of[k], c),
                       "dat_set_consumer_context: %s, NULL: success", kind);
            c.as_64 = 1;
            dat_get_consumer_context(z.of[k], &c);
            ok(c.as_64 == 0, "dat_get_consumer_context: %s, after NULL: cleared", kind);
        }

    c.as_64 = 1;
    not_objects(&z, "dat_get_handle_type", type_of, NULL);
    not_objects(&z, "dat_set_consumer_context", set, &c);
    not_objects(&z, "dat_get_consumer_context", get, NULL);

    {
        struct side s;
        struct region r;
        DAT_PZ_HANDLE pz;
        DAT_HANDLE freed[4];
        static const char *const names[4] = { "EP", "EVD", "LMR", "PZ" };

        side_make(&s, &z.fx, NULL);
        freed[0] = s.ep;
        freed[1] = s.recv;
        region_make(&z.fx, &r, 64, MEM_LOCAL);
        freed[2] = r.lmr;
        must_rc(dat_pz_create(z.fx.ia, &pz), DAT_SUCCESS, "dat_pz_create");
        freed[3] = pz;
        side_free(&s);
        region_free(&r);
        must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
        for (int i = 0; i < 4; i++) {
            is_type(type_of(freed[i], NULL), DAT_INVALID_HANDLE,
                    "dat_get_handle_type: freed %s: DAT_INVALID_HANDLE", names[i]);
            is_type(set(freed[i], &c), DAT_INVALID_HANDLE,
                    "dat_set_consumer_context: freed %s: DAT_INVALID_HANDLE", names[i]);
            is_type(get(freed[i], NULL), DAT_INVALID_HANDLE,
                    "dat_get_consumer_context: freed %s: DAT_INVALID_HANDLE", names[i]);
        }
    }
    zoo_intact(&z, "dat_get_handle_type");

    {
        DAT_HANDLE dead[ZOO_KINDS];
        int bad = 0;

        memcpy(dead, z.of, sizeof dead);
        zoo_close(&z);
        for (int k = 0; k < ZOO_KINDS; k++)
            if (dead[k] != DAT_HANDLE_NULL && !rc_is(type_of(dead[k], NULL), DAT_INVALID_HANDLE)) {
                diag("the handle of the %s is still valid", kind_text((DAT_HANDLE_TYPE)k));
                bad++;
            }
        is_int(bad, 0, "dat_get_handle_type: after dat_ia_close: DAT_INVALID_HANDLE for all");
    }
    return done_testing();
}
