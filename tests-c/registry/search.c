/* search.c - the places where the registry searches entries. */
#define _POSIX_C_SOURCE 200809L
#include "registry/entries.h"

#include "common/tap.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static DAT_PROVIDER_INFO entries[64];

static DAT_COUNT list(void)
{
    DAT_PROVIDER_INFO *pointers[64];
    DAT_COUNT n = 0;

    for (int i = 0; i < 64; i++)
        pointers[i] = &entries[i];
    scene_type(dat_registry_list_providers(64, &n, pointers), DAT_SUCCESS,
               "dat_registry_list_providers: success");
    return n;
}

static void only(const char *name)
{
    scene_ok(list() == 1 && strcmp(entries[0].ia_name, name) == 0, "the only entry is %s", name);
}

static void by_override(void)
{
    only("overriding");
}

/* Returns whether all entries from `from` are the built-in ones of RDMA devices. */
static bool of_devices(DAT_COUNT from, DAT_COUNT n)
{
    DIR *devices = opendir("/sys/class/infiniband");
    bool known = n == from || devices != NULL;

    if (devices != NULL)
        closedir(devices);
    for (DAT_COUNT i = from; i < n; i++)
        known = known && strncmp(entries[i].ia_name, "verbs-", 6) == 0;
    return known;
}

static void opens(const char *name)
{
    DAT_IA_HANDLE ia;

    scene_opens(name, &ia);
    scene_closes(ia);
}

static void in_etc(void)
{
    only("etc");
    opens("shm");
}

static void in_etc_rdma(void)
{
    only("rdma");
    opens("shm");
}

static void switched_off(void)
{
    only("etc");
    scene_not_found("shm", DAT_NAME_NOT_REGISTERED);
    scene_not_found("tcp", DAT_NAME_NOT_REGISTERED);
    scene_not_found("tcp-lo", DAT_NAME_NOT_REGISTERED);
}

static void without_shm(void)
{
    only("etc");
    scene_not_found("shm", DAT_NAME_NOT_REGISTERED);
    opens("tcp-lo");
}

/* A file in /etc without an entry for this version, or no file: only RDMA devices are listed. */
static void no_entry(void)
{
    DAT_COUNT n = list();

    scene_ok(of_devices(0, n), "only verbs-NETDEV is listed, for RDMA devices");
    opens("shm");
    opens("tcp-lo");
}

/* The library of the entry has no version in its name. */
static void no_suffix(void)
{
    opens("bare");
}

/* The list names shm if the file does. */
static void names_shm(void)
{
    scene_ok(list() == 2 && strcmp(entries[0].ia_name, "etc") == 0 && strcmp(entries[1].ia_name, "shm") == 0,
             "the entries of the file");
    opens("shm");
}

static void nowhere(void)
{
    scene_ok(list() == 0, "there are no entries");
    scene_not_found("shm", DAT_NAME_NOT_REGISTERED);
}

static void built_in(void)
{
    DAT_COUNT n = list();
    bool safe = true;
    char path[4200];

    scene_ok(n >= 1 && strcmp(entries[0].ia_name, "shm") == 0, "the first entry is shm");
    for (int i = 0; i < n; i++)
        safe = safe && entries[i].is_thread_safe == DAT_TRUE &&
               entries[i].dapl_version_major == DAT_VERSION_MAJOR && entries[i].dapl_version_minor == DAT_VERSION_MINOR;
    scene_ok(safe, "all are version " API_VERSION " and threadsafe");
    snprintf(path, sizeof path, "%s/libdapltcp" SO, lib_dir());
    if (access(path, R_OK) == 0)
        scene_ok(n >= 2 && strcmp(entries[--n].ia_name, "tcp") == 0, "the last entry is tcp, if its library is there");
    scene_ok(of_devices(1, n), "the others are verbs-NETDEV, for RDMA devices");
}

static void read_once(void)
{
    only("a");
    setenv("DAT_OVERRIDE", "/nonexistent", 1);
    remove(scene_path("dat.conf"));
    only("a");
}

static const struct scene scenes[] = {
    { "override", by_override },
    { "/etc/dat.conf", in_etc },
    { "/etc/rdma/dat.conf", in_etc_rdma },
    { "override missing", nowhere },
    { "file is a folder", nowhere },
    { "built-in", built_in },
    { "no entry", no_entry },
    { "shm in the file", names_shm },
    { "no suffix", no_suffix },
    { "switched off", switched_off },
    { "without shm", without_shm },
    { "read once", read_once },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    scene_enter(argc, argv, scenes);
    scene_play("override", &(struct setting){ .conf = ENTRY("overriding"),
                                              .etc = { ENTRY("etc"), ENTRY("rdma") },
                                              .private_etc = true });
    scene_play("override", &(struct setting){ .conf = ENTRY("overriding") });
    scene_play("/etc/dat.conf", &(struct setting){ .etc = { ENTRY("etc"), ENTRY("rdma") },
                                                   .private_etc = true });
    scene_play("/etc/rdma/dat.conf",
               &(struct setting){ .etc = { NULL, ENTRY("rdma") }, .private_etc = true });
    scene_play("no entry", &(struct setting){ .private_etc = true });
    scene_play("no entry", &(struct setting){ .etc = { "# comments alone\n\n", NULL }, .private_etc = true });
    scene_play("no entry", &(struct setting){ .etc = { "", NULL }, .private_etc = true });
    scene_play("no entry", &(struct setting){ .etc = { NONDEFAULT("etc"), NULL }, .private_etc = true });
    scene_play("no entry", &(struct setting){ .etc = { "etc u" OTHER_VERSION " nonthreadsafe default l.so L.1.0 \"\" \"\"\n",
                                                       NULL },
                                              .private_etc = true });
    scene_play("shm in the file", &(struct setting){ .etc = { ENTRY("etc") ENTRY("shm"), NULL }, .private_etc = true });
    scene_play("built-in", &(struct setting){ .override = "builtin", .etc = { ENTRY("etc"), NULL }, .private_etc = true });
    scene_play("built-in", &(struct setting){ .override = "builtin" });
    scene_play("switched off", &(struct setting){ .etc = { ENTRY("etc") NONDEFAULT("builtin"), NULL },
                                                  .private_etc = true });
    scene_play("without shm", &(struct setting){ .etc = { ENTRY("etc") NONDEFAULT("shm"), NULL },
                                                 .private_etc = true });
    scene_play("/etc/rdma/dat.conf", &(struct setting){ .etc = { "# comments alone\n", ENTRY("rdma") },
                                                        .private_etc = true });
    scene_play("override missing", &(struct setting){ .override = "%D/absent.conf",
                                                      .etc = { ENTRY("etc"), NULL },
                                                      .private_etc = true });
    scene_play("override missing", &(struct setting){ .override = "%D/absent.conf" });
    scene_play("file is a folder", &(struct setting){ .override = "%D" });
    scene_play("no suffix", &(struct setting){ .conf = ENTRY_BY("bare", "libdaplshm.so", "") });
    scene_play("read once", &(struct setting){ .conf = ENTRY("a") });
    return done_testing();
}
