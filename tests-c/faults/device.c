/* device.c - what the libraries of a device can still do. See device.h. */
#define _GNU_SOURCE
#include "device.h"

#include "allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* The libraries' functions are looked up, because the test is also built where they are not installed. */
enum { PORTS_OF_TCP = 0x0106 };

typedef void **list_fn(int *count);
typedef void free_fn(void **list);
typedef void *channel_fn(void);
typedef void end_fn(void *channel);
typedef int id_fn(void *channel, void **id, void *context, int space);
typedef int bind_fn(void *id, struct sockaddr *address);
typedef int destroy_fn(void *id);

/* A function of a library that the process has loaded. ISO C knows no other way from an object to a function. */
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

/* The libraries of a device: libibverbs with its drivers, librdmacm, and libnl, by which they ask the system. */
static const char *const libraries[] = { "libibverbs", "-rdmav", "librdmacm", "libnl-", NULL };

static const char **noted;

/* The base of the library that the code belongs to, and its name. */
static const void *library_of(const void *code, const char **name)
{
    Dl_info place;

    if (code == NULL || dladdr(code, &place) == 0)
        return NULL;
    *name = place.dli_fname;
    return place.dli_fbase;
}

static bool is_any_of(const char *name, const char *const *parts)
{
    while (*parts != NULL && strstr(name, *parts) == NULL)
        parts++;
    return *parts != NULL;
}

static void died(int number)
{
    static const char *const passed[] = { "/libc.so", "/ld-linux", NULL };
    const char *own = "", *name = "", *refused = "";
    const void *self = library_of((const void *)(uintptr_t)died, &own);
    const void *base, *lacking = library_of(allocator_refused(), &refused);
    void *frames[32];
    int count = backtrace(frames, 32);

    /* The innermost function that is neither this one nor the C library's. */
    for (int i = 0; i < count; i++) {
        base = library_of(frames[i], &name);
        if (base == self || (base != NULL && is_any_of(name, passed)))
            continue;
        for (int j = 0; base != NULL && base == lacking && libraries[j] != NULL; j++)
            if (strstr(name, libraries[j]) != NULL)
                *noted = libraries[j];
        break;
    }
    if (*noted == NULL)
        backtrace_symbols_fd(frames, count, STDERR_FILENO);
    raise(number);
}

void device_watch(const char **where)
{
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGABRT, SIGALRM };
    struct sigaction action;
    void *frames[1];

    noted = where;
    /* The first use loads a library. */
    (void)backtrace(frames, 1);
    memset(&action, 0, sizeof action);
    action.sa_handler = died;
    action.sa_flags = (int)SA_RESETHAND;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}
