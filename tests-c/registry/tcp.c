/* tcp.c - adapters over TCP: names, instance data, sandboxes, errors and messages. */
#define _GNU_SOURCE
#include "registry/entries.h"
#include "registry/refuse.h"

#include "common/env.h"
#include "common/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE(name, data) name " " CONF_API " threadsafe default libdapltcp" SO " dapl." API_VERSION " \"" data "\" \"\"\n"
#define ERRORS "DAT_LOG=error"

static const char *address_of(DAT_IA_HANDLE ia)
{
    static char text[INET6_ADDRSTRLEN];
    DAT_IA_ATTR attr;
    const struct sockaddr *address;

    text[0] = '\0';
    if (dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL) != DAT_SUCCESS)
        return text;
    address = (const struct sockaddr *)attr.ia_address_ptr;
    if (address->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, sizeof text);
    else
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text, sizeof text);
    return text;
}

/* Opens an adapter and checks its address. If `wanted` is NULL, the call must fail. */
static void opens_at(const char *name, const char *wanted)
{
    DAT_IA_HANDLE ia;

    if (wanted == NULL) {
        scene_code(open_named(name, &ia), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE,
                   "dat_ia_open %s: DAT_INSUFFICIENT_RESOURCES", name);
        scene_ok(ia == DAT_HANDLE_NULL, "dat_ia_open %s: the handle is untouched", name);
    } else if (scene_opens(name, &ia)) {
        scene_ok(strcmp(address_of(ia), wanted) == 0, "%s is at %s", name, wanted);
        scene_closes(ia);
    }
}

/* ---- Names ---- */

static bool listed(const char *name)
{
    static DAT_PROVIDER_INFO entries[64];
    DAT_PROVIDER_INFO *pointers[64];
    DAT_COUNT n = 0;
    bool found = false;

    for (int i = 0; i < 64; i++)
        pointers[i] = &entries[i];
    if (dat_registry_list_providers(64, &n, pointers) != DAT_SUCCESS)
        return false;
    for (DAT_COUNT i = 0; i < n; i++)
        found = found || strcmp(entries[i].ia_name, name) == 0;
    return found;
}

static void built_in(void)
{
    DAT_IA_HANDLE ia;

    scene_ok(listed("tcp"), "tcp is listed");
    scene_ok(!listed("tcp-lo"), "tcp-lo is not listed");
    if (scene_opens("tcp-lo", &ia)) {
        scene_ok(listed("tcp-lo"), "tcp-lo is listed as long as its provider has registered");
        scene_closes(ia);
    }
    scene_ok(!listed("tcp-lo"), "tcp-lo is not listed when it is closed");
    scene_not_found("tcp-nowhere7", DAT_NAME_NOT_REGISTERED);
}

static void own_line(void)
{
    scene_ok(!listed("tcp"), "tcp is not listed: a line switches it off");
    scene_not_found("tcp", DAT_NAME_NOT_REGISTERED);
    scene_ok(listed("tcp-lo"), "tcp-lo is listed: it has a line");
}

/* ---- Instance data ---- */

static bool has_ipv6(void)
{
    struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool has = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0;

    close(fd);
    return has;
}

static void meant(void)
{
    opens_at("netdev", "127.0.0.1");
    opens_at("four", "127.0.0.1");
    opens_at("tcp-lo", "127.0.0.1");
    if (has_ipv6())
        opens_at("six", "::1");
    else
        scene_skip("no IPv6 here");
}

/* Adapters with wrong instance data: the name, the entry, and a part of the message. */
static const struct {
    const char *name, *line, *said;
} wrong[] = {
    { "kind", LINE("kind", "sockets lo"), "instance data \"sockets lo\": its first word must be tcp, not sockets" },
    { "netdev", LINE("netdev", "tcp nowhere7"), "there is no network interface nowhere7: " },
    { "address", LINE("address", "tcp 203.0.113.9"), "no network interface has the address 203.0.113.9: " },
    { "any", LINE("any", "tcp 0.0.0.0"), "no network interface has the address 0.0.0.0: " },
    { "linklocal", LINE("linklocal", "tcp fe80::7"), "fe80::7 is link-local: " },
    { "words", LINE("words", "tcp lo more"), "instance data \"tcp lo more\": more is one word too many" },
};
enum { WRONGS = sizeof wrong / sizeof wrong[0] };

static void refused(void)
{
    for (int i = 0; i < WRONGS; i++)
        opens_at(wrong[i].name, NULL);
}

/* ---- A port in use ---- */

static void port_taken(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE requests = DAT_HANDLE_NULL;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;

    if (!scene_ok(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0 &&
                      getsockname(fd, (struct sockaddr *)&at, &size) == 0,
                  "another program listens") ||
        !scene_opens("tcp-lo", &ia))
        return;
    scene_type(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests), DAT_SUCCESS, "dat_evd_create: success");
    scene_type(dat_psp_create(ia, ntohs(at.sin_port), requests, DAT_PSP_CONSUMER_FLAG, &psp), DAT_CONN_QUAL_IN_USE,
               "dat_psp_create: another program listens on the port: DAT_CONN_QUAL_IN_USE");
    close(fd);
    scene_type(dat_psp_create(ia, ntohs(at.sin_port), requests, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS,
               "dat_psp_create: the port is free again: success");
    scene_closes(ia);
}

