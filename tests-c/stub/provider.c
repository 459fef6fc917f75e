/*
 * provider.c - a provider in C.
 *
 * Like all providers, it is not linked with libdat, and finds its functions in the process. It has
 * minimal IAs, EVDs and PZs for the tests of the registry. All other slots are NULL.
 *
 * It logs its calls to the file $STUB_LOG, one line each:
 *
 *   init NAME MAJOR.MINOR THREADSAFE INSTANCE-DATA
 *   add TYPE                  result of dat_registry_add_provider()
 *   open NAME, close, fini NAME, remove TYPE
 *
 * and in 2.0
 *
 *   asks TYPE, asks itself    result of dats_get_ia_handle() while the adapter "asks" is opened, and
 *                             while "stay" rejects a close
 *   related NAME              a query about another adapter
 *   op NUMBER WORD...         an extended operation with NUMBER words
 *
 * Variants at compile time:
 *
 *   STUB_NO_INIT:     it has no dat_provider_init
 *   STUB_CONSTRUCTOR: no dat_provider_init; a constructor registers the adapter "constructed"
 *   STUB_MUTE:        dat_provider_init registers nothing
 *   STUB_TWICE:       dat_provider_init registers twice
 *   STUB_UNRESOLVED:  it has an undefined symbol
 *   STUB_FORGETS:     dat_provider_fini removes nothing
 *   STUB_TAG:         a word after "init"
 *   STUB_WILD:        the instance data select an action of init or fini, see wild()
 *
 * The adapter "refuse" fails in ia_open, "stay" fails in ia_close, "friend" is related to all others, and
 * "foe" to none. For other adapters the relation is unknown.
 */
#define _GNU_SOURCE
#include "common/dat.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ERROR(type, subtype) ((DAT_RETURN)(DAT_CLASS_ERROR | (type) | (subtype)))
#define PUBLIC __attribute__((visibility("default")))

#ifndef STUB_TAG
#define STUB_TAG ""
#endif

/* An object. The interface requires the table as its first field. */
struct object {
    const DAT_PROVIDER *provider;
    DAT_HANDLE_TYPE kind;
    int alive;
    struct object *ia;
    DAT_CONTEXT context;
    char name[DAT_NAME_MAX_LENGTH];
    DAT_COUNT events;
};

static DAT_PROVIDER table;

static void note(const char *what, const char *detail)
{
    const char *path = getenv("STUB_LOG");
    FILE *f = path != NULL ? fopen(path, "a") : NULL;

    if (f != NULL) {
        fprintf(f, "%s%s%s\n", what, detail[0] != '\0' ? " " : "", detail);
        fclose(f);
    }
}

static void note_type(const char *what, DAT_RETURN rc)
{
    char text[16];

    snprintf(text, sizeof text, "0x%08x", (unsigned)DAT_GET_TYPE(rc));
    note(what, text);
}

/* Objects are in a cyclic pool, so that stale handles point to dead objects. */
#define POOL 4096
static struct object pool[POOL];
static unsigned next;

static struct object *object(DAT_HANDLE handle, DAT_HANDLE_TYPE kind)
{
    struct object *o = handle;

    return o != NULL && o->alive && o->kind == kind ? o : NULL;
}

static struct object *make(DAT_HANDLE_TYPE kind, struct object *ia)
{
    struct object *o;

    for (unsigned tries = 0; tries < POOL; tries++) {
        o = &pool[__sync_fetch_and_add(&next, 1u) % POOL];
        if (__sync_bool_compare_and_swap(&o->alive, 0, 1)) {
            o->provider = &table;
            o->kind = kind;
            o->ia = ia;
            o->context.as_64 = 0;
            o->events = 0;
            return o;
        }
    }
    return NULL;
}

static void end(struct object *o)
{
    for (unsigned i = 0; i < POOL; i++)
        if (pool[i].alive && pool[i].ia == o)
            pool[i].alive = 0;
    o->alive = 0;
}

