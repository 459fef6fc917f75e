/*
 * foreign_libdat.c - a minimal third-party libdat, which shares no code with ours, and a program that
 * uses the table of the provider in $FOREIGN_PROVIDER. In uDAPL 2.0 it identifies adapters by small numbers, as
 * the C library does. This program is linked with -rdynamic, so the provider finds its functions.
 */
#define _POSIX_C_SOURCE 200809L
#include "registry/scene.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const DAT_PROVIDER *registered;
static DAT_PROVIDER_INFO registered_as;
static int added, removed;

DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info)
{
    added++;
    registered = provider;
    registered_as = *info;
    return DAT_SUCCESS;
}

DAT_RETURN dat_registry_remove_provider(const DAT_PROVIDER *provider,
                                        const DAT_PROVIDER_INFO *info)
{
    if (provider != registered || strcmp(info->ia_name, registered_as.ia_name) != 0)
        return (DAT_RETURN)(DAT_CLASS_ERROR | DAT_INVALID_PARAMETER);
    removed++;
    registered = NULL;
    return DAT_SUCCESS;
}

/* The open adapter, as the provider knows it, and its number for programs. */
static DAT_IA_HANDLE opened;
#define NUMBER ((DAT_IA_HANDLE)(uintptr_t)1)

#if UDAPL == 20

/* Returns the number of an adapter. 2.0 providers call it for queries. */
DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE handle, DAT_IA_HANDLE *ia_handle)
{
    if (opened == NULL || handle != opened)
        return (DAT_RETURN)(DAT_CLASS_ERROR | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_IA);
    *ia_handle = NUMBER;
    return DAT_SUCCESS;
}

#define NAMED NUMBER

#else

#define NAMED opened

#endif