/* ---- The interface of tcp ---- */

/* Moves the process into a new network namespace, where a command creates interfaces. */
static bool own_network(const char *command)
{
    static const char *const maps[][2] = { { "/proc/self/setgroups", "deny" }, { "/proc/self/uid_map", "0 %u 1" },
                                           { "/proc/self/gid_map", "0 %u 1" } };
    unsigned ids[] = { 0, getuid(), getgid() };
    FILE *map;

    if (unshare(CLONE_NEWNET) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
            return false;
        for (int i = 0; i < 3; i++) {
            map = fopen(maps[i][0], "w");
            if (map == NULL || fprintf(map, maps[i][1], ids[i]) < 0 || fclose(map) != 0)
                return false;
        }
    }
    return system(command) == 0;
}

#define UP(netdev, peer, address) \
    "ip link add " netdev " type veth peer name " peer " && ip link set " netdev " up && ip link set " peer " up && " \
    "ip address add " address " dev " netdev
#define LO "exec >/dev/null 2>&1 && PATH=$PATH:/sbin:/usr/sbin && ip link set lo up"

static const struct network {
    const char *what, *command, *name, *address, *said;
} networks[] = {
    { "no network", "true", "tcp", NULL, "no network interface leads to other hosts: none has an address" },
    { "lo alone", LO, "tcp", NULL, "no network interface leads to other hosts: name one of these: lo (127.0.0.1)" },
    { "lo alone, by name", LO, "tcp-lo", "127.0.0.1", NULL },
    { "one interface", LO " && " UP("d0", "p0", "192.0.2.7/24"), "tcp", "192.0.2.7", NULL },
    { "two interfaces", LO " && " UP("d0", "p0", "192.0.2.7/24") " && " UP("d1", "p1", "198.51.100.7/24"), "tcp", NULL,
      "no default route selects a network interface: "
      "name one of these: d0 (192.0.2.7), d1 (198.51.100.7), lo (127.0.0.1)" },
    { "two interfaces, by name", LO " && " UP("d0", "p0", "192.0.2.7/24") " && " UP("d1", "p1", "198.51.100.7/24"),
      "tcp-d1", "198.51.100.7", NULL },
    { "a default route",
      LO " && " UP("d0", "p0", "192.0.2.7/24") " && " UP("d1", "p1", "198.51.100.7/24") " && ip route add default dev d1",
      "tcp", "198.51.100.7", NULL },
    { "a default route of IPv6",
      LO " && " UP("d0", "p0", "192.0.2.7/24") " && " UP("d1", "p1", "2001:db8::7/64 nodad") " && "
         "ip -6 route add default dev d1", "tcp", "2001:db8::7", NULL },
    { "an interface without an address", LO " && " UP("d0", "p0", "fe80::7/64 nodad"), "tcp-d0", NULL,
      "network interface d0 has no IP address that peers reach: name one of these: lo (127.0.0.1)" },
};
enum { NETWORKS = sizeof networks / sizeof networks[0] };

static void in_network(void)
{
    const struct network *in = &networks[atoi(getenv("TCP_NETWORK"))];

    if (own_network(in->command))
        opens_at(in->name, in->address);
    else
        scene_skip("needs namespaces, and ip of iproute2");
}

/* ---- Sandboxes that refuse to list the interfaces ---- */

#define ALIASES \
    LO " && " UP("d0", "p0", "192.0.2.7/24") " && ip address add 192.0.2.8/24 dev d0 label d0:1 && " \
       "ip address add 198.51.100.7/32 dev d0 && " UP("d1", "p1", "fe80::7/64 nodad") " && " \
       "ip address add 2001:db8::7/64 nodad dev d1 && ip -6 route add default dev d1"
#define NO_NETLINK "netlink: Address family not supported by protocol (os error 97)"
#define NO_LIST    "SIOCGIFCONF: Operation not permitted (os error 1)"

