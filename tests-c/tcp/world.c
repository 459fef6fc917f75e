/* world.c - see world.h. */
#define _GNU_SOURCE
#include "world.h"

#include "common/chance.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { FRAME = 1600, QUEUE = 4096, ETHERNET = 14, TCP = 6 };

/* Queue of frames in transit to one of the hosts. */
struct lane {
    int from, to;
    unsigned head, tail;
    struct {
        uint64_t due;
        size_t len;
        unsigned char bytes[FRAME];
    } frames[QUEUE];
};

static struct lane lanes[2]; /* to the far host, and back */

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static bool put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return done;
}

void world_set(const char *name, const char *value)
{
    char path[128];

    snprintf(path, sizeof path, "/proc/sys/%s", name);
    must(put(path, value), "%s cannot be set: %s", path, strerror(errno));
}

/* Creates a network namespace in which this process has all privileges. */
static bool new_network(void)
{
    char map[32];

    snprintf(map, sizeof map, "0 %u 1", (unsigned)geteuid());
    return unshare(CLONE_NEWNET) == 0 ||
           (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 && put("/proc/self/uid_map", map));
}

/* Creates the interface w0 with addresses that end with `number`. Returns -1 if that fails. */
static int host(int number)
{
    char command[320];
    struct ifreq request;
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

    memset(&request, 0, sizeof request);
    snprintf(request.ifr_name, sizeof request.ifr_name, "w0");
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
        return -1;
    snprintf(command, sizeof command,
             "ip link set lo up && ip addr add 10.99.0.%d/24 dev w0 && "
             "ip -6 addr add fd99::%d/64 dev w0 nodad && ip link set w0 up", number, number);
    return system(command) == 0 ? fd : -1;
}

/* Returns whether the firewall, which permits only TCP port `port` of the far host, permits a frame. */
static bool allowed(const unsigned char *frame, size_t len, bool outward, unsigned port)
{
    const unsigned char *ip = frame + ETHERNET, *tcp;
    bool v4 = len > ETHERNET + 40 && frame[12] == 0x08 && frame[13] == 0x00;
    bool v6 = len > ETHERNET + 44 && frame[12] == 0x86 && frame[13] == 0xdd;

    if (port == 0 || !(v4 ? ip[9] == TCP : v6 && ip[6] == TCP))
        return true;
    tcp = v4 ? ip + (ip[0] & 15) * 4 : ip + 40;
    if (!outward)
        return (unsigned)(tcp[0] << 8 | tcp[1]) == port;
    return (unsigned)(tcp[2] << 8 | tcp[3]) == port;
}

/* Reads the frames that a host has sent, and queues the frames that are neither lost nor refused. */
static void take(struct lane *l, struct wire *w, struct chance *c)
{
    while (l->head - l->tail < QUEUE) {
        unsigned char *bytes = l->frames[l->head % QUEUE].bytes;
        ssize_t len = read(l->from, bytes, FRAME);

        if (len <= 0)
            return;
        if (w->cut || draw(c, 1000) < (unsigned)w->lost) {
            w->dropped++;
        } else if (!allowed(bytes, (size_t)len, l == &lanes[0], (unsigned)w->port)) {
            w->refused++;
        } else {
            l->frames[l->head % QUEUE].len = (size_t)len;
            l->frames[l->head++ % QUEUE].due = now_us() + (uint64_t)w->delay_us;
        }
    }
}

/* Delivers frames that are due. Returns the time until the next frame is due, in us, or 1 s if no frame waits. */
static uint64_t deliver(struct lane *l, struct wire *w)
{
    while (l->tail != l->head) {
        uint64_t now = now_us(), due = l->frames[l->tail % QUEUE].due;

        if (due > now)
            return due - now;
        if (write(l->to, l->frames[l->tail % QUEUE].bytes, l->frames[l->tail % QUEUE].len) > 0)
            w->carried++;
        l->tail++;
    }
    return 1000000;
}

/* Creates the far host in a namespace of this process, and forwards frames until the parent ends. */
static void carry(struct wire *w, int near_fd, int ready)
{
    struct chance c;
    int far_fd;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    chance_begin(&c, 1);
    if (unshare(CLONE_NEWNET) != 0 || (far_fd = host(2)) < 0 || write(ready, "", 1) != 1)
        _exit(1);
    close(ready);
    lanes[0].from = lanes[1].to = near_fd;
    lanes[0].to = lanes[1].from = far_fd;
    for (;;) {
        struct pollfd f[2] = { { near_fd, POLLIN, 0 }, { far_fd, POLLIN, 0 } };
        uint64_t out = deliver(&lanes[0], w), back = deliver(&lanes[1], w), us = out < back ? out : back;
        struct timespec limit = { 0, (long)(us < 1000000 ? us : 999999) * 1000 };

        ppoll(f, 2, &limit, NULL);
        take(&lanes[0], w, &c);
        take(&lanes[1], w, &c);
    }
}

/* Writes a configuration with adapters of both hosts. */
static void configure(void)
{
    static const char *const names[3][2] = { { "wire", "w0" }, { "near6", "fd99::1" }, { "far6", "fd99::2" } };
    const char *folder = getenv("DAT_TEST_RESULTS");
    char path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/wire.conf", folder != NULL ? folder : "/tmp");
    f = fopen(path, "w");
    must(f != NULL, "%s cannot be written", path);
    for (int i = 0; i < 3; i++)
        fprintf(f, "%s u%d.%d threadsafe default libdapltcp.so.%d dat.1.0 \"tcp %s\" \"\"\n", names[i][0], UDAPL / 10,
                UDAPL % 10, UDAPL / 10, names[i][1]);
    must(fclose(f) == 0, "%s cannot be written", path);
    setenv("DAT_OVERRIDE", path, 1);
}

struct wire *world_make(int argc, char **argv, const struct peer_role *roles)
{
    char *args[] = { argv[0], "wire", NULL }, pid[16], byte;
    struct wire *w;
    int near_fd, ready[2];
    pid_t child;

    if (argc >= 2 && strcmp(argv[1], "--peer") == 0)
        env_init(argc, argv, roles);
    env_init(2, args, roles);
    if (system("command -v ip >/dev/null") != 0)
        skip_all("there is no command ip (package iproute2)");
    if (!new_network())
        skip_all("no network namespaces: %s", strerror(errno));
    near_fd = host(1);
    if (near_fd < 0)
        skip_all("no network interface of its own: %s", strerror(errno));
    w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(w != MAP_FAILED && pipe2(ready, O_CLOEXEC) == 0, "no memory");
    fflush(NULL);
    child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        close(ready[0]);
        carry(w, near_fd, ready[1]);
    }
    close(near_fd);
    close(ready[1]);
    must(read(ready[0], &byte, 1) == 1, "the far host cannot be made");
    close(ready[0]);
    snprintf(pid, sizeof pid, "%ld", (long)child);
    setenv("DAT_TEST_WIRE", pid, 1);
    configure();
    return w;
}

void world_enter(void)
{
    const char *pid = getenv("DAT_TEST_WIRE");
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%s/ns/net", pid != NULL ? pid : "self");
    fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd >= 0 && setns(fd, CLONE_NEWNET) == 0, "the far host cannot be entered: %s", strerror(errno));
    close(fd);
}
