/* stopped_owner.c - processes are stopped or killed while they claim and release qualifiers. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include "common/fixture.h"
#include "common/place.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 40000, QUALIFIERS = 4, WORKERS = 4 };

static int worker(struct link *up)
{
    struct fx fx;
    DAT_PSP_HANDLE psp;

    fx_open(&fx);
    must(link_say(up, "works"), "the other process is gone");
    for (unsigned i = 0;; i++)
        if (dat_psp_create(fx.ia, FIRST + i % QUALIFIERS, fx.cr, DAT_PSP_CONSUMER_FLAG, &psp) == DAT_SUCCESS)
            must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    return 1;
}

/* The second process: locks the rendezvous directory and the file `lock` in it, and stops itself. */
static int holder(struct link *up)
{
    struct fx fx;
    DAT_PSP_HANDLE psp;
    char path[300];
    int fd;

    fx_open(&fx);
    must_rc(dat_psp_create(fx.ia, FIRST, fx.cr, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS, "dat_psp_create");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    snprintf(path, sizeof path, "%s/lock", place_path());
    fd = open(path, O_RDWR | O_CREAT, 0600);
    must(fd >= 0 && flock(fd, LOCK_EX) == 0, "no lock");
    fd = open(place_path(), O_RDONLY);
    must(fd >= 0, "no directory");
    flock(fd, LOCK_EX | LOCK_NB);
    must(link_say(up, "holds"), "the other process is gone");
    raise(SIGSTOP);
    return 0;
}

static int newcomer(struct link *up)
{
    struct fx fx;

    (void)up;
    fx_open(&fx);
    fx_listen(&fx, &(DAT_CONN_QUAL){ 0 });
    fx_close(&fx);
    return 0;
}

/* Claims and frees each qualifier. Returns how many were free. Raises *longest to the longest time of a call in ms. */
static int try_all(struct fx *fx, uint64_t *longest)
{
    int got = 0;

    for (int i = 0; i < QUALIFIERS; i++) {
        DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
        uint64_t start = now_ms();
        DAT_RETURN rc = dat_psp_create(fx->ia, FIRST + i, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp);

        must(rc == DAT_SUCCESS || DAT_GET_TYPE(rc) == DAT_CONN_QUAL_IN_USE, "dat_psp_create: %s", rc_text(rc));
        if (rc == DAT_SUCCESS) {
            got++;
            must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
        }
        if (now_ms() - start > *longest)
            *longest = now_ms() - start;
    }
    return got;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = {
        { "worker", worker }, { "holder", holder }, { "newcomer", newcomer }, { NULL, NULL }
    };
    struct peer workers[WORKERS], p;
    struct fx fx;
    uint64_t longest = 0, start;
    int rounds = env_count(25, 3), all = 0;

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("the directory is that of the adapter shm");
    if (env_valgrind())
        skip_all("valgrind is too slow for the moments at which processes are stopped");
    place_make();
    fx_open(&fx);
    alarm(env_ms(100000) / 1000); /* ends the process if a call blocks */

    peer_start(&p, "holder");
    must(link_hear(&p.link, "holds"), "the other process fails");
    is_int(try_all(&fx, &longest), QUALIFIERS, "dat_psp_create: a stopped process has the directory locked: success");
    start = now_ms();
    {
        struct peer fresh;

        peer_start(&fresh, "newcomer");
        ok(peer_join(&fresh, SOON_MS) == 0, "dat_ia_open: a stopped process has the directory locked: success");
    }
    ok(longest < env_ms(4000) && now_ms() - start < env_ms(10000), "a stopped process has the directory locked: nobody waits, %lu ms",
       (unsigned long)longest);
    peer_kill(&p);

    longest = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < WORKERS; i++) {
            peer_start(&workers[i], "worker");
            must(link_hear(&workers[i].link, "works"), "a worker fails");
        }
        for (int i = 0; i < WORKERS; i++) {
            usleep((useconds_t)(rand() % 2000));
            kill(workers[i].pid, SIGSTOP);
        }
        for (int i = 0; i < WORKERS; i++)
            waitpid(workers[i].pid, NULL, WUNTRACED);
        try_all(&fx, &longest);
        for (int i = 0; i < WORKERS; i++)
            peer_kill(&workers[i]);
        all += try_all(&fx, &longest) == QUALIFIERS;
    }
    ok(longest < env_ms(4000), "dat_psp_create: processes are stopped while they take qualifiers: nobody waits, %lu ms",
       (unsigned long)longest);
    is_int(all, rounds, "dat_psp_create: they are killed there: every qualifier can be taken");
    fx_close(&fx);
    peer_start(&p, "newcomer");
    peer_ok(&p, "dat_ia_open: cleans up what they left");
    ok(place_count("p-") == 0 && place_count("q-") == 0 && place_count("t-") == 0,
       "nothing of the dead is left: %d sockets, %d claims, %d unfinished", place_count("p-"), place_count("q-"),
       place_count("t-"));
    place_end();
    return done_testing();
}