/* Checks that queries return the adapter as the program knows it. */
static void queries(const DAT_PROVIDER *p, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE evd)
{
    DAT_PZ_PARAM pz_param;
    DAT_EVD_PARAM evd_param;
    DAT_CNO_PARAM cno_param;
    DAT_EP_PARAM ep_param;
    DAT_CNO_HANDLE cno = NULL;
    DAT_EP_HANDLE ep = NULL;

    scene_type(p->pz_query_func(pz, DAT_PZ_FIELD_ALL, &pz_param), DAT_SUCCESS, "pz_query: success");
    scene_ok(pz_param.ia_handle == NAMED, "pz_query: the adapter as the program knows it");
    scene_type(p->evd_query_func(evd, DAT_EVD_FIELD_ALL, &evd_param), DAT_SUCCESS, "evd_query: success");
    scene_ok(evd_param.ia_handle == NAMED, "evd_query: the adapter as the program knows it");
    scene_type(p->cno_create_func(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS, "cno_create: success");
    scene_type(p->cno_query_func(cno, DAT_CNO_FIELD_ALL, &cno_param), DAT_SUCCESS, "cno_query: success");
    scene_ok(cno_param.ia_handle == NAMED, "cno_query: the adapter as the program knows it");
    scene_type(p->cno_free_func(cno), DAT_SUCCESS, "cno_free: success");
    scene_type(p->ep_create_func(ia, pz, NULL, NULL, NULL, NULL, &ep), DAT_SUCCESS, "ep_create: success");
    scene_type(p->ep_query_func(ep, DAT_EP_FIELD_ALL, &ep_param), DAT_SUCCESS, "ep_query: success");
    scene_ok(ep_param.ia_handle == NAMED, "ep_query: the adapter as the program knows it");
    scene_type(p->ep_free_func(ep), DAT_SUCCESS, "ep_free: success");
}

static bool slots_filled(const DAT_PROVIDER *p)
{
    const unsigned char *slot = (const unsigned char *)p;
    static const unsigned char null[sizeof(void *)];
    bool filled = true;

    /* All fields after device_name and extension are functions. */
    for (size_t at = 2 * sizeof(void *); at < sizeof *p; at += sizeof(void *))
        filled = filled && memcmp(slot + at, null, sizeof null) != 0;
    return filled;
}

static void drive(const DAT_PROVIDER *p, const char *name, bool whole)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd = NULL;
    DAT_IA_HANDLE ia = NULL;
    DAT_PZ_HANDLE pz = NULL;
    DAT_PROVIDER_ATTR attr;
    DAT_HANDLE_TYPE kind = DAT_HANDLE_TYPE_CR;
    DAT_EVENT event, got;
    DAT_COUNT more = -1;

    if (!scene_type(p->ia_open_func((DAT_NAME_PTR)name, 8, &async, &ia), DAT_SUCCESS,
                    "ia_open: success"))
        return;
    opened = ia;
    scene_ok(*(const DAT_PROVIDER **)ia == p, "the IA points to the table");
    scene_ok(async != NULL && *(const DAT_PROVIDER **)async == p, "so does its EVD");
    memset(&attr, 0, sizeof attr);
    scene_type(p->ia_query_func(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr), DAT_SUCCESS,
               "ia_query: success");
    scene_ok(attr.dapl_version_major == DAT_VERSION_MAJOR && attr.dapl_version_minor == DAT_VERSION_MINOR,
             "ia_query: version " API_VERSION);
    scene_type(p->pz_create_func(ia, &pz), DAT_SUCCESS, "pz_create: success");
    scene_type(p->get_handle_type_func(pz, &kind), DAT_SUCCESS, "get_handle_type: success");
    scene_ok(kind == DAT_HANDLE_TYPE_PZ, "get_handle_type: a protection zone");
    scene_type(p->evd_create_func(ia, 4, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd),
               DAT_SUCCESS, "evd_create: success");
    memset(&event, 0, sizeof event);
    event.event_number = DAT_SOFTWARE_EVENT;
    scene_type(p->evd_post_se_func(evd, &event), DAT_SUCCESS, "evd_post_se: success");
    scene_type(p->evd_wait_func(evd, 1000000, 1, &got, &more), DAT_SUCCESS, "evd_wait: success");
    scene_ok(got.event_number == DAT_SOFTWARE_EVENT && more == 0, "evd_wait: the event");
    scene_type(p->evd_dequeue_func(evd, &got), DAT_QUEUE_EMPTY, "evd_dequeue: DAT_QUEUE_EMPTY");
    if (whole)
        queries(p, ia, pz, evd);
    scene_type(p->evd_free_func(pz), DAT_INVALID_HANDLE,
               "evd_free of another kind: DAT_INVALID_HANDLE");
    scene_type(p->evd_free_func(evd), DAT_SUCCESS, "evd_free: success");
    scene_type(p->pz_free_func(pz), DAT_SUCCESS, "pz_free: success");
    opened = NULL;
    scene_type(p->ia_close_func(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "ia_close: success");
    scene_type(p->ia_close_func(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_HANDLE,
               "ia_close: twice: DAT_INVALID_HANDLE");
}

#if UDAPL == 20

typedef DAT_RETURN (*extended)(DAT_HANDLE, DAT_EXTENDED_OP, va_list);

static DAT_RETURN extension(extended function, DAT_HANDLE handle, int op, ...)
{
    va_list arguments;
    DAT_RETURN rc;

    va_start(arguments, op);
    rc = function(handle, (DAT_EXTENDED_OP)op, arguments);
    va_end(arguments);
    return rc;
}

/* Checks that a 2.0 provider exports the function of its extension slot as dapl_extensions. */
static void extensions(void *library)
{
    void *symbol = dlsym(library, "dapl_extensions");
    extended function;

    memcpy(&function, &symbol, sizeof function);
    if (scene_ok(function != NULL, "it has dapl_extensions")) {
        scene_ok(extension(function, NULL, DAT_IB_UD_SEND_OP, 0, 0) ==
                     extension(registered->handle_extendedop_func, NULL, DAT_IB_UD_SEND_OP, 0, 0),
                 "dapl_extensions does what its slot does");
    }
}

#else

static void extensions(void *library)
{
    (void)library;
}

#endif

/* A thread that uses the provider, and ends when may_end is posted. */
struct user {
    const char *name;
    sem_t used, may_end;
};

static void *use(void *argument)
{
    struct user *user = argument;

    drive(registered, user->name, false);
    sem_post(&user->used);
    sem_wait(&user->may_end);
    return NULL;
}

/* Unloads the provider, as C libraries do after its last adapter, while a thread that has used it still runs. */
static void unload(void *library, const char *path, const DAT_PROVIDER_INFO *info, DAT_PROVIDER_INIT_FUNC init,
                   DAT_PROVIDER_FINI_FUNC fini)
{
    struct user user = { .name = info->ia_name };
    pthread_t thread;
    void *left;

    init(info, "");
    sem_init(&user.used, 0, 0);
    sem_init(&user.may_end, 0, 0);
    if (!scene_ok(registered != NULL && pthread_create(&thread, NULL, use, &user) == 0, "a thread uses it"))
        return;
    sem_wait(&user.used);
    fini(info);
    scene_ok(dlclose(library) == 0, "the library is unloaded");
    sem_post(&user.may_end);
    scene_ok(pthread_join(thread, NULL) == 0, "a thread that used it ends after that");
    left = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    scene_ok(left != NULL, "its code is still there");
    if (left != NULL)
        dlclose(left);
}

static void play(const char *name, bool whole)
{
    const char *path = getenv("FOREIGN_PROVIDER");
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    DAT_PROVIDER_INIT_FUNC init;
    DAT_PROVIDER_FINI_FUNC fini;
    DAT_PROVIDER_INFO info;
    void *symbol;

    if (!scene_ok(library != NULL, "the provider library is loaded")) {
        scene_ok(false, "%s", dlerror());
        return;
    }
    symbol = dlsym(library, DAT_PROVIDER_INIT_FUNC_STR);
    memcpy(&init, &symbol, sizeof init);
    symbol = dlsym(library, DAT_PROVIDER_FINI_FUNC_STR);
    memcpy(&fini, &symbol, sizeof fini);
    if (!scene_ok(init != NULL && fini != NULL, "it has dat_provider_init and dat_provider_fini"))
        return;
    memset(&info, 0, sizeof info);
    strcpy(info.ia_name, name);
    info.dapl_version_major = DAT_VERSION_MAJOR;
    info.dapl_version_minor = DAT_VERSION_MINOR;
    info.is_thread_safe = DAT_TRUE;

    for (int round = 1; round <= 2; round++) {
        init(&info, "");
        scene_ok(added == round && registered != NULL, "init %d: it registers", round);
        if (registered == NULL)
            return;
        scene_ok(strcmp(registered_as.ia_name, name) == 0 &&
                     registered_as.dapl_version_major == DAT_VERSION_MAJOR &&
                     registered_as.dapl_version_minor == DAT_VERSION_MINOR &&
                     registered_as.is_thread_safe == DAT_TRUE,
                 "init %d: under the identity that it was given", round);
        if (whole) {
            scene_ok(slots_filled(registered), "every slot of its table has a function");
            extensions(library);
        }
        drive(registered, name, whole);
        fini(&info);
        scene_ok(removed == round && registered == NULL, "fini %d: it removes itself", round);
    }
    if (whole)
        unload(library, path, &info, init, fini);
}

static void stub(void)
{
    play("a", false);
}

static void shm(void)
{
    play("shm", true);
}

/* Tests a provider with the adapter $FOREIGN_ADAPTER, whose name contains the device or network interface. */
static void device(void)
{
    const char *name = getenv("FOREIGN_ADAPTER");

    if (scene_ok(name != NULL, "the name of an adapter is given"))
        play(name, true);
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = { { "stub", stub },
                                           { "shm", shm },
                                           { "verbs", device },
                                           { "tcp", device },
                                           { NULL, NULL } };

    scene_enter(argc, argv, scenes);
    return 2;
}