/* Asks the registry for the handle of an adapter. */
static void ask(struct object *o)
{
#if UDAPL == 20
    DAT_IA_HANDLE same = DAT_HANDLE_NULL;

    note_type("asks", dats_get_ia_handle(AS_IA(o), &same));
    note("asks", same == o ? "itself" : "another");
#else
    (void)o;
#endif
}

static DAT_RETURN ia_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd,
                          DAT_IA_HANDLE *ia)
{
    struct object *o;

    note("open", name);
    if (strcmp(name, "refuse") == 0)
        return ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
    if (*evd == DAT_HANDLE_NULL && qlen < 1)
        return ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    o = make(DAT_HANDLE_TYPE_IA, NULL);
    if (o == NULL)
        return ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    snprintf(o->name, sizeof o->name, "%s", name);
    if (*evd == DAT_HANDLE_NULL)
        *evd = make(DAT_HANDLE_TYPE_EVD, o);
    if (strcmp(name, "asks") == 0)
        ask(o);
    *ia = o;
    return DAT_SUCCESS;
}

static DAT_RETURN ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *evd, DAT_IA_ATTR_MASK ia_mask,
                           DAT_IA_ATTR *ia_attr, DAT_PROVIDER_ATTR_MASK mask,
                           DAT_PROVIDER_ATTR *attr)
{
    struct object *o = object(ia, DAT_HANDLE_TYPE_IA);

    if (o == NULL)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if ((ia_mask != 0 && ia_attr == NULL) || (mask != 0 && attr == NULL))
        return ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (evd != NULL)
        *evd = DAT_HANDLE_NULL;
    if (ia_mask != 0) {
        memset(ia_attr, 0, sizeof *ia_attr);
        memcpy(ia_attr->adapter_name, o->name, sizeof o->name);
    }
    if (mask != 0) {
        memset(attr, 0, sizeof *attr);
        attr->dapl_version_major = DAT_VERSION_MAJOR;
        attr->dapl_version_minor = DAT_VERSION_MINOR;
    }
    return DAT_SUCCESS;
}

static DAT_RETURN ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
    struct object *o = object(ia, DAT_HANDLE_TYPE_IA);

    if (o == NULL)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    /* The code lacks the class bit, as in some C providers. */
    if (strcmp(o->name, "stay") == 0 && flags == DAT_CLOSE_GRACEFUL_FLAG) {
        ask(o);
        return (DAT_RETURN)(DAT_INVALID_STATE | DAT_INVALID_STATE_IA_IN_USE);
    }
    note("close", "");
    end(o);
    return DAT_SUCCESS;
}

static DAT_RETURN set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context)
{
    struct object *o = handle;

    if (!o->alive)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    o->context = context;
    return DAT_SUCCESS;
}

static DAT_RETURN get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context)
{
    struct object *o = handle;

    if (!o->alive)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    *context = o->context;
    return DAT_SUCCESS;
}

static DAT_RETURN get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *kind)
{
    struct object *o = handle;

    if (!o->alive)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    *kind = o->kind;
    return DAT_SUCCESS;
}

static DAT_RETURN evd_create(DAT_IA_HANDLE ia, DAT_COUNT qlen, DAT_CNO_HANDLE cno,
                             DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd)
{
    struct object *o = object(ia, DAT_HANDLE_TYPE_IA);

    (void)cno;
    (void)flags;
    if (o == NULL)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (qlen < 1)
        return ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    *evd = make(DAT_HANDLE_TYPE_EVD, o);
    return DAT_SUCCESS;
}

static DAT_RETURN evd_post_se(DAT_EVD_HANDLE evd, const DAT_EVENT *event)
{
    struct object *o = object(evd, DAT_HANDLE_TYPE_EVD);

    if (o == NULL)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    if (event == NULL || event->event_number != DAT_SOFTWARE_EVENT)
        return ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    o->events++;
    return DAT_SUCCESS;
}

