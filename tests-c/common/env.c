#define _POSIX_C_SOURCE 200809L
#include "env.h"

#include "peer.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* 16-bit qualifiers: each parallel program has its own range. */
#define RANGES 8u
#define RANGE 5000u

static char ia_name[DAT_NAME_MAX_LENGTH] = "shm";
static char self[PATH_MAX];
static double scale = 1.0;

static void set_ia(const char *name)
{
    if (name != NULL && name[0] != '\0')
        snprintf(ia_name, sizeof ia_name, "%s", name);
}

void env_init(int argc, char **argv, const struct peer_role *roles)
{
    const char *s;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    /* argv[0] takes precedence if it is a path. */
    if (n <= 0 || argc < 1 || strchr(argv[0], '/') != NULL)
        snprintf(self, sizeof self, "%s", argc > 0 ? argv[0] : "");
    else
        self[n] = '\0';

    if ((s = getenv("DAT_TEST_SCALE")) != NULL && atof(s) > 0)
        scale = atof(s);
    set_ia(getenv("DAT_IA"));
    setvbuf(stdout, NULL, _IOLBF, 0);
    /* With huge pages, the kernel can make unused memory resident, which some tests measure. */
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    /* A write() to a process that has exited must fail, and not end this process. */
    signal(SIGPIPE, SIG_IGN);

    if (argc >= 2 && strcmp(argv[1], "--peer") == 0) {
        if (argc >= 6)
            set_ia(argv[5]);
        peer_enter(argc, argv, roles);
    }
    if (argc >= 2)
        set_ia(argv[1]);
    /* Processes that are not started with peer_start() read it. */
    setenv("DAT_IA", ia_name, 1);
}

DAT_NAME_PTR env_ia(void)
{
    return ia_name;
}

const char *env_self(void)
{
    return self;
}

unsigned env_ms(unsigned ms)
{
    double v = ms * scale;
    return v > 3600e3 ? 3600000u : (unsigned)v;
}

DAT_TIMEOUT env_us(unsigned ms)
{
    return (DAT_TIMEOUT)env_ms(ms) * 1000u;
}

int env_count(int full, int less)
{
    const char *quick = getenv("DAT_TEST_QUICK");

    return quick != NULL && quick[0] != '\0' && strcmp(quick, "0") != 0 ? less : full;
}

bool env_valgrind(void)
{
    return getenv("DAT_TEST_VALGRIND") != NULL;
}

bool env_is_shm(void)
{
    return strcmp(ia_name, "shm") == 0;
}

bool env_has_device(void)
{
    return strncmp(ia_name, "verbs-", 6) == 0;
}

bool env_is_iwarp(void)
{
    static int known = -1;
    char command[512];

    if (known < 0) {
        /* Node type 4 is an RNIC. */
        snprintf(command, sizeof command,
                 "rdma link show 2>/dev/null | awk -v n='%.100s' '{ for (i = 1; i < NF; i++) "
                 "if ($i == \"netdev\" && $(i + 1) == n) { sub(\"/.*\", \"\", $2); print $2 } }' | "
                 "while read -r d; do cat \"/sys/class/infiniband/$d/node_type\"; done | grep -q '^4:'",
                 ia_name + (env_has_device() ? 6 : 0));
        known = env_has_device() && system(command) == 0;
    }
    return known;
}

uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

DAT_CONN_QUAL unique_qual(bool wide)
{
    static unsigned counter;
    DAT_UINT64 n = __sync_fetch_and_add(&counter, 1);
    DAT_UINT64 pid = (DAT_UINT64)getpid();
    const char *slot = getenv("DAT_TEST_SLOT");
    unsigned range = slot != NULL ? (unsigned)atoi(slot) % RANGES : 0;

    if (wide)
        return (pid << 32) | 0x10000u | n;
    return 20000u + range * RANGE + (pid * 61u + n) % RANGE;
}
