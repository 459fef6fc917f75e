/*
 * wild.c - a provider's init or fini ends its thread, waits, forks, exits or calls libdat. The
 * program continues, and can open other adapters.
 */
#define _POSIX_C_SOURCE 200809L
#include "registry/entries.h"

#include "common/env.h"
#include "common/tap.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void others_work(void)
{
    DAT_IA_HANDLE ia;
    DAT_COUNT n = 0;

    if (scene_opens("other", &ia))
        scene_closes(ia);
    dat_registry_list_providers(0, &n, NULL);
    scene_ok(n == 2, "both adapters are listed");
}

/* Opens several times, because each open calls init again. */
static void init_ends_its_thread(void)
{
    for (int i = 0; i < 3; i++)
        scene_not_found("wild", DAT_NAME_NOT_REGISTERED);
    others_work();
    scene_not_found("wild", DAT_NAME_NOT_REGISTERED);
}

static void *open_wild(void *code)
{
    DAT_IA_HANDLE ia;

    *(DAT_RETURN *)code = open_named("wild", &ia);
    return code;
}

static void init_ends_its_thread_under_others(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    DAT_RETURN code[THREADS];
    int refused = 0;
    void *back;

    for (int i = 0; i < THREADS; i++)
        scene_ok(pthread_create(&thread[i], NULL, open_wild, &code[i]) == 0, "pthread_create");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], &back);
        refused += back == &code[i] && DAT_GET_TYPE(code[i]) == DAT_PROVIDER_NOT_FOUND;
    }
    scene_ok(refused == THREADS, "each thread comes back with DAT_PROVIDER_NOT_FOUND");
    others_work();
}

static void init_ends_its_thread_once(void)
{
    DAT_IA_HANDLE ia;

    scene_not_found("wild", DAT_NAME_NOT_REGISTERED);
    if (scene_opens("wild", &ia))
        scene_closes(ia);
    others_work();
}

static void fini_ends_its_thread(void)
{
    DAT_IA_HANDLE ia, more;

    for (int i = 0; i < 3; i++)
        if (scene_opens("wild", &ia) && scene_opens("wild", &more)) {
            scene_closes(ia);
            scene_closes(more);
        }
    others_work();
}

static void harmless(void)
{
    DAT_IA_HANDLE ia;

    for (int i = 0; i < 2; i++)
        if (scene_opens("wild", &ia))
            scene_closes(ia);
    others_work();
}

static void init_waits(void)
{
    pthread_t thread;
    DAT_RETURN code = DAT_SUCCESS;
    DAT_IA_HANDLE ia;
    char log[4096] = "";
    FILE *f;
    void *back;

    scene_ok(pthread_create(&thread, NULL, open_wild, &code) == 0, "pthread_create");
    if (scene_opens("other", &ia))
        scene_closes(ia);
    f = fopen(scene_path("go"), "w");
    scene_ok(f != NULL && fclose(f) == 0, "init may go on");
    pthread_join(thread, &back);
    f = fopen(scene_path("log"), "r");
    if (f != NULL && fread(log, 1, sizeof log - 1, f) > 0)
        fclose(f);
    scene_ok(strstr(log, "waits until go") != NULL, "another adapter opens meanwhile");
    scene_type(code, DAT_SUCCESS, "dat_ia_open wild: success");
}

static void init_leaves(void)
{
    DAT_IA_HANDLE ia;

    open_named("wild", &ia);
    scene_ok(false, "the process has left");
}

static const struct scene scenes[] = {
    { "init exits before it registers", init_ends_its_thread },
    { "init exits after it registered", init_ends_its_thread },
    { "init is cancelled", init_ends_its_thread },
    { "init exits, many threads", init_ends_its_thread_under_others },
    { "init exits once", init_ends_its_thread_once },
    { "fini exits", fini_ends_its_thread },
    { "init waits", init_waits },
    { "init forks", harmless },
    { "init leaves the process", init_leaves },
    { "init opens another adapter", harmless },
    { "init opens its own adapter", harmless },
    { "well-behaved", harmless },
    { NULL, NULL },
};

static const char *play(const char *name, const char *data)
{
    char conf[4096];

    snprintf(conf, sizeof conf,
             "wild " CONF_API " nonthreadsafe default %%S/libstub-wild.so STUB.1.0 \"%s\" \"\"\n%s", data,
             ENTRY("other"));
    return scene_play(name, &(struct setting){ .conf = conf, .env = { "DAT_DBG_TYPE=3" } });
}

static void tells(const char *name, const char *data, const char *line)
{
    ok(strstr(play(name, data), line) != NULL, "%s: a line tells of it", name);
}

int main(int argc, char **argv)
{
    scene_enter(argc, argv, scenes);
    tells("init exits before it registers", "before exits", "dat_provider_init ended the thread");
    tells("init exits after it registered", "after exits", "dat_provider_init ended the thread");
    tells("init is cancelled", "before is_cancelled", "dat_provider_init ended the thread");
    play("init exits, many threads", "before exits");
    play("init exits once", "after once");
    tells("fini exits", "fini exits", "dat_provider_fini ended the thread");
    play("init waits", "before waits");
    play("init forks", "before forks");
    play("init leaves the process", "before leaves");
    play("init opens another adapter", "before opens");
    tells("init opens its own adapter", "before opens_itself", "by the very thread that opens it");
    play("well-behaved", "");
    return done_testing();
}
