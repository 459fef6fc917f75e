/* load.c - providers are loaded, initialised, finished and counted. */
#define _POSIX_C_SOURCE 200809L
#include "registry/entries.h"

#include "common/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ADDED "add 0x00000000\n"
#define REMOVED "remove 0x00000000\n"

static void life(void)
{
    DAT_IA_HANDLE first, second;

    scene_log("", "before the first open: nothing is loaded");
    scene_opens("a", &first);
    scene_log("init a " API_VERSION " 0 data\n" ADDED "open a\n", "first open: init, then open");
    scene_opens("a", &second);
    scene_ok(first != second, "second open: another instance");
    scene_closes(first);
    scene_log("init a " API_VERSION " 0 data\n" ADDED "open a\nopen a\nclose\n",
              "close with another instance open: no fini");
    scene_type(dat_ia_close(first, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE,
               "dat_ia_close: twice: DAT_INVALID_HANDLE");
    scene_log_clear();
    scene_closes(second);
    scene_log("close\nfini a\n" REMOVED, "last close: fini");
    scene_code(dat_ia_close(second, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE,
               DAT_INVALID_HANDLE_IA, "dat_ia_close: its provider is gone: DAT_INVALID_HANDLE");
    scene_log_clear();
    scene_opens("a", &first);
    scene_log("init a " API_VERSION " 0 data\n" ADDED "open a\n", "open after fini: init again");
    scene_closes(first);
}

static void shared_library(void)
{
    DAT_IA_HANDLE x, y;
    DAT_HANDLE_TYPE kind;

    scene_opens("x", &x);
    scene_opens("y", &y);
    scene_log("init x " API_VERSION " 0 one\n" ADDED "open x\ninit y " API_VERSION " 0 two\n" ADDED "open y\n",
              "two entries of one library: an init each");
    scene_log_clear();
    scene_closes(x);
    scene_log("close\nfini x\n" REMOVED, "one of them is closed: fini for that one");
    scene_type(dat_get_handle_type(y, &kind), DAT_SUCCESS, "the other one still works");
    scene_closes(y);
}

static void refused(void)
{
    DAT_IA_HANDLE ia;

    scene_code(open_named("refuse", &ia), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE,
               "dat_ia_open: the provider refuses: its code");
    scene_ok(ia == DAT_HANDLE_NULL, "the handle is untouched");
    scene_log("init refuse " API_VERSION " 0 data\n" ADDED "open refuse\nfini refuse\n" REMOVED,
              "a refused first open is undone");
}

static void close_refused(void)
{
    DAT_IA_HANDLE ia;
    DAT_HANDLE_TYPE kind;

    scene_opens("stay", &ia);
    scene_type(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE,
               "dat_ia_close: the provider refuses: its code");
    scene_type(dat_get_handle_type(ia, &kind), DAT_SUCCESS, "the instance is still open");
    scene_log_clear();
    scene_closes(ia);
    scene_log("close\nfini stay\n" REMOVED, "a later close is the last one all the same");
}

static void cannot_load(void)
{
    DAT_IA_HANDLE ia;
    struct timespec from, to;

    scene_not_found("absent", DAT_NAME_NOT_REGISTERED);
    scene_not_found("absent", DAT_NAME_NOT_REGISTERED);
    scene_not_found("nowhere", DAT_NAME_NOT_REGISTERED);
    scene_not_found("text", DAT_NAME_NOT_REGISTERED);
    scene_not_found("foreign-machine", DAT_NAME_NOT_REGISTERED);
    scene_not_found("unresolved", DAT_NAME_NOT_REGISTERED);
    scene_not_found("no-init", DAT_NAME_NOT_REGISTERED);
    scene_not_found("mute", DAT_NAME_NOT_REGISTERED);
    scene_not_found("mute", DAT_NAME_NOT_REGISTERED);
    scene_log("init mute " API_VERSION " 0 data\ninit mute " API_VERSION " 0 data\n", "no fini without a registration");
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < 1000; i++)
        open_named("nowhere", &ia);
    clock_gettime(CLOCK_MONOTONIC, &to);
    scene_ok(to.tv_sec - from.tv_sec < 30, "a name that cannot be opened costs little");
    scene_opens("good", &ia);
    scene_closes(ia);
}

static void make_bad_libraries(const char *dir)
{
    char path[4200];
    FILE *f;

    snprintf(path, sizeof path, "%s/libtext.so", dir);
    if ((f = fopen(path, "w")) != NULL) {
        fputs("this is text\n", f);
        fclose(f);
    }
    snprintf(path, sizeof path, "%s/libforeign.so", dir);
    if ((f = fopen(path, "w")) != NULL) {
        /* The start of a 32-bit big-endian file. */
        fwrite("\177ELF\1\2\1\0\0\0\0\0\0\0\0\0\0\3\0\2\0\0\0\1", 1, 24, f);
        fclose(f);
    }
}

/*
 * Two entries with the same name, version and thread safety. The library of the first is unusable.
 */
static void stand_ins(void)
{
#if UDAPL == 20
    DAT_IA_HANDLE ia;

    scene_opens("absent", &ia);
    scene_log("init-other absent " API_VERSION " 0 second\n" ADDED "open absent\n",
              "a line whose library cannot be loaded: the next one of the name serves");
    scene_closes(ia);
    scene_log_clear();
    scene_opens("absent", &ia);
    scene_log("init-other absent " API_VERSION " 0 second\n" ADDED "open absent\n", "and from then on");
    scene_closes(ia);
    scene_log_clear();
    scene_opens("no-init", &ia);
    scene_log("init-other no-init " API_VERSION " 0 second\n" ADDED "open no-init\n",
              "a line whose library is no provider: the next one of the name serves");
    scene_closes(ia);
#else
    scene_not_found("absent", DAT_NAME_NOT_REGISTERED);
    scene_not_found("no-init", DAT_NAME_NOT_REGISTERED);
    scene_log("", "the first line of a name counts alone");
#endif
    scene_not_found("both-absent", DAT_NAME_NOT_REGISTERED);
}

/* Two entries with the same name. The library of the first loads, but registers no provider or rejects the adapter. */
static void no_stand_ins(void)
{
    DAT_IA_HANDLE ia;

    scene_not_found("mute", DAT_NAME_NOT_REGISTERED);
    scene_log("init mute " API_VERSION " 0 data\n",
              "a provider that does not register: the next line of the name does not serve");
    scene_log_clear();
    scene_code(open_named("refuse", &ia), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE,
               "a provider that refuses: its code");
    scene_log("init refuse " API_VERSION " 0 data\n" ADDED "open refuse\nfini refuse\n" REMOVED,
              "a provider that refuses: the next line of the name does not serve");
}

static void twice(void)
{
    DAT_IA_HANDLE ia;

    scene_opens("twice", &ia);
    scene_log("init twice " API_VERSION " 0 data\n" ADDED "add 0x00100000\nopen twice\n",
              "second registration: DAT_PROVIDER_ALREADY_REGISTERED");
    scene_closes(ia);
}

static void forgets(void)
{
    DAT_IA_HANDLE ia, again;

    scene_opens("forgets", &ia);
    scene_closes(ia);
    scene_code(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
               "what fini left registered is not called any more");
    scene_log_clear();
    scene_opens("forgets", &again);
    scene_log("init forgets " API_VERSION " 0 data\n" ADDED "open forgets\n", "and can be registered again");
    scene_closes(again);
}

static void constructor_by_entry(void)
{
    DAT_IA_HANDLE ia;

    scene_opens("constructed", &ia);
    scene_log(ADDED "open constructed\n", "a library may register itself while it is loaded");
    scene_closes(ia);
    scene_log_clear();
    scene_opens("constructed", &ia);
    scene_log("open constructed\n", "and stays registered");
    scene_closes(ia);
}

static void constructor_before_us(void)
{
    DAT_PROVIDER_INFO info, *list[1] = { &info };
    DAT_COUNT n = 0;
    DAT_IA_HANDLE ia;

    scene_log(ADDED, "dat_registry_add_provider: in a constructor, before main: success");
    memset(&info, 0, sizeof info);
    scene_type(dat_registry_list_providers(1, &n, list), DAT_SUCCESS,
               "dat_registry_list_providers: success");
    scene_ok(n == 1 && strcmp(info.ia_name, "constructed") == 0, "it is listed");
    scene_opens("constructed", &ia);
    scene_closes(ia);
}

static void left_open(void)
{
    DAT_IA_HANDLE ia;

    scene_opens("a", &ia);
}

/* The directory of libdat is searched before the loader's path. */
static void beside(void)
{
    DAT_IA_HANDLE ia;

    scene_opens("a", &ia);
    scene_log("init a " API_VERSION " 0 data\n" ADDED "open a\n",
              "a name without a slash: the library beside libdat");
    scene_closes(ia);
}

static void by_the_loader(void)
{
    DAT_IA_HANDLE ia;

    scene_opens("a", &ia);
    scene_log("init-other a " API_VERSION " 0 data\n" ADDED "open a\n",
              "nothing of the name lies beside: where the loader looks");
    scene_closes(ia);
}

static void make_folder(const char *dir, const char *name)
{
    char path[4200];

    snprintf(path, sizeof path, "%.4000s/%s", dir, name);
    if (mkdir(path, 0755) != 0)
        bail("cannot make %s", path);
}

static void copy_to(const char *dir, const char *from_dir, const char *from, const char *to)
{
    char source[4200], target[4200];

    snprintf(source, sizeof source, "%.4000s/%s", from_dir, from);
    snprintf(target, sizeof target, "%.4000s/%s", dir, to);
    if (!copy_file(source, target))
        bail("cannot copy %s to %s", source, target);
}

static void make_loader_path(const char *dir)
{
    make_folder(dir, "first");
    copy_to(dir, stub_dir(), "libstub-other.so", "first/libchosen.so");
}

static void make_beside(const char *dir)
{
    make_loader_path(dir);
    copy_to(dir, lib_dir(), LIBDAT, LIBDAT);
    copy_to(dir, stub_dir(), "libstub.so", "libchosen.so");
}

static void make_beside_a_link(const char *dir)
{
    char link[4200];

    make_loader_path(dir);
    make_folder(dir, "real");
    copy_to(dir, lib_dir(), LIBDAT, "real/" LIBDAT);
    copy_to(dir, stub_dir(), "libstub.so", "real/libchosen.so");
    snprintf(link, sizeof link, "%.4000s/" LIBDAT, dir);
    if (symlink("real/" LIBDAT, link) != 0)
        bail("cannot make %s", link);
}

/* libdat has a relative path, and the program has changed its directory. */
static void beside_after_chdir(void)
{
    if (chdir("/") != 0)
        scene_skip("cannot leave the folder");
    beside();
}

static const struct scene scenes[] = {
    { "life", life },
    { "shared library", shared_library },
    { "refused", refused },
    { "close refused", close_refused },
    { "cannot load", cannot_load },
    { "stand-ins", stand_ins },
    { "no stand-ins", no_stand_ins },
    { "twice", twice },
    { "forgets", forgets },
    { "constructor by entry", constructor_by_entry },
    { "constructor before us", constructor_before_us },
    { "left open", left_open },
    { "beside", beside },
    { "beside after chdir", beside_after_chdir },
    { "by the loader", by_the_loader },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    const char *text;

    scene_enter(argc, argv, scenes);
    scene_play("life", &(struct setting){ .conf = ENTRY("a") });
    scene_play("shared library",
               &(struct setting){ .conf = ENTRY_BY("x", "%S/libstub.so", "one")
                                      ENTRY_BY("y", "%S/libstub.so", "two") });
    scene_play("refused", &(struct setting){ .conf = ENTRY("refuse") });
    scene_play("close refused", &(struct setting){ .conf = ENTRY("stay") });
    text = scene_play("cannot load",
                      &(struct setting){ .conf = ENTRY_BY("nowhere", "%S/libstub-absent.so", "")
                                             ENTRY_BY("text", "%D/libtext.so", "")
                                             ENTRY_BY("foreign-machine", "%D/libforeign.so", "")
                                             ENTRY_BY("unresolved", "%S/libstub-unresolved.so", "")
                                             ENTRY_BY("no-init", "%S/libstub-no-init.so", "")
                                             ENTRY_BY("mute", "%S/libstub-mute.so", "data")
                                             ENTRY("good"),
                                         .prepare = make_bad_libraries });
    ok(text[0] == '\0', "cannot load: nothing is written when nobody asks");
    text = scene_play("stand-ins",
                      &(struct setting){ .env = { "RUST_LOG=warn" },
                                         .conf = ENTRY_BY("absent", "%S/libstub-absent.so", "first")
                                             ENTRY_BY("no-init", "%S/libstub-no-init.so", "first")
                                             ENTRY_BY("absent", "%S/libstub-other.so", "second")
                                             ENTRY_BY("absent", "%S/libstub.so", "third")
                                             ENTRY_BY("no-init", "%S/libstub-other.so", "second")
                                             ENTRY_BY("both-absent", "%S/libstub-absent.so", "first")
                                             ENTRY_BY("both-absent", "%D/none.so", "second") });
    ok((strstr(text, "the next line of this name is tried") != NULL) == (UDAPL == 20),
       "stand-ins: a warning where the next line is tried");
    scene_play("no stand-ins", &(struct setting){ .conf = ENTRY_BY("mute", "%S/libstub-mute.so", "data")
                                                      ENTRY("refuse") ENTRY("mute")
                                                      ENTRY_BY("refuse", "%S/libstub-other.so", "second") });
    scene_play("twice", &(struct setting){ .conf = ENTRY_BY("twice", "%S/libstub-twice.so",
                                                            "data") });
    scene_play("forgets", &(struct setting){ .conf = ENTRY_BY("forgets", "%S/libstub-forgets.so",
                                                              "data") });
    scene_play("constructor by entry",
               &(struct setting){ .conf = "constructed " CONF_API " threadsafe default "
                                          "%S/libstub-constructor.so STUB.1.0 \"\" \"\"\n" });
    /*
     * If a checker such as valgrind is preloaded, the scene's LD_PRELOAD would also act on the checker's process,
     * which has no libdat.
     */
    if (getenv("LD_PRELOAD") != NULL)
        skip_named("constructor before us", "something else is preloaded");
    else
        scene_play("constructor before us",
                   &(struct setting){ .conf = "",
                                      .env = { "LD_PRELOAD=%S/libstub-constructor.so" } });
    scene_play("left open", &(struct setting){ .conf = ENTRY("a") });
    scene_play("beside", &(struct setting){ .conf = ENTRY_BY("a", "libchosen.so", "data"),
                                            .prepare = make_beside,
                                            .env = { "LD_LIBRARY_PATH=%D/first:%D" } });
    scene_play("beside", &(struct setting){ .conf = ENTRY_BY("a", "libchosen.so", "data"),
                                            .prepare = make_beside_a_link,
                                            .env = { "LD_LIBRARY_PATH=%D/first:%D" } });
    scene_play("beside after chdir",
               &(struct setting){ .conf = ENTRY_BY("a", "libchosen.so", "data"),
                                  .prepare = make_beside,
                                  .in_folder = true,
                                  .env = { "LD_LIBRARY_PATH=%D/first:." } });
    scene_play("by the loader",
               &(struct setting){ .conf = ENTRY_BY("a", "libchosen.so", "data"),
                                  .prepare = make_loader_path,
                                  .env = { "LD_LIBRARY_PATH=%D/first:%L" } });
    return done_testing();
}
