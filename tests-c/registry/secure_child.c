/* secure_child.c - the program of secure.c, which may be set-user-ID. */
#define _GNU_SOURCE
#include "registry/entries.h"

#include <string.h>
#include <sys/auxv.h>

/* Whether the entry of DAT_OVERRIDE is there. */
static bool overridden(void)
{
    static DAT_PROVIDER_INFO entries[64];
    DAT_PROVIDER_INFO *list[64];
    DAT_COUNT n = 0;

    for (int i = 0; i < 64; i++)
        list[i] = &entries[i];
    dat_registry_list_providers(64, &n, list);
    return n == 1 && strcmp(entries[0].ia_name, "overriding") == 0;
}

static void ordinary(void)
{
    scene_ok(overridden(), "DAT_OVERRIDE counts");
}

static void set_user_id(void)
{
    if (getauxval(AT_SECURE) == 0) {
        scene_skip("set-user-ID has no effect here");
        return;
    }
    scene_ok(!overridden(), "DAT_OVERRIDE is ignored");
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = {
        { "ordinary", ordinary },
        { "set-user-ID", set_user_id },
        { NULL, NULL },
    };

    scene_enter(argc, argv, scenes);
    return 2;
}
