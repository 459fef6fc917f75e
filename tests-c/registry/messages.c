/*
 * messages.c - standard error has messages only if the environment requests them, or if it is a
 * terminal.
 */
#include "registry/entries.h"

#include "common/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void opens_absent(void)
{
    for (int i = 0; i < 3; i++)
        scene_not_found("absent", DAT_NAME_NOT_REGISTERED);
    scene_not_found("missing", DAT_NAME_NOT_REGISTERED);
}

static void lists(void)
{
    DAT_COUNT n = -1;

    dat_registry_list_providers(0, &n, NULL);
    scene_ok(n == 0, "there are no entries");
}

static void opens_unknown(void)
{
    scene_not_found("unknown", DAT_NAME_NOT_REGISTERED);
}

static void opens_newer(void)
{
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;

    scene_code(dat_ia_openv((char *)"shm", 8, &evd, &ia, DAT_VERSION_MAJOR, 9, DAT_FALSE), DAT_PROVIDER_NOT_FOUND,
               DAT_MINOR_NOT_FOUND, "a higher minor version");
}

static void opens_old(void)
{
    scene_not_found("old", DAT_MINOR_NOT_FOUND);
}

/* Returns whether the text contains the file and line of the entry, the library, and the reason. */
static bool tells_all(const char *text, int line, const char *library)
{
    char place[32];

    snprintf(place, sizeof place, "/dat.conf:%d:", line);
    return strstr(text, place) != NULL && strstr(text, library) != NULL &&
           strstr(text, "No such file or directory") != NULL;
}

