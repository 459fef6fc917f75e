/*
 * private.c - dlopen(RTLD_LOCAL) loads libdat as a dependency of a plug-in. Providers work anyway,
 * although they are not linked with libdat.
 */
#include "registry/entries.h"

#include "common/tap.h"

static const struct scene none[] = { { NULL, NULL } };

int main(int argc, char **argv)
{
    scene_enter(argc, argv, none);
    scene_play("plug-in", &(struct setting){ .conf = ENTRY("a"),
                                             .program = "private_host",
                                             .env = { "PRIVATE_PLUGIN=%S/../registry/"
                                                      "private_plugin.so" } });
    return done_testing();
}