static DAT_RETURN evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    struct object *o = object(evd, DAT_HANDLE_TYPE_EVD);

    if (o == NULL)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    if (o->events == 0)
        return DAT_QUEUE_EMPTY;
    o->events--;
    memset(event, 0, sizeof *event);
    event->event_number = DAT_SOFTWARE_EVENT;
    event->evd_handle = evd;
    return DAT_SUCCESS;
}

/* Waits in a cancellation point, like real providers. */
static DAT_RETURN evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                           DAT_EVENT *event, DAT_COUNT *more)
{
    struct object *o = object(evd, DAT_HANDLE_TYPE_EVD);

    (void)threshold;
    if (o == NULL)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    *more = 0;
    if (o->events > 0)
        return evd_dequeue(evd, event);
    poll(NULL, 0, timeout == DAT_TIMEOUT_INFINITE ? -1 : (int)(timeout / 1000));
    return ERROR(DAT_TIMEOUT_EXPIRED, DAT_NO_SUBTYPE);
}

static DAT_RETURN evd_free(DAT_EVD_HANDLE evd)
{
    struct object *o = object(evd, DAT_HANDLE_TYPE_EVD);

    if (o == NULL)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    o->alive = 0;
    return DAT_SUCCESS;
}

static DAT_RETURN pz_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz)
{
    struct object *o = object(ia, DAT_HANDLE_TYPE_IA);

    if (o == NULL)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    *pz = make(DAT_HANDLE_TYPE_PZ, o);
    return DAT_SUCCESS;
}

static DAT_RETURN pz_free(DAT_PZ_HANDLE pz)
{
    struct object *o = object(pz, DAT_HANDLE_TYPE_PZ);

    if (o == NULL)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    o->alive = 0;
    return DAT_SUCCESS;
}

#if UDAPL == 20
static DAT_RETURN ia_ha_related(DAT_IA_HANDLE ia, const DAT_NAME_PTR name, DAT_BOOLEAN *answer)
{
    struct object *o = object(ia, DAT_HANDLE_TYPE_IA);

    if (o == NULL)
        return ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    note("related", name);
    if (strcmp(o->name, "friend") != 0 && strcmp(o->name, "foe") != 0)
        return ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    *answer = o->name[1] == 'r' ? DAT_TRUE : DAT_FALSE;
    return DAT_SUCCESS;
}

static DAT_RETURN extended(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list arguments)
{
    char text[512];
    int length;

    (void)handle;
    if (op < 0 || op > 16)
        return ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
    length = snprintf(text, sizeof text, "%d", (int)op);
    for (int i = 0; i < op; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, " %llu",
                           va_arg(arguments, unsigned long long));
    note("op", text);
    return DAT_SUCCESS;
}
#endif

static DAT_PROVIDER table = {
    .device_name = "stub",
    .ia_open_func = ia_open,
    .ia_query_func = ia_query,
    .ia_close_func = ia_close,
    .set_consumer_context_func = set_consumer_context,
    .get_consumer_context_func = get_consumer_context,
    .get_handle_type_func = get_handle_type,
    .evd_create_func = evd_create,
    .evd_post_se_func = evd_post_se,
    .evd_dequeue_func = evd_dequeue,
    .evd_wait_func = evd_wait,
    .evd_free_func = evd_free,
    .pz_create_func = pz_create,
    .pz_free_func = pz_free,
#if UDAPL == 20
    .ia_ha_related_func = ia_ha_related,
    .handle_extendedop_func = extended,
#endif
};

#ifdef STUB_UNRESOLVED
extern int stub_function_that_does_not_exist(void);
PUBLIC int stub_unresolved(void);
int stub_unresolved(void)
{
    return stub_function_that_does_not_exist();
}
#endif

