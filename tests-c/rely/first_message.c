/*
 * first_message.c - a message directly after the first connection between two processes.
 *
 * The receiver makes no call after DAT_CONNECTION_EVENT_ESTABLISHED, and reads its memory. The sender posts as soon as it
 * has the event. Only a new process has no link to the receiver yet, so each round starts one.
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 64 };

static int sender(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    struct sockaddr_storage to;
    DAT_CONN_QUAL qual;
    DAT_EVENT e;
    bool passive;
    DAT_PSP_HANDLE psp;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, SIZE, MEM_LOCAL);
    memset(r.mem, 1, SIZE);
    must(LINK_RECV(up, passive), "no orders");
    if (passive) {
        psp = fx_listen(&fx, &qual);
        must(link_send(up, &fx.address, sizeof fx.address) && LINK_SEND(up, qual), "the receiver has exited");
        must_rc(dat_cr_accept(next_request(fx.cr), s.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    } else {
        must(LINK_RECV(up, to) && LINK_RECV(up, qual), "no orders");
        must_rc(side_connect(&s, (DAT_IA_ADDRESS_PTR)&to, qual), DAT_SUCCESS, "dat_ep_connect");
    }
    must(poll_event(s.conn, &e) && e.event_number == DAT_CONNECTION_EVENT_ESTABLISHED, "no connection");
    must_rc(post_send(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_send");
    must(link_hear(up, "bye"), "the receiver has exited");
    fx_close(&fx);
    return 0;
}

/*
 * Runs both processes on one CPU, and the library's threads of this process only while no other thread wants it. The
 * sender then replies to each message before they look for the next one.
 */
static void slow_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct sched_param none = { 0 };
    cpu_set_t all, one;
    struct dirent *task;
    int cpu = 0;

    must(sched_getaffinity(0, sizeof all, &all) == 0 && tasks != NULL, "no affinity, or no /proc");
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    while ((task = readdir(tasks)) != NULL) {
        pid_t tid = (pid_t)atoi(task->d_name);

        if (tid == 0)
            continue;
        must(sched_setaffinity(tid, sizeof one, &one) == 0, "sched_setaffinity");
        if (tid != getpid())
            must(sched_setscheduler(tid, SCHED_IDLE, &none) == 0, "sched_setscheduler");
    }
    closedir(tasks);
}

static bool arrived(void *mem)
{
    return ((volatile unsigned char *)mem)[SIZE - 1] == 1;
}

static const struct peer_role roles[] = { { "sender", sender }, { NULL, NULL } };

int main(int argc, char **argv)
{
    struct fx fx;
    struct region r;

    env_init(argc, argv, roles);
    if (env_has_device())
        skip_all("a device writes messages itself");
    fx_open(&fx);
    slow_threads();
    region_make(&fx, &r, SIZE, MEM_LOCAL);
    for (int way = 0; way < 2; way++) {
        const int most = env_count(200, 5);
        const uint64_t end = now_ms() + env_ms(SOON_MS);
        bool passive = way == 1;
        int rounds = 0, good = 0;

        /* The first lost message ends the rounds. */
        for (; rounds < most && good == rounds && now_ms() < end; rounds++) {
            struct side s;
            struct peer p;
            struct sockaddr_storage to;
            DAT_CONN_QUAL qual;
            DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;

            side_make(&s, &fx, NULL);
            memset(r.mem, 0, SIZE);
            must_rc(post_recv(&s, &r, 0, SIZE, 1), DAT_SUCCESS, "dat_ep_post_recv");
            peer_start(&p, "sender");
            must(LINK_SEND(&p.link, passive), "the sender has exited");
            if (passive) {
                must(LINK_RECV(&p.link, to) && LINK_RECV(&p.link, qual), "the sender has exited");
                must_rc(side_connect(&s, (DAT_IA_ADDRESS_PTR)&to, qual), DAT_SUCCESS, "dat_ep_connect");
            } else {
                psp = fx_listen(&fx, &qual);
                must(link_send(&p.link, &fx.address, sizeof fx.address) && LINK_SEND(&p.link, qual),
                     "the sender has exited");
                must_rc(dat_cr_accept(next_request(fx.cr), s.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
            }
            must(wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no connection");
            good += wait_until(arrived, r.mem, SOON_MS);
            must(link_say(&p.link, "bye") && peer_join(&p, SOON_MS) == 0, "the sender has failed");
            if (psp != DAT_HANDLE_NULL)
                must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
            side_free(&s);
        }
        is_int(good, rounds, "the first message of a new process, %s: arrives without a call of the receiver",
               passive ? "to which the receiver connects" : "which connects to the receiver");
        diag("%d of at most %d rounds", rounds, most);
    }
    fx_close(&fx);
    return done_testing();
}
