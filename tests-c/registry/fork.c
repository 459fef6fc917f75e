/* fork.c - the registry in a forked child, also if other threads use it during the fork. */
#define _POSIX_C_SOURCE 200809L
#include "registry/entries.h"

#include "common/tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;

static void *churn(void *name)
{
    DAT_IA_HANDLE ia;

    while (!stop)
        if (open_named(name, &ia) == DAT_SUCCESS)
            dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
    return NULL;
}

/* The child: returns 0 if the registry works, or the number of the failed step. */
static int in_child(const char *name)
{
    DAT_IA_HANDLE ia;
    DAT_COUNT n = 0;

    alarm(30);
    dat_registry_list_providers(0, &n, NULL);
    if (n != 3)
        return 1;
    if (open_named(name, &ia) != DAT_SUCCESS)
        return 2;
    return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS ? 0 : 3;
}

static int forked(const char *name)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(in_child(name));
    waitpid(pid, &status, 0);
    return status;
}

static void simple(void)
{
    DAT_IA_HANDLE ia;
    int status = forked("a");

    scene_ok(status == 0, "before the first use: the child opens an adapter");
    scene_opens("a", &ia);
    status = forked("a");
    scene_ok(status == 0, "with an adapter open: the child opens it");
    status = forked("b");
    scene_ok(status == 0, "with an adapter open: the child opens another");
    scene_closes(ia);
}

static void forks(int count, const char *what)
{
    pthread_t threads[2];
    int bad = 0, rounds;
    const char *names[2] = { "a", "b" };

    if (getenv("LD_PRELOAD") != NULL) {
        scene_skip("to a leak checker the child lacks the stacks of the other threads");
        return;
    }
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, churn, (void *)(size_t)names[i]) != 0)
            scene_ok(false, "pthread_create");
    for (rounds = 0; rounds < count && bad == 0; rounds++)
        bad = forked("c");
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (!scene_ok(bad == 0, "%s", what))
        scene_ok(false, "fork %d: status 0x%x", rounds, (unsigned)bad);
}

static void among_threads(void)
{
    forks(200, "200 forks while threads open and close: each child opens an adapter");
}

/* Forks while other threads make their first calls. */
static void first_calls(void)
{
    forks(1, "a fork while threads make their first calls: the child opens an adapter");
}

static const struct scene scenes[] = {
    { "simple", simple },
    { "among threads", among_threads },
    { "first calls", first_calls },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    const struct setting three = { .conf = ENTRY("a") ENTRY("b") ENTRY("c"),
                                   .env = { "STUB_LOG=/dev/null" } };

    scene_enter(argc, argv, scenes);
    scene_play("simple", &three);
    scene_play("among threads", &three);
    for (int i = 0; i < 20; i++)
        scene_play("first calls", &three);
    return done_testing();
}
