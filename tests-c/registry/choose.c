/*
 * choose.c WAY RANK DIRECTORY - one of two processes that choose an adapter as an MPI library does, and connect. They
 * exchange their adapters and the connection qualifier through files in the directory. hosts.sh runs it.
 *
 *   first   as Intel MPI: the first listed adapter of this version that opens
 *   every   as Open MPI: opens all listed adapters, and selects the first two of which the networks are equal
 *
 * Prints the result in one line: "own tcp" if no adapter opens, or none has the same network, as the library then uses
 * TCP itself; "NAME against NAME" if the processes select different adapters, or "none"; "NAME connects"; or "NAME:" and
 * the event instead of the connection.
 */
#define _GNU_SOURCE
#include "common/dat.h"
#include "common/env.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };

/* An adapter. Its name, address and mask are what the other process receives. */
struct card {
    char name[64];
    struct in_addr address, mask;
};

struct adapter {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async;
};

static const char *directory;
static int rank;

static void give_up(const char *what)
{
    printf("failed: %s\n", what);
    exit(1);
}

static void check(DAT_RETURN rc, const char *what)
{
    if (rc != DAT_SUCCESS) {
        printf("failed: %s: 0x%x\n", what, (unsigned)rc);
        exit(1);
    }
}

/* Writes a file for the other process. */
static void tell(const char *name, const void *bytes, size_t size)
{
    char path[512], temporary[520];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s%d", directory, name, rank);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    f = fopen(temporary, "w");
    if (f == NULL || fwrite(bytes, 1, size, f) != size || fclose(f) != 0 || rename(temporary, path) != 0)
        give_up("cannot write for the other process");
}

/* Reads a file of the other process. Returns its size, or -1 if it does not exist yet. */
static long heard(const char *name, void *bytes, size_t room)
{
    char path[512];
    FILE *f;
    size_t size;

    snprintf(path, sizeof path, "%s/%s%d", directory, name, 1 - rank);
    f = fopen(path, "r");
    if (f == NULL)
        return -1;
    size = fread(bytes, 1, room, f);
    fclose(f);
    return (long)size;
}

static size_t hear(const char *name, void *bytes, size_t room)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);
    long size;

    while ((size = heard(name, bytes, room)) < 0) {
        if (now_ms() > end)
            give_up("the other process is silent");
        usleep(1000);
    }
    return (size_t)size;
}

static struct in_addr mask_of(struct in_addr address)
{
    struct in_addr mask = { 0xffffffff };
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all) != 0)
        give_up("getifaddrs");
    for (struct ifaddrs *one = all; one != NULL; one = one->ifa_next)
        if (one->ifa_addr != NULL && one->ifa_addr->sa_family == AF_INET &&
            ((struct sockaddr_in *)one->ifa_addr)->sin_addr.s_addr == address.s_addr)
            mask = ((struct sockaddr_in *)one->ifa_netmask)->sin_addr;
    freeifaddrs(all);
    return mask;
}

/* Opens listed adapters: all of them, or only until one opens. Returns their number. */
static int open_listed(bool every, struct card *cards, struct adapter *adapters)
{
    static DAT_PROVIDER_INFO info[MOST];
    DAT_PROVIDER_INFO *list[MOST];
    DAT_COUNT n = 0;
    int opened = 0;

    for (int i = 0; i < MOST; i++)
        list[i] = &info[i];
    check(dat_registry_list_providers(MOST, &n, list), "dat_registry_list_providers");
    for (int i = 0; i < n && (every || opened == 0); i++) {
        struct card *card = &cards[opened];
        DAT_IA_ATTR attr;

        adapters[opened].async = DAT_HANDLE_NULL;
        if (info[i].dapl_version_major != DAT_VERSION_MAJOR ||
            dat_ia_open(info[i].ia_name, 8, &adapters[opened].async, &adapters[opened].ia) != DAT_SUCCESS)
            continue;
        check(dat_ia_query(adapters[opened].ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL), "dat_ia_query");
        snprintf(card->name, sizeof card->name, "%.63s", info[i].ia_name);
        card->address = ((struct sockaddr_in *)attr.ia_address_ptr)->sin_addr;
        card->mask = mask_of(card->address);
        opened++;
    }
    return opened;
}

