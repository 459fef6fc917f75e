/* device.c - state of the libraries of an RDMA device: see device.h. */
#define _GNU_SOURCE
#include "device.h"

#include "allocator.h"
#include "common/wait.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* RDMA_PS_TCP. The test needs no headers of the libraries, and looks up their functions. */
enum { PORTS_OF_TCP = 0x0106 };

typedef void **list_fn(int *count);
typedef void free_fn(void **list);
typedef void *channel_fn(void);
typedef void end_fn(void *channel);
typedef int id_fn(void *channel, void **id, void *context, int space);
typedef int bind_fn(void *id, struct sockaddr *address);
typedef int destroy_fn(void *id);

/*
 * Stores a function of a loaded library in *function, or NULL. Uses memcpy, because ISO C cannot convert an object
 * pointer to a function pointer.
 */
static bool find(const char *library, const char *name, void *function)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    void *found = handle != NULL ? dlsym(handle, name) : NULL;

    if (handle != NULL)
        dlclose(handle);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool has_devices(void)
{
    list_fn *list;
    free_fn *done;
    void **devices;
    int count = 0;

    if (!find("libibverbs.so.1", "ibv_get_device_list", &list) ||
        !find("libibverbs.so.1", "ibv_free_device_list", &done))
        return true;
    devices = list(&count);
    if (devices == NULL)
        return false;
    done(devices);
    return count > 0;
}

static bool has_address(const struct sockaddr *address)
{
    struct sockaddr_storage any_port;
    channel_fn *make;
    end_fn *end;
    id_fn *identify;
    bind_fn *name;
    destroy_fn *destroy;
    void *channel, *id = NULL;
    bool bound;

    if (!find("librdmacm.so.1", "rdma_create_event_channel", &make) ||
        !find("librdmacm.so.1", "rdma_destroy_event_channel", &end) ||
        !find("librdmacm.so.1", "rdma_create_id", &identify) || !find("librdmacm.so.1", "rdma_bind_addr", &name) ||
        !find("librdmacm.so.1", "rdma_destroy_id", &destroy))
        return true;
    memset(&any_port, 0, sizeof any_port);
    memcpy(&any_port, address,
           address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    if (address->sa_family == AF_INET6)
        ((struct sockaddr_in6 *)&any_port)->sin6_port = 0;
    else
        ((struct sockaddr_in *)&any_port)->sin_port = 0;
    channel = make();
    if (channel == NULL)
        return errno != ENODEV;
    bound = identify(channel, &id, NULL, PORTS_OF_TCP) != 0 ||
            name(id, (struct sockaddr *)&any_port) == 0 || errno != ENODEV;
    if (id != NULL)
        destroy(id);
    end(channel);
    return bound;
}

const char *device_lost(const struct sockaddr *address)
{
    if (!has_devices())
        return "libibverbs has no device";
    return has_address(address) ? NULL : "librdmacm does not know the device";
}

/* libibverbs with its drivers, librdmacm, and libnl, which they use. */
static const char *const libraries[] = { "libibverbs", "-rdmav", "librdmacm", "libnl-", NULL };

/* Libraries whose frames in a call stack count as frames of their callers. */
static const char *const system_libraries[] = { "/libc.so", "/ld-linux", NULL };

static const char **noted;

/* Returns the first of the names that is in the path of the code's library, or NULL. */
static const char *is_in(void *code, const char *const *names)
{
    Dl_info place;

    if (dladdr(code, &place) == 0 || place.dli_fname == NULL)
        return NULL;
    while (*names != NULL && strstr(place.dli_fname, *names) == NULL)
        names++;
    return *names;
}

/* Returns the device library of the innermost frame outside this program and the system libraries, or NULL. */
static const char *innermost(void *const *frames, int count)
{
    Dl_info place, self;

    dladdr((void *)(uintptr_t)innermost, &self);
    for (int i = 0; i < count; i++)
        if (dladdr(frames[i], &place) == 0 ||
            (place.dli_fbase != self.dli_fbase && is_in(frames[i], system_libraries) == NULL))
            return is_in(frames[i], libraries);
    return NULL;
}

static void died(int number)
{
    void *frames[32], *const *refused;
    int count = backtrace(frames, 32), before = allocator_refused(&refused);

    if (innermost(refused, before) != NULL)
        *noted = innermost(frames, count);
    if (*noted == NULL)
        backtrace_symbols_fd(frames, count, STDERR_FILENO);
    raise(number);
}

static bool looked_up;

static void *look_up(void *none)
{
    (void)dlsym(RTLD_DEFAULT, "dat_ia_openv");
    __atomic_store_n(&looked_up, true, __ATOMIC_SEQ_CST);
    return none;
}

static bool has_looked_up(void *none)
{
    (void)none;
    return __atomic_load_n(&looked_up, __ATOMIC_SEQ_CST);
}

bool device_locked_loader(void)
{
    static const char *const loader[] = { "/ld-linux", NULL };
    void *const *refused;
    int count = allocator_refused(&refused);
    bool loading = false;
    pthread_t thread;

    for (int i = 0; i < count; i++)
        loading = loading || is_in(refused[i], loader) != NULL;
    if (!loading || innermost(refused, count) == NULL || pthread_create(&thread, NULL, look_up, NULL) != 0)
        return false;
    pthread_detach(thread);
    return !wait_until(has_looked_up, NULL, 2000);
}

void device_watch(const char **where)
{
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGABRT, SIGALRM };
    struct sigaction action;

    noted = where;
    allocator_note();
    memset(&action, 0, sizeof action);
    action.sa_handler = died;
    action.sa_flags = (int)SA_RESETHAND;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}
