/*
 * secure.c - a program that runs with more rights than its starter takes nothing from the
 * environment: neither DAT_OVERRIDE nor the variables that ask for messages.
 */
#define _GNU_SOURCE
#include "registry/entries.h"

#include "common/tap.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static char child[4200];

/* A copy of the program that changes its user when it is started. */
static void make_setuid(const char *dir)
{
    char source[4200];

    snprintf(source, sizeof source, "%.4000s/../registry/secure_child", stub_dir());
    snprintf(child, sizeof child, "%.4000s/secure_child", dir);
    if (!copy_file(source, child))
        bail("cannot copy %s", source);
    if (chown(child, NOBODY, NOBODY) != 0 || chmod(child, 04755) != 0 || chmod(dir, 0755) != 0)
        bail("cannot make %s set-user-ID", child);
}

static const struct scene none[] = { { NULL, NULL } };

int main(int argc, char **argv)
{
    const char *text;

    scene_enter(argc, argv, none);
    if (geteuid() != 0)
        skip_all("only root can make a program that belongs to someone else");
    scene_play("ordinary", &(struct setting){ .conf = ENTRY("overriding"),
                                              .program = "secure_child" });
    text = scene_play("set-user-ID", &(struct setting){ .conf = ENTRY("overriding"),
                                                        .program = "%D/secure_child",
                                                        .prepare = make_setuid,
                                                        .env = { "DAT_DBG_TYPE=0xffff" } });
    ok(text[0] == '\0', "set-user-ID: DAT_DBG_TYPE is ignored");
    return done_testing();
}
