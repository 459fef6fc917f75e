#include "registry/entries.h"

#include "common/tap.h"

#include <string.h>

#define UNTOUCHED 0x55

static DAT_PROVIDER_INFO entries[4];
static DAT_PROVIDER_INFO *list[4];
static DAT_COUNT n;

static DAT_RETURN list_up_to(DAT_COUNT room)
{
    memset(entries, UNTOUCHED, sizeof entries);
    for (int i = 0; i < 4; i++)
        list[i] = &entries[i];
    n = -7;
    return dat_registry_list_providers(room, &n, list);
}

static bool untouched(int from)
{
    for (const char *p = (const char *)&entries[from]; p < (const char *)&entries[4]; p++)
        if (*p != UNTOUCHED)
            return false;
    return true;
}

static void three(void)
{
    scene_type(list_up_to(4), DAT_SUCCESS, "more room than entries: success");
    scene_ok(n == 3, "the number of entries");
    scene_ok(strcmp(entries[0].ia_name, "b") == 0 && strcmp(entries[1].ia_name, "a") == 0 &&
                 strcmp(entries[2].ia_name, "absent") == 0,
             "all are there in the order of the file, also what cannot be loaded");
    scene_ok(entries[0].dapl_version_major == DAT_VERSION_MAJOR && entries[0].dapl_version_minor == DAT_VERSION_MINOR &&
                 entries[0].is_thread_safe == DAT_FALSE && entries[1].is_thread_safe == DAT_TRUE,
             "version and thread safety");
    scene_ok(untouched(3), "elements beyond are untouched");
    scene_type(list_up_to(3), DAT_SUCCESS, "room for exactly the entries: success");
    scene_log("", "listing loads nothing");

    scene_code(list_up_to(0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
               "no room: DAT_INVALID_PARAMETER");
    scene_ok(n == 3 && untouched(0), "no room: the number of all entries is told");
    n = -7;
    scene_type(dat_registry_list_providers(0, &n, NULL), DAT_INVALID_PARAMETER,
               "no room, no list: DAT_INVALID_PARAMETER");
    scene_ok(n == 3, "no room, no list: the number is told");
    for (DAT_COUNT room = 1; room <= 2; room++) {
        scene_type(list_up_to(room), DAT_SUCCESS, "room for %d: success", (int)room);
        scene_ok(n == room && strcmp(entries[0].ia_name, "b") == 0 && untouched(room),
                 "room for %d: the first entries fill the room", (int)room);
    }
    scene_ok(strcmp(entries[1].ia_name, "a") == 0, "room for 2: the second entry");
    list[1] = NULL;
    scene_type(dat_registry_list_providers(1, &n, list), DAT_SUCCESS, "room for 1: a NULL element beyond: success");
    scene_code(list_up_to(-1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
               "negative room: DAT_INVALID_PARAMETER");
    scene_ok(n == -7 && untouched(0), "negative room: nothing is written");
    scene_code(dat_registry_list_providers(4, NULL, list), DAT_INVALID_PARAMETER,
               DAT_INVALID_ARG2, "no place for the number: DAT_INVALID_PARAMETER");
    scene_code(dat_registry_list_providers(4, &n, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
               "dat_registry_list_providers: no list: DAT_INVALID_PARAMETER");
    memset(entries, UNTOUCHED, sizeof entries);
    list[2] = NULL;
    n = -7;
    scene_code(dat_registry_list_providers(4, &n, list), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
               "a NULL element that is needed: DAT_INVALID_PARAMETER");
    scene_ok(n == -7 && untouched(0), "a NULL element that is needed: nothing is written");
    list[2] = &entries[2];
    list[3] = NULL;
    scene_type(dat_registry_list_providers(4, &n, list), DAT_SUCCESS,
               "a NULL element that is not needed: success");
}

static void none(void)
{
    scene_type(list_up_to(4), DAT_SUCCESS, "an empty file: success");
    scene_ok(n == 0 && untouched(0), "no entries");
    scene_type(list_up_to(0), DAT_INVALID_PARAMETER, "no room: DAT_INVALID_PARAMETER");
    scene_ok(n == 0, "no entries");
}

/* The file has entries of both versions. 1.2 lists only its own entries. 2.0 lists its own, then the entries of 1.2. */
static void both_versions(void)
{
    scene_type(list_up_to(4), DAT_SUCCESS, "lines of two versions: success");
    scene_ok(n == (UDAPL == 20 ? 3 : 1), "the number of entries");
    scene_ok(strcmp(entries[0].ia_name, "both") == 0 && entries[0].dapl_version_major == DAT_VERSION_MAJOR,
             "the entry of this version is the first");
#if UDAPL == 20
    scene_ok(strcmp(entries[1].ia_name, "both") == 0 && entries[1].dapl_version_major == 1 &&
                 entries[1].dapl_version_minor == 2,
             "behind it one of the same name of another version");
    scene_ok(strcmp(entries[2].ia_name, "older") == 0 && entries[2].dapl_version_major == 1,
             "and one of another version alone");
#endif
    scene_not_found("older", DAT_MAJOR_NOT_FOUND);
    scene_log("", "nothing is loaded");
}

static const struct scene scenes[] = {
    { "three", three },
    { "both_versions", both_versions },
    { "none", none },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    scene_enter(argc, argv, scenes);
    scene_play("three",
               &(struct setting){ .conf = ENTRY("b")
                                  "a " CONF_API " threadsafe default %S/libstub.so STUB.1.0 \"\" \"\"\n"
                                      ENTRY_BY("absent", "%S/libstub-absent.so", "") });
    scene_play("both_versions",
               &(struct setting){ .conf = "both u" OTHER_VERSION " threadsafe default l L.1.0 \"\" \"\"\n"
                                      ENTRY("both")
                                  "older u" OTHER_VERSION " threadsafe default l L.1.0 \"\" \"\"\n" });
    scene_play("none", &(struct setting){ .conf = "# nothing\n" });
    return done_testing();
}