/* The library logs to standard output, which is redirected to a file. */
static void tells_output(void)
{
    static char text[1024];
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    int kept = dup(STDOUT_FILENO), file = open(scene_path("output"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    ssize_t length;

    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    dat_ia_open((char *)"missing", 8, &evd, &ia);
    dup2(kept, STDOUT_FILENO);
    lseek(file, 0, SEEK_SET);
    length = read(file, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    scene_ok(tells_all(text, 3, "libno-such-provider.so.9"), "standard output has the line");
}

static const struct scene scenes[] = {
    { "two cannot be loaded", opens_absent },
    { "no file", lists },
    { "unknown name", opens_unknown },
    { "newer version", opens_newer },
    { "old entry", opens_old },
    { "told on standard output", tells_output },
    { NULL, NULL },
};

#define CONF                                              \
    "# a comment\n"                                       \
    ENTRY_BY("absent", "%S/libstub-absent.so", "")        \
    ENTRY_BY("missing", "libno-such-provider.so.9", "")

int main(int argc, char **argv)
{
    static const char *const asking[] = { "DAT_DBG_TYPE=1", "DAPL_DBG_TYPE=0xffff", "DAT_LOG=error",
                                          "RUST_LOG=error", "RUST_LOG=other=off,dat=error" };
    static const char *const silent[] = { "DAT_DBG_TYPE=0", "DAPL_DBG_TYPE=0", "DAT_LOG=off",
                                          "RUST_LOG=off", "RUST_LOG=other=trace" };
    const char *text, *names;

    scene_enter(argc, argv, scenes);
    text = scene_play("two cannot be loaded", &(struct setting){ .conf = CONF });
    ok(text[0] == '\0', "nobody asks, no terminal: nothing is written");

    for (int i = 0; i < 5; i++) {
        text = scene_play("two cannot be loaded",
                          &(struct setting){ .conf = CONF, .env = { asking[i] } });
        ok(tells_all(text, 2, "libstub-absent.so") &&
               tells_all(text, 3, "libno-such-provider.so.9"),
           "%s: each failure is told, with file, line, library and reason", asking[i]);
        ok(strstr(text, "absent") != NULL && strstr(text, "missing") != NULL,
           "%s: and the name", asking[i]);
        if (strstr(asking[i], "0xffff") == NULL)
            is_int(lines_in(text), 2, "%s: once, in one line", asking[i]);
    }
    for (int i = 0; i < 5; i++) {
        text = scene_play("two cannot be loaded",
                          &(struct setting){ .conf = CONF, .env = { silent[i] } });
        ok(text[0] == '\0', "%s, no terminal: nothing is written", silent[i]);
    }
    for (int i = 0; i < 4; i++) {
        text = scene_play("two cannot be loaded", &(struct setting){ .conf = CONF,
                                                                     .env = { silent[i] },
                                                                     .terminal = true });
        ok(text[0] == '\0', "%s, a terminal: nothing is written", silent[i]);
    }
    text = scene_play("two cannot be loaded",
                      &(struct setting){ .conf = CONF, .terminal = true });
    ok(tells_all(text, 2, "libstub-absent.so"), "a terminal: the first failure is told");
    is_int(lines_in(text), 1, "a terminal: one line a process");
    text = scene_play("two cannot be loaded",
                      &(struct setting){ .conf = CONF, .env = { "DAT_DBG_DEST=1" }, .terminal = true });
    ok(tells_all(text, 2, "libstub-absent.so") && lines_in(text) == 1,
       "DAT_DBG_DEST=1, a terminal: the line that nobody asked for is told there");

    text = scene_play("no file", &(struct setting){ .override = "%D/absent.conf" });
    ok(strstr(text, "/absent.conf: cannot be read") != NULL && lines_in(text) == 1,
       "DAT_OVERRIDE names no file: one line by default");
    text = scene_play("no file", &(struct setting){ .override = "%D" });
    ok(strstr(text, ": cannot be read") != NULL && lines_in(text) == 1,
       "DAT_OVERRIDE names a file that cannot be read: one line by default");
    for (int i = 0; i < 4; i++) {
        text = scene_play("no file", &(struct setting){ .override = "%D/absent.conf", .env = { silent[i] } });
        ok(text[0] == '\0', "%s, DAT_OVERRIDE names no file: nothing is written", silent[i]);
    }
    text = scene_play("no file", &(struct setting){ .override = "%D/absent.conf",
                                                    .env = { "DAT_DBG_TYPE=1" } });
    ok(strstr(text, "absent.conf") != NULL && lines_in(text) == 1,
       "DAT_OVERRIDE names no file: one line");
    text = scene_play("no file",
                      &(struct setting){ .override = "%D/absent.conf", .terminal = true });
    ok(strstr(text, "absent.conf") != NULL && lines_in(text) == 1,
       "DAT_OVERRIDE names no file, a terminal: one line");

    text = scene_play("unknown name", &(struct setting){ .conf = CONF,
                                                         .env = { "DAT_DBG_TYPE=1" } });
    ok(strstr(text, "unknown") != NULL && strstr(text, "absent missing") != NULL,
       "an unknown name: those that are known are told");
    text = scene_play("unknown name", &(struct setting){ .conf = CONF, .terminal = true });
    ok(strstr(text, "unknown") != NULL && strstr(text, "there are: absent missing") != NULL &&
           strstr(text, "dat-info --explain unknown") != NULL && lines_in(text) == 1,
       "an unknown name, a terminal: one line with those that there are");
    text = scene_play("unknown name", &(struct setting){ .conf = ENTRY("unknwon") ENTRY("other"), .terminal = true });
    ok(strstr(text, "perhaps unknwon was meant") != NULL && lines_in(text) == 1,
       "an unknown name, a terminal: the one that was probably meant");
    text = scene_play("unknown name", &(struct setting){ .conf = CONF });
    ok(text[0] == '\0', "an unknown name, no terminal: nothing is written");
    text = scene_play("unknown name", &(struct setting){ .conf = "unknown " CONF_API " nonthreadsafe\n",
                                                         .env = { "DAT_DBG_TYPE=1" } });
    ok(strstr(text, "dat.conf:1 may be its line: ") != NULL && strstr(text, "there are: ") == NULL,
       "a name whose line is bad: the line is told, and no other name");
    text = scene_play("unknown name", &(struct setting){ .override = "builtin", .env = { "DAT_DBG_TYPE=1" } });
    names = strstr(text, "there are: shm ");
    ok(names != NULL && strstr(names, " tcp-lo") != NULL,
       "an unknown name: also the built-in names that are not listed");
    text = scene_play("newer version", &(struct setting){ .override = "builtin", .env = { "DAT_DBG_TYPE=1" } });
    ok(strstr(text, "this library has entries for: shm ") != NULL && strstr(text, "write u") == NULL,
       "a minor version that does not exist: no line is to be written for it");
    text = scene_play("newer version", &(struct setting){ .conf = ENTRY("shm"), .env = { "DAT_DBG_TYPE=1" } });
    ok(strstr(text, "this library has entries for: shm;") != NULL && strstr(text, "write u") == NULL,
       "a minor version that does not exist, and a line: the line need not be changed");
#if UDAPL == 12
    text = scene_play("old entry", &(struct setting){ .conf = "old u1.1 nonthreadsafe default %S/libstub.so STUB.1.0 \"\" \"\"\n",
                                                      .env = { "DAT_LOG=warn" } });
    ok(strstr(text, "dat.conf:1: old is for version 1.1; for programs of 1.2, write u1.2\n") != NULL,
       "an entry of u1.1: a warning");
    ok(strstr(text, "dat.conf:1 is for 1.1: write u1.2; ") != NULL, "an entry of u1.1: the refused open says what to write");
#endif
    text = scene_play("told on standard output",
                      &(struct setting){ .conf = CONF, .env = { "DAT_DBG_TYPE=1", "DAT_DBG_DEST=1" } });
    ok(text[0] == '\0', "DAT_DBG_DEST=1: nothing is written to standard error");
    text = scene_play("told on standard output",
                      &(struct setting){ .conf = CONF, .env = { "DAT_DBG_TYPE=1", "DAPL_DBG_DEST=0x3" } });
    ok(text[0] == '\0', "DAPL_DBG_DEST=0x3: nothing is written to standard error");
    return done_testing();
}
