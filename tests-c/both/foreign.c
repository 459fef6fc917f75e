/*
 * foreign.c - C providers call dat_registry_add_provider by its plain name. In a program linked with both libraries,
 * the name always resolves to the first library. Each provider must still be registered with the library of its
 * version.
 */
#define _POSIX_C_SOURCE 200809L
#include "both/half.h"

#include "common/env.h"
#include "common/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes an entry for the stub provider of a version, relative to this program's directory. */
static void line(FILE *conf, const char *version, const char *folder)
{
    char path[4096];

    snprintf(path, sizeof path, "%s", env_self());
    *strrchr(path, '/') = '\0';
    fprintf(conf, "stub u%s nonthreadsafe default %s/../%s/libstub.so STUB.1.0 \"\" \"\"\n", version, path, folder);
}

int main(int argc, char **argv)
{
    const struct half *const halves[2] = { half12(), half20() };
    char name[] = "/tmp/both-foreign-XXXXXX";
    FILE *conf;

    env_init(argc, argv, NULL);
    conf = fdopen(mkstemp(name), "w");
    if (conf == NULL)
        bail("no file in /tmp");
    line(conf, "1.2", "stub");
    line(conf, "2.0", "2.0/stub");
    fclose(conf);
    setenv("DAT_OVERRIDE", name, 1);
    /* Twice per version, because the first close removes the provider. */
    for (int i = 0; i < 4; i++) {
        const struct half *half = halves[i % 2];

        half->init(argc, argv);
        ok(half->opens("stub"), "a provider in C of %s registers where it belongs", half->version);
    }
    unlink(name);
    return done_testing();
}
