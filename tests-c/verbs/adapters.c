/* adapters.c - see adapters.h. */
#define _DEFAULT_SOURCE
#include "adapters.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "verbs-"

bool other_adapter(char name[DAT_NAME_MAX_LENGTH])
{
    static DAT_PROVIDER_INFO info[64];
    DAT_PROVIDER_INFO *list[64];
    DAT_COUNT n = 0;

    for (int i = 0; i < 64; i++)
        list[i] = &info[i];
    must_rc(dat_registry_list_providers(64, &n, list), DAT_SUCCESS, "dat_registry_list_providers");
    for (DAT_COUNT i = 0; i < n && i < 64; i++)
        if (netdev_of(info[i].ia_name) != NULL && strcmp(info[i].ia_name, env_ia()) != 0) {
            strcpy(name, info[i].ia_name);
            return true;
        }
    return false;
}

const char *netdev_of(const char *adapter)
{
    return strncmp(adapter, PREFIX, strlen(PREFIX)) == 0 ? adapter + strlen(PREFIX) : NULL;
}

bool one_cable(const char *netdev, const char *other)
{
    char command[512];

    if (strlen(netdev) > 60 || strlen(other) > 60)
        return false;
    snprintf(command, sizeof command,
             "test \"$(cat /sys/class/net/%s/iflink)\" = \"$(cat /sys/class/net/%s/ifindex)\" && "
             "ip -o link show dev %s type veth 2>/dev/null | grep -q .",
             netdev, other, netdev);
    return system(command) == 0;
}

void fx_open_on(struct fx *fx, const char *adapter)
{
    char before[DAT_NAME_MAX_LENGTH];

    snprintf(before, sizeof before, "%s", env_ia());
    snprintf(env_ia(), DAT_NAME_MAX_LENGTH, "%s", adapter);
    fx_open(fx);
    snprintf(env_ia(), DAT_NAME_MAX_LENGTH, "%s", before);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

void say_descriptors(const char *when)
{
    static char what[256][64];
    DIR *d = opendir("/proc/self/fd");
    struct dirent *entry;
    size_t n = 0;

    while (d != NULL && n < 256 && (entry = readdir(d)) != NULL) {
        char path[300];
        ssize_t length;

        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        length = readlink(path, what[n], sizeof what[n] - 1);
        if (length <= 0)
            continue;
        what[n][length] = '\0';
        /* Removes the inode numbers of pipes and sockets. */
        what[n][strcspn(what[n], "[")] = '\0';
        n++;
    }
    if (d != NULL)
        closedir(d);
    qsort(what, n, sizeof what[0], by_text);
    diag("descriptors %s: %zu", when, n);
    for (size_t i = 0, first = 0; i < n; i++)
        if (i + 1 == n || strcmp(what[i + 1], what[i]) != 0) {
            diag("  %zu %s", i + 1 - first, what[i]);
            first = i + 1;
        }
}
