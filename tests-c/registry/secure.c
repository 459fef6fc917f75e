/* secure.c - a privileged program ignores DAT_OVERRIDE and the variables for messages. */
#define _GNU_SOURCE
#include "registry/entries.h"

#include "common/tap.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static void copy_into(const char *dir, const char *source, const char *name)
{
    char target[4200];

    snprintf(target, sizeof target, "%.4000s/%s", dir, name);
    if (!copy_file(source, target) || chmod(target, 0755) != 0)
        bail("cannot copy %s to %s", source, target);
}

/* Copies the program and libdat to where any user can read them. */
static void make_program(const char *dir)
{
    char source[4200];

    snprintf(source, sizeof source, "%.4000s/../registry/secure_child", stub_dir());
    copy_into(dir, source, "secure_child");
    snprintf(source, sizeof source, "%.4000s/" LIBDAT, lib_dir());
    copy_into(dir, source, LIBDAT);
    if (chmod(dir, 0755) != 0)
        bail("cannot open %s to other users", dir);
}

/* Does the same as make_program(), and makes the program set-user-ID. */
static void make_setuid(const char *dir)
{
    char child[4200];

    make_program(dir);
    snprintf(child, sizeof child, "%.4000s/secure_child", dir);
    if (chown(child, NOBODY, NOBODY) != 0 || chmod(child, 04755) != 0)
        bail("cannot make %s set-user-ID", child);
}

static const struct scene none[] = { { NULL, NULL } };

int main(int argc, char **argv)
{
    const char *text;

    scene_enter(argc, argv, none);
    if (geteuid() != 0)
        skip_all("only root can make a program that belongs to someone else");
    umask(022);
    scene_play("ordinary", &(struct setting){ .conf = ENTRY("overriding"),
                                              .program = "%D/secure_child",
                                              .prepare = make_program });
    text = scene_play("set-user-ID", &(struct setting){ .conf = ENTRY("overriding"),
                                                        .program = "%D/secure_child",
                                                        .prepare = make_setuid,
                                                        .env = { "DAT_DBG_TYPE=0xffff", "DAT_LOG=trace" } });
    ok(text[0] == '\0', "set-user-ID: DAT_DBG_TYPE and DAT_LOG are ignored");
    return done_testing();
}