static const struct sandbox {
    const char *what, *name, *address, *said;
    int netlink, list;
} sandboxes[] = {
    { "loopback", "tcp-lo", "127.0.0.1", NULL, EAFNOSUPPORT, 0 },
    { "loopback, EPERM", "tcp-lo", "127.0.0.1", NULL, EPERM, 0 },
    { "an interface", "tcp-d0", "192.0.2.7", NULL, EAFNOSUPPORT, 0 },
    { "a label", "label", "192.0.2.8", NULL, EAFNOSUPPORT, 0 },
    { "an address without a label", "second", "198.51.100.7", NULL, EAFNOSUPPORT, 0 },
    { "an interface with only IPv6", "tcp-d1", "2001:db8::7", NULL, EAFNOSUPPORT, 0 },
    { "an IPv6 address", "six", "2001:db8::7", NULL, EAFNOSUPPORT, 0 },
    { "the default route", "tcp", "2001:db8::7", NULL, EAFNOSUPPORT, 0 },
    { "no such interface", "nowhere", NULL, "there is no network interface nowhere7: ", EAFNOSUPPORT, 0 },
    { "only the ioctl", "tcp-d0", "192.0.2.7", NULL, 0, EPERM },
    { "both", "tcp-d0", NULL, "cannot list the IP addresses of this host: " NO_NETLINK ", " NO_LIST, EAFNOSUPPORT, EPERM },
    { "both, by address", "second", NULL, NO_NETLINK ", " NO_LIST, EAFNOSUPPORT, EPERM },
    { "both, and IPv6", "tcp-d1", NULL, NO_NETLINK ", " NO_LIST, EAFNOSUPPORT, EPERM },
};
enum { SANDBOXES = sizeof sandboxes / sizeof sandboxes[0] };

static void in_sandbox(void)
{
    const struct sandbox *in = &sandboxes[atoi(getenv("TCP_SANDBOX"))];

    if (!own_network(ALIASES))
        scene_skip("needs namespaces, and ip of iproute2");
    else if (!refuse(in->netlink, in->list))
        scene_skip("needs seccomp");
    else
        opens_at(in->name, in->address);
}

/* ---- The director ---- */

/* Returns whether the text has exactly one line about the adapter, and this line contains the words. */
static bool told_once(const char *text, const char *name, const char *words)
{
    char about[64];
    const char *line;
    int lines = 0;
    bool told = false;

    snprintf(about, sizeof about, ": %s: ", name);
    for (line = strstr(text, about); line != NULL; line = strstr(line + 1, about)) {
        const char *found = strstr(line, words), *end = strchr(line, '\n');

        lines++;
        told = told || (found != NULL && end != NULL && found < end);
    }
    if (!told || lines != 1)
        diag("  %s", text);
    return told && lines == 1;
}

static void play_networks(void)
{
    char number[32];

    for (int i = 0; i < NETWORKS; i++) {
        const struct network *in = &networks[i];
        const char *text;

        diag("%s", in->what);
        snprintf(number, sizeof number, "TCP_NETWORK=%d", i);
        text = scene_play("network", &(struct setting){ .override = "builtin", .env = { ERRORS, number } });
        /* The text is empty if the scene was skipped. */
        if (in->said != NULL && text[0] != '\0')
            ok(told_once(text, in->name, in->said), "network: %s: one line says \"%s\"", in->what, in->said);
    }
}

static void play_sandboxes(void)
{
    static const char lines[] = LINE("label", "tcp d0:1") LINE("second", "tcp 198.51.100.7") LINE("six", "tcp 2001:db8::7")
        LINE("nowhere", "tcp nowhere7") LINE("tcp-lo", "") LINE("tcp-d0", "") LINE("tcp-d1", "") LINE("tcp", "");
    char number[32];

    for (int i = 0; i < SANDBOXES; i++) {
        const struct sandbox *in = &sandboxes[i];
        const char *text;

        diag("%s", in->what);
        snprintf(number, sizeof number, "TCP_SANDBOX=%d", i);
        text = scene_play("sandbox", &(struct setting){ .conf = lines, .env = { ERRORS, number } });
        if (in->said != NULL && text[0] != '\0')
            ok(told_once(text, in->name, in->said), "sandbox: %s: one line says \"%s\"", in->what, in->said);
        ok(strstr(text, "none has an address") == NULL, "sandbox: %s: no line denies the addresses", in->what);
    }
}

static const struct scene scenes[] = {
    { "built-in", built_in }, { "own line", own_line }, { "instance data", meant }, { "refused", refused },
    { "port", port_taken }, { "network", in_network }, { "sandbox", in_sandbox }, { NULL, NULL },
};

int main(int argc, char **argv)
{
    char lines[4096] = "";
    const char *text;

    scene_enter(argc, argv, scenes);
    scene_play("built-in", &(struct setting){ .override = "builtin" });
    scene_play("own line", &(struct setting){ .etc = { LINE("tcp-lo", "tcp ::1") NONDEFAULT("tcp"), NULL },
                                              .private_etc = true });
    scene_play("instance data", &(struct setting){ .conf = LINE("netdev", "tcp lo") LINE("four", "tcp 127.0.0.1")
                                                       LINE("tcp-lo", "") LINE("six", "tcp ::1") });
    for (int i = 0; i < WRONGS; i++)
        strcat(lines, wrong[i].line);
    text = scene_play("refused", &(struct setting){ .conf = lines, .env = { ERRORS } });
    for (int i = 0; i < WRONGS; i++)
        ok(told_once(text, wrong[i].name, wrong[i].said), "refused: %s: one line says \"%s\"", wrong[i].name, wrong[i].said);
    text = scene_play("port", &(struct setting){ .override = "builtin", .env = { "DAT_LOG=debug" } });
    ok(strstr(text, " is in use") != NULL, "port: a line says that it is in use");
    play_networks();
    play_sandboxes();
    return done_testing();
}
