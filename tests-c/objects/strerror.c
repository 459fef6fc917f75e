/* strerror.c - dat_strerror for all codes. */
#include "common/tap.h"
#include "common/env.h"

#include <string.h>

static const DAT_UINT32 types[] = {
    DAT_SUCCESS,
    DAT_ABORT,
    DAT_CONN_QUAL_IN_USE,
    DAT_INSUFFICIENT_RESOURCES,
    DAT_INTERNAL_ERROR,
    DAT_INVALID_HANDLE,
    DAT_INVALID_PARAMETER,
    DAT_INVALID_STATE,
    DAT_LENGTH_ERROR,
    DAT_MODEL_NOT_SUPPORTED,
    DAT_PROVIDER_NOT_FOUND,
    DAT_PRIVILEGES_VIOLATION,
    DAT_PROTECTION_VIOLATION,
    DAT_QUEUE_EMPTY,
    DAT_QUEUE_FULL,
    DAT_TIMEOUT_EXPIRED,
    DAT_PROVIDER_ALREADY_REGISTERED,
    DAT_PROVIDER_IN_USE,
    DAT_INVALID_ADDRESS,
    DAT_INTERRUPTED_CALL,
    DAT_CONN_QUAL_UNAVAILABLE,
    (DAT_UINT32)DAT_NOT_IMPLEMENTED,
#if UDAPL == 20
    DAT_RESERVED_LMR,
    DAT_PORT_IN_USE,
    DAT_COMM_NOT_SUPPORTED,
    DAT_EXTENSION_BASE,
#endif
};

/* The first unassigned type. */
#define AFTER_THE_LAST (UDAPL == 20 ? 0x00180000u : 0x00150000u)

#define TYPES (sizeof types / sizeof types[0])

/* Returns the text of a type or subtype, or NULL if the call fails. */
static const char *text(DAT_RETURN code, bool minor)
{
    const char *one = NULL, *two = NULL;

    if (dat_strerror(code, &one, &two) != DAT_SUCCESS || one == NULL || two == NULL)
        return NULL;
    return minor ? two : one;
}

static void every_type(void)
{
    const char *seen[TYPES];
    int distinct = 1;

    for (size_t i = 0; i < TYPES; i++) {
        DAT_RETURN code = types[i] == 0 ? 0 : DAT_CLASS_ERROR | types[i];

        seen[i] = text(code, false);
        ok(seen[i] != NULL && seen[i][0] != '\0', "dat_strerror: type 0x%08x: has a text",
           (unsigned)types[i]);
        ok(text(code, true) != NULL, "dat_strerror: type 0x%08x without subtype: minor text",
           (unsigned)types[i]);
        for (size_t j = 0; j < i; j++)
            if (seen[i] != NULL && seen[j] != NULL && strcmp(seen[i], seen[j]) == 0)
                distinct = 0;
    }
    ok(distinct, "dat_strerror: types: no two have the same text");
}

static void every_subtype(void)
{
    int named = 0, distinct = 1;
    const char *seen[DAT_THREAD_SAFETY_NOT_FOUND + 1] = { NULL };

    for (unsigned s = 1; s <= DAT_THREAD_SAFETY_NOT_FOUND; s++) {
        seen[s] = text(DAT_CLASS_ERROR | DAT_INVALID_STATE | s, true);
        if (seen[s] != NULL && seen[s][0] != '\0')
            named++;
        else
            diag("subtype %u has no text", s);
        for (unsigned t = 1; t < s; t++)
            if (seen[s] != NULL && seen[t] != NULL && strcmp(seen[s], seen[t]) == 0)
                distinct = 0;
    }
    is_int(named, DAT_THREAD_SAFETY_NOT_FOUND, "dat_strerror: every subtype: has a text");
    ok(distinct, "dat_strerror: subtypes: no two have the same text");
    ok(text(DAT_CLASS_ERROR | DAT_INVALID_STATE, true) != NULL &&
           text(DAT_CLASS_ERROR | DAT_INVALID_STATE, true)[0] == '\0',
       "dat_strerror: no subtype: the minor text is empty");
}

static void parameters(void)
{
    const char *one = "untouched", *two = one, *keep = one;

    is_type(dat_strerror(DAT_CLASS_ERROR | AFTER_THE_LAST, &one, &two), DAT_INVALID_PARAMETER,
            "dat_strerror: the type after the last: DAT_INVALID_PARAMETER");
    is_type(dat_strerror(DAT_CLASS_ERROR | 0x2fff0000u, &one, &two), DAT_INVALID_PARAMETER,
            "dat_strerror: a type far beyond: DAT_INVALID_PARAMETER");
    is_type(dat_strerror(DAT_CLASS_ERROR | DAT_INVALID_STATE | 0x1000u, &one, &two),
            DAT_INVALID_PARAMETER, "dat_strerror: unknown subtype: DAT_INVALID_PARAMETER");
    is_type(dat_strerror(DAT_CLASS_ERROR | DAT_INVALID_STATE | 0xffffu, &one, &two),
            DAT_INVALID_PARAMETER, "dat_strerror: highest subtype: DAT_INVALID_PARAMETER");
#if UDAPL == 20
    /* 2.0 programs print both texts without checking the result. */
    ok(one != NULL && one != keep && two != NULL && two != keep, "dat_strerror: error: the outputs are texts");
    is_success(dat_strerror(DAT_SUCCESS, NULL, &two), "dat_strerror: no place for the major text: success");
    is_success(dat_strerror(DAT_SUCCESS, &one, NULL), "dat_strerror: no place for the minor text: success");
    is_success(dat_strerror(DAT_SUCCESS, NULL, NULL), "dat_strerror: no place for either text: success");
#else
    ok(one == keep && two == keep, "dat_strerror: error: the outputs are untouched");
    is_type(dat_strerror(DAT_SUCCESS, NULL, &two), DAT_INVALID_PARAMETER,
            "dat_strerror: no place for the major text: DAT_INVALID_PARAMETER");
    is_type(dat_strerror(DAT_SUCCESS, &one, NULL), DAT_INVALID_PARAMETER,
            "dat_strerror: no place for the minor text: DAT_INVALID_PARAMETER");
#endif
    is_success(dat_strerror(DAT_SUCCESS, &one, &two), "dat_strerror: DAT_SUCCESS: success");

    is_success(dat_strerror(DAT_INVALID_STATE | DAT_INVALID_STATE_PZ_IN_USE, &one, &two),
               "dat_strerror: class bit missing: success");
    is_success(dat_strerror(DAT_CLASS_WARNING | DAT_INVALID_STATE, &one, &two),
               "dat_strerror: warning class: success");
    ok(text(DAT_CLASS_ERROR | DAT_INVALID_STATE, false) != NULL &&
           text(DAT_INVALID_STATE, false) != NULL &&
           strcmp(text(DAT_CLASS_ERROR | DAT_INVALID_STATE, false),
                  text(DAT_INVALID_STATE, false)) == 0,
       "dat_strerror: with and without class bit: the same text");
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    every_type();
    every_subtype();
    parameters();
    return done_testing();
}