#ifdef STUB_CONSTRUCTOR
__attribute__((constructor)) static void constructed(void)
{
    DAT_PROVIDER_INFO info;

    memset(&info, 0, sizeof info);
    strcpy(info.ia_name, "constructed");
    info.dapl_version_major = DAT_VERSION_MAJOR;
    info.dapl_version_minor = DAT_VERSION_MINOR;
    info.is_thread_safe = DAT_TRUE;
    note_type("add", dat_registry_add_provider(&table, &info));
}
#elif !defined(STUB_NO_INIT)
#ifdef STUB_WILD
/* Instance data of the last init. fini gets none. */
static char told[64];

/* Does what providers should not do. when is "before" or "after" the registration, or "fini". */
static void wild(const DAT_PROVIDER_INFO *info, const char *when)
{
    char action[32] = "";

    if (strncmp(told, when, strlen(when)) != 0 ||
        sscanf(told + strlen(when), " %31s", action) != 1)
        return;
    if (strcmp(action, "exits") == 0)
        pthread_exit(NULL);
    if (strcmp(action, "is_cancelled") == 0) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    if (strcmp(action, "once") == 0) {
        told[0] = '\0';
        setenv("STUB_ONCE", "1", 1);
        pthread_exit(NULL);
    }
    if (strcmp(action, "waits") == 0) {
        char path[4096];
        int tries = 0;

        snprintf(path, sizeof path, "%s/go", getenv("SCENE_DIR"));
        while (access(path, F_OK) != 0 && tries++ < 4000)
            poll(NULL, 0, 10);
        note("waits", tries < 4000 ? "until go" : "in vain");
    }
    if (strcmp(action, "leaves") == 0)
        exit(0);
    if (strcmp(action, "opens") == 0 || strcmp(action, "opens_itself") == 0) {
        DAT_RETURN (*open)(const DAT_NAME_PTR, DAT_COUNT, DAT_EVD_HANDLE *, DAT_IA_HANDLE *,
                           DAT_UINT32, DAT_UINT32, DAT_BOOLEAN);
        DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
        DAT_IA_HANDLE ia;

        *(void **)&open = dlsym(RTLD_DEFAULT, "dat_ia_openv");
        note_type(action, open(strcmp(action, "opens") == 0 ? (char *)"other" : (char *)info->ia_name,
                               8, &evd, &ia, DAT_VERSION_MAJOR, DAT_VERSION_MINOR, DAT_FALSE));
    }
    if (strcmp(action, "forks") == 0) {
        pid_t child = fork();
        int status = -1;

        if (child == 0)
            _exit(7);
        waitpid(child, &status, 0);
        note("child", WIFEXITED(status) && WEXITSTATUS(status) == 7 ? "7" : "lost");
    }
}
#endif

PUBLIC void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *instance_data);
void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *instance_data)
{
    char text[1024];

#ifdef STUB_WILD
    snprintf(told, sizeof told, "%s", getenv("STUB_ONCE") != NULL ? "" : instance_data);
    wild(info, "before");
#endif

    snprintf(text, sizeof text, "%s %u.%u %u %s", info->ia_name,
             (unsigned)info->dapl_version_major, (unsigned)info->dapl_version_minor,
             (unsigned)info->is_thread_safe, instance_data);
    note("init" STUB_TAG, text);
#ifndef STUB_MUTE
    note_type("add", dat_registry_add_provider(&table, info));
#endif
#ifdef STUB_TWICE
    note_type("add", dat_registry_add_provider(&table, info));
#endif
#ifdef STUB_WILD
    wild(info, "after");
#endif
}
#endif

PUBLIC void dat_provider_fini(const DAT_PROVIDER_INFO *info);
void dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
    note("fini", info->ia_name);
#ifdef STUB_WILD
    wild(info, "fini");
#endif
#ifndef STUB_FORGETS
    note_type("remove", dat_registry_remove_provider(&table, info));
#endif
}
