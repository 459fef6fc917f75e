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

/*
 * Returns whether all entries from `from` are built in: verbs-NETDEV, and tcp if its library
 * exists.
 */
static bool of_networks(DAT_COUNT from, DAT_COUNT n)
{
    char path[4200];
    bool known = true;

    snprintf(path, sizeof path, "%s/libdapltcp" SO, lib_dir());
    if (access(path, R_OK) == 0)
        known = n > from && strcmp(entries[--n].ia_name, "tcp") == 0;
    for (DAT_COUNT i = from; i < n; i++)
        known = known && strncmp(entries[i].ia_name, "verbs-", 6) == 0;
    return known;
}

/* Checks that the first entry is `name`, from the file, and that built-in entries follow. */
static void first(const char *name)
{
    DAT_COUNT n = list();
    bool built_in = n >= 2 && strcmp(entries[1].ia_name, "shm") == 0;

    built_in = built_in && of_networks(2, n);
    scene_ok(n >= 1 && strcmp(entries[0].ia_name, name) == 0, "the first entry is %s", name);
    scene_ok(built_in, "the others are built in: shm, and verbs-NETDEV and tcp if they are there");
}

static void in_etc(void)
{
    first("etc");
}

static void in_etc_rdma(void)
{
    first("rdma");
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
    DAT_COUNT n = list();

    scene_ok(n >= 1 && strcmp(entries[0].ia_name, "etc") == 0 && of_networks(1, n), "the entry of the file, and no shm");
    scene_not_found("shm", DAT_NAME_NOT_REGISTERED);
}

static void opens_shm(void)
{
    DAT_IA_HANDLE ia;

    scene_opens("shm", &ia);
    scene_closes(ia);
}

static void nowhere(void)
{
    scene_ok(list() == 0, "there are no entries");
    scene_not_found("shm", DAT_NAME_NOT_REGISTERED);
}

static void built_in(void)
{
    DAT_COUNT n = list();
    bool safe = true, verbs = false;
    DIR *devices = opendir("/sys/class/infiniband");

    scene_ok(n >= 1 && strcmp(entries[0].ia_name, "shm") == 0, "the first entry is shm");
    for (int i = 0; i < n; i++) {
        verbs = verbs || strncmp(entries[i].ia_name, "verbs-", 6) == 0;
        safe = safe && entries[i].is_thread_safe == DAT_TRUE &&
               entries[i].dapl_version_major == DAT_VERSION_MAJOR && entries[i].dapl_version_minor == DAT_VERSION_MINOR;
    }
    scene_ok(of_networks(1, n), "the others are verbs-NETDEV, and tcp if its library is there");
    scene_ok(safe, "all are version " API_VERSION " and threadsafe");
    if (devices == NULL)
        scene_ok(!verbs, "no RDMA devices here, and no verbs-NETDEV");
    else
        closedir(devices);
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
    { "switched off", switched_off },
    { "without shm", without_shm },
    { "shm opens", opens_shm },
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
    scene_play("built-in", &(struct setting){ .private_etc = true });
    scene_play("built-in", &(struct setting){ .etc = { "# comments alone\n\n", NULL }, .private_etc = true });
    scene_play("built-in", &(struct setting){ .etc = { "", NULL }, .private_etc = true });
    scene_play("built-in", &(struct setting){ .override = "builtin", .etc = { ENTRY("etc"), NULL }, .private_etc = true });
    scene_play("built-in", &(struct setting){ .override = "builtin" });
    scene_play("switched off", &(struct setting){ .etc = { ENTRY("etc") NONDEFAULT("builtin"), NULL },
                                                  .private_etc = true });
    scene_play("without shm", &(struct setting){ .etc = { ENTRY("etc") NONDEFAULT("shm"), NULL },
                                                 .private_etc = true });
    scene_play("shm opens", &(struct setting){ .etc = { ENTRY("etc"), NULL }, .private_etc = true });
    scene_play("shm opens", &(struct setting){ .etc = { "ofa-v2-ib0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "
                                                        "\"ib0 0\" \"\"\n", NULL },
                                               .private_etc = true });
    scene_play("/etc/rdma/dat.conf", &(struct setting){ .etc = { "# comments alone\n", ENTRY("rdma") },
                                                        .private_etc = true });
    scene_play("override missing", &(struct setting){ .override = "%D/absent.conf",
                                                      .etc = { ENTRY("etc"), NULL },
                                                      .private_etc = true });
    scene_play("override missing", &(struct setting){ .override = "%D/absent.conf" });
    scene_play("file is a folder", &(struct setting){ .override = "%D" });
    scene_play("read once", &(struct setting){ .conf = ENTRY("a") });
    return done_testing();
}