/* Selects the adapters of both processes, by the rules of rank 0. Returns false if there are none. */
static bool match(const struct card *mine, int m, const struct card *theirs, int t, int *own, int *other)
{
    const struct card *a = rank == 0 ? mine : theirs, *b = rank == 0 ? theirs : mine;
    int an = rank == 0 ? m : t, bn = rank == 0 ? t : m;

    for (int i = 0; i < an; i++)
        for (int j = 0; j < bn; j++)
            if ((a[i].address.s_addr & a[i].mask.s_addr) == (b[j].address.s_addr & a[i].mask.s_addr)) {
                *own = rank == 0 ? i : j;
                *other = rank == 0 ? j : i;
                return true;
            }
    return false;
}

/* Waits for an event, up to the limit or until the other process reports a failure. Returns 0 without an event. */
static DAT_EVENT_NUMBER next(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);
    char failure;
    DAT_COUNT more;

    while (now_ms() < end && heard("failed", &failure, 1) < 0)
        if (dat_evd_wait(evd, 50000, 1, event, &more) == DAT_SUCCESS)
            return event->event_number;
    return (DAT_EVENT_NUMBER)0;
}

static void connect_to(struct adapter *with, const char *name, struct in_addr peer)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = peer };
    DAT_EVD_HANDLE dto = DAT_HANDLE_NULL, conn = DAT_HANDLE_NULL, cr = DAT_HANDLE_NULL;
    DAT_PZ_HANDLE pz;
    DAT_EP_HANDLE ep;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual = 0;
    DAT_EVENT event;
    DAT_EVENT_NUMBER number;

    check(dat_pz_create(with->ia, &pz), "dat_pz_create");
    check(dat_evd_create(with->ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &dto), "dat_evd_create");
    check(dat_evd_create(with->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &conn), "dat_evd_create");
    check(dat_evd_create(with->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &cr), "dat_evd_create");
    check(dat_ep_create(with->ia, pz, dto, dto, conn, NULL, &ep), "dat_ep_create");
    if (rank == 0) {
        check(dat_psp_create_any(with->ia, &qual, cr, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create_any");
        tell("qual", &qual, sizeof qual);
        if (next(cr, &event) == DAT_CONNECTION_REQUEST_EVENT)
            check(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, NULL), "dat_cr_accept");
    } else {
        hear("qual", &qual, sizeof qual);
        check(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&to, qual, 1000 * env_ms(2000), 0, NULL, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG),
              "dat_ep_connect");
    }
    number = next(conn, &event);
    if (number == DAT_CONNECTION_EVENT_ESTABLISHED) {
        printf("%s connects\n", name);
        /* The connection lasts until both have seen it. */
        tell("done", name, 1);
        hear("done", &qual, 1);
    } else {
        printf("%s: event 0x%x\n", name, (unsigned)number);
        tell("failed", name, 1);
    }
    dat_ia_close(with->ia, DAT_CLOSE_ABRUPT_FLAG);
}

static const char *name_of(const struct card *first)
{
    return first->name[0] != '\0' ? first->name : "none";
}

int main(int argc, char **argv)
{
    static struct card mine[MOST], theirs[MOST];
    static struct adapter adapters[MOST];
    bool every;
    int m, t, own = 0, other = 0;

    if (argc != 4)
        give_up("choose WAY RANK DIRECTORY");
    every = strcmp(argv[1], "every") == 0;
    rank = atoi(argv[2]);
    directory = argv[3];
    m = open_listed(every, mine, adapters);
    tell("cards", mine, (size_t)m * sizeof *mine);
    t = (int)(hear("cards", theirs, sizeof theirs) / sizeof *theirs);
    if (every ? !match(mine, m, theirs, t, &own, &other) : m + t == 0)
        printf("own tcp\n");
    else if (!every && strcmp(mine[0].name, theirs[0].name) != 0)
        printf("%s against %s\n", name_of(rank == 0 ? mine : theirs), name_of(rank == 0 ? theirs : mine));
    else
        connect_to(&adapters[own], mine[own].name, theirs[other].address);
    return 0;
}
