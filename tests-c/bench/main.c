/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * main.c - runs one measurement and prints lines "name value unit".
 *
 *   bench TEST [OPTION]...
 *
 * - send_lat: round trips; nanoseconds in one direction
 * - datagram_lat: the same with datagrams of uDAPL 2.0
 * - watch_lat: the same with RDMA writes; the target watches the last byte, and dequeues at times
 * - send_bw: concurrent messages in one direction
 * - delay, delay_silent: maximum latency of a write to a target that has just stopped calling; in delay, the initiator
 *   polls, in delay_silent it makes no call either
 * - watched: eight writes of an eighth of --size to a target that makes no call and polls its memory
 * - calls: single calls
 * - round: a send, its receive and both completions between two endpoints of one process, after --past
 * - connections: memory and time of --iterations further connections of two processes
 * - all_to_all: in each round, a message from each of --processes to each other; messages per second
 *
 *   --adapter NAME          (shm)
 *   --size BYTES            of a transfer (8)
 *   --iterations N          default depends on the size; warm-up: a tenth
 *   --outstanding N         concurrent transfers (64; send_lat: 1); of connections: in progress (64)
 *   --processes N           of all_to_all (32)
 *   --past WHAT             of round: what the process has done before, see round.c (nothing)
 *   --looks N               of watch_lat at the last byte, before each dequeue (10)
 *   --in-turn               of send_bw: the sender dequeues once from each dispatcher after each post
 *   --wait                  dat_evd_wait instead of polling with dat_evd_dequeue
 *   --cpus A,B              CPUs of the first and of the second process
 *   --limit SECONDS         maximum time (120)
 */
#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct test {
    const char *name;
    void (*run)(struct plan *, void *);
    enum what what;
} tests[] = {
    { "send_lat", run_latency, SEND }, { "watch_lat", run_latency, WRITE }, { "send_bw", run_stream, SEND },
    { "delay", run_delay, WRITE }, { "delay_silent", run_delay, SILENT },
    { "watched", run_watched, WRITE }, { "calls", run_calls, SEND },
    { "connections", run_connections, SEND }, { "round", run_round, SEND }, { "all_to_all", run_mesh, SEND },
#ifdef DAT2
    { "datagram_lat", run_latency, DATAGRAM },
#endif
};

static void usage(const char *problem, const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", problem, what);
    fprintf(stderr, "usage: bench TEST [OPTION]...; see tests-c/bench/main.c\n");
    exit(2);
}

static long number(const char *option, const char *text)
{
    char *end;
    long n;

    if (text == NULL)
        usage("a number is missing", option);
    n = strtol(text, &end, 10);
    if (end == text || *end != 0 || n < 1)
        usage(option, text);
    return n;
}

/* Splits "A,B", or uses one value for both. */
static void two(char *text, const char *value[2])
{
    char *comma = strchr(text, ',');

    value[0] = value[1] = text;
    if (comma != NULL) {
        *comma = 0;
        value[1] = comma + 1;
    }
}

static void options(struct plan *plan, char **arg)
{
    const char *value[2];

    for (; *arg != NULL; arg++) {
        if (strcmp(*arg, "--wait") == 0) {
            plan->wait = 1;
            continue;
        }
        if (strcmp(*arg, "--in-turn") == 0) {
            plan->in_turn = 1;
            continue;
        }
        if (arg[1] == NULL)
            usage("no such option, or no value", *arg);
        if (strcmp(*arg, "--adapter") == 0) {
            plan->adapter = arg[1];
        } else if (strcmp(*arg, "--cpus") == 0) {
            two(arg[1], value);
            plan->cpu[0] = atoi(value[0]);
            plan->cpu[1] = atoi(value[1]);
        } else if (strcmp(*arg, "--size") == 0) {
            plan->size = (size_t)number(*arg, arg[1]);
        } else if (strcmp(*arg, "--iterations") == 0) {
            plan->iterations = number(*arg, arg[1]);
        } else if (strcmp(*arg, "--outstanding") == 0) {
            plan->outstanding = (int)number(*arg, arg[1]);
        } else if (strcmp(*arg, "--processes") == 0) {
            plan->processes = (int)number(*arg, arg[1]);
        } else if (strcmp(*arg, "--looks") == 0) {
            plan->looks = (int)number(*arg, arg[1]);
        } else if (strcmp(*arg, "--past") == 0) {
            plan->past = arg[1];
        } else if (strcmp(*arg, "--limit") == 0) {
            plan->limit = (unsigned)number(*arg, arg[1]);
        } else {
            usage("no such option", *arg);
        }
        arg++;
    }
    if (plan->iterations == 0 && plan->run == run_delay)
        plan->iterations = 200;
    if (plan->iterations == 0 && plan->run == run_connections)
        plan->iterations = 1000;
    if (plan->iterations == 0)
        plan->iterations = plan->size <= 4096 ? 20000 : plan->size <= 65536 ? 5000 : 500;
    plan->warmup = plan->iterations / 10 + 1;
    if (plan->outstanding == 0)
        plan->outstanding = plan->run == run_stream || plan->run == run_connections ? 64
                            : plan->run == run_watched                              ? 8
                                                                                    : 1;
}

static void pin(int cpu)
{
    cpu_set_t set;

    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        fail("there is no processor %d", cpu);
}

/* Handles SIGCHLD: if the second process failed, ends the first process, which would otherwise poll indefinitely. */
static void second_ended(int number, siginfo_t *info, void *context)
{
    static const char text[] = "bench (first process): the second process failed\n";

    (void)number;
    (void)context;
    if (info->si_code == CLD_EXITED && info->si_status == 0)
        return;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

static void take_part(struct plan *plan, int second, int fd)
{
    static struct node node;

    role = second ? "second process" : "first process";
    link_set(fd);
    pin(plan->cpu[second]);
    node_open(&node, plan, second);
    node_connect(&node);
    plan->run(plan, &node);
    node_close(&node);
}

int main(int argc, char **argv)
{
    static struct plan plan = { .cpu = { -1, -1 }, .size = 8, .processes = 32, .looks = 10, .past = "nothing", .limit = 120 };
    static char shm[] = "shm";
    struct sigaction action = { .sa_sigaction = second_ended, .sa_flags = SA_SIGINFO | SA_RESTART };
    int ends[2], status;
    pid_t child;

    for (size_t i = 0; argc > 1 && i < sizeof tests / sizeof tests[0]; i++)
        if (strcmp(argv[1], tests[i].name) == 0) {
            plan.run = tests[i].run;
            plan.what = tests[i].what;
        }
    if (plan.run == NULL)
        usage("no such test", argc > 1 ? argv[1] : "none");
    plan.adapter = shm;
    options(&plan, argv + 2);
    if (plan.run == run_mesh || plan.run == run_round) {
        alarm(plan.limit);
        if (plan.run == run_round)
            pin(plan.cpu[0]);
        plan.run(&plan, NULL);
        return 0;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        fail("no socket");
    sigaction(SIGCHLD, &action, NULL);
    child = fork();
    if (child < 0)
        fail("no second process");
    alarm(plan.limit);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        take_part(&plan, 1, ends[1]);
        return 0;
    }
    close(ends[1]);
    take_part(&plan, 0, ends[0]);
    if (waitpid(child, &status, 0) != child || status != 0)
        fail("the second process failed");
    return 0;
}
