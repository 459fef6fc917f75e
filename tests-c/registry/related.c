/* related.c - dat_registry_providers_related(3DAT) combines the results of the providers. */
#include "registry/entries.h"

#include "common/tap.h"

#include <string.h>

/* The result of the last call, or 99 if the call did not write it. */
static DAT_HA_RELATIONSHIP answer;

static DAT_RETURN ask(const char *one, const char *other)
{
    answer = (DAT_HA_RELATIONSHIP)99;
    return dat_registry_providers_related((DAT_NAME_PTR)one, (DAT_NAME_PTR)other, &answer);
}

static void answers(const char *one, const char *other, DAT_HA_RELATIONSHIP expected, const char *name)
{
    scene_type(ask(one, other), DAT_SUCCESS, "%s, %s: success", one, other);
    scene_ok(answer == expected, "%s, %s: %s", one, other, name);
}

static void nothing_open(void)
{
    answers("friend", "a", DAT_HA_UNKNOWN, "not known, as long as neither is open");
    answers("a", "a", DAT_HA_TRUE, "an adapter is related to itself");
    scene_log("", "nothing is loaded");
}

static void open_ones(void)
{
    DAT_IA_HANDLE friend, foe, a;

    scene_opens("a", &a);
    answers("a", "b", DAT_HA_UNKNOWN, "the one that is open does not know");
    scene_opens("friend", &friend);
    scene_log_clear();
    answers("friend", "b", DAT_HA_TRUE, "the first says so");
    answers("b", "friend", DAT_HA_TRUE, "the second says so");
    answers("a", "friend", DAT_HA_TRUE, "one says so, the other does not know");
    scene_log("related b\nrelated b\nrelated friend\nrelated a\n", "each that is open is asked about the other");
    scene_opens("foe", &foe);
    answers("b", "foe", DAT_HA_FALSE, "the one that is open denies it");
    answers("friend", "foe", DAT_HA_CONFLICTING, "one says so, the other denies it");
    scene_closes(friend);
    answers("friend", "foe", DAT_HA_FALSE, "only the other is open now");
    scene_closes(foe);
    answers("friend", "foe", DAT_HA_UNKNOWN, "neither is open now");
    scene_log_clear();
    scene_closes(a);
    scene_log("close\nfini a\nremove 0x00000000\n", "to be asked holds nothing open");
}

static void refused(void)
{
    char name[400];

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    scene_code(ask(NULL, "a"), DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
               "dat_registry_providers_related: no first name: DAT_INVALID_PARAMETER");
    scene_code(ask(name, "a"), DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
               "dat_registry_providers_related: a first name that is too long: DAT_INVALID_PARAMETER");
    scene_code(ask("a", NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
               "dat_registry_providers_related: no second name: DAT_INVALID_PARAMETER");
    scene_code(ask("a", name), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
               "dat_registry_providers_related: a second name that is too long: DAT_INVALID_PARAMETER");
    scene_code(dat_registry_providers_related((DAT_NAME_PTR) "a", (DAT_NAME_PTR) "b", NULL), DAT_INVALID_PARAMETER,
               DAT_INVALID_ARG3, "dat_registry_providers_related: no place for the answer: DAT_INVALID_PARAMETER");
    scene_code(ask("nobody", "a"), DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED,
               "dat_registry_providers_related: an unknown first name: DAT_PROVIDER_NOT_FOUND");
    scene_code(ask("a", "nobody"), DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED,
               "dat_registry_providers_related: an unknown second name: DAT_PROVIDER_NOT_FOUND");
    scene_code(ask("nobody", "nobody"), DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED,
               "dat_registry_providers_related: an unknown name twice: DAT_PROVIDER_NOT_FOUND");
    scene_code(ask("a", "older"), DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED,
               "dat_registry_providers_related: a name of another version alone: DAT_PROVIDER_NOT_FOUND");
    scene_ok(answer == (DAT_HA_RELATIONSHIP)99, "nothing is written");
}

static const struct scene scenes[] = {
    { "nothing_open", nothing_open },
    { "open_ones", open_ones },
    { "refused", refused },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    const struct setting set = {
        .conf = ENTRY("a") ENTRY("b") ENTRY("friend") ENTRY("foe")
            "older u1.2 nonthreadsafe default %S/libstub.so STUB.1.0 \"\" \"\"\n",
    };

    scene_enter(argc, argv, scenes);
    for (const struct scene *s = scenes; s->name != NULL; s++)
        scene_play(s->name, &set);
    return done_testing();
}
