/* first.c - the first calls of a process without a free descriptor fail, and later calls with descriptors succeed. */
#define _POSIX_C_SOURCE 200809L

#include "common/fixture.h"

#include <sys/resource.h>

static void allow(rlim_t descriptors)
{
    struct rlimit l;

    must(getrlimit(RLIMIT_NOFILE, &l) == 0, "getrlimit");
    l.rlim_cur = descriptors;
    must(setrlimit(RLIMIT_NOFILE, &l) == 0, "setrlimit");
}

int main(void)
{
    DAT_IA_HANDLE ia = UNTOUCHED;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    struct rlimit l;
    DAT_COUNT count = -1;

    must(getrlimit(RLIMIT_NOFILE, &l) == 0, "getrlimit");
    allow(0);
    is_type(dat_ia_open(env_ia(), 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES, "dat_ia_open: no descriptor");
    ok(ia == UNTOUCHED, "dat_ia_open: no descriptor: no handle is written");
    is_type(dat_registry_list_providers(0, &count, NULL), DAT_INSUFFICIENT_RESOURCES,
            "dat_registry_list_providers: no descriptor");
    is_int(count, -1, "dat_registry_list_providers: no descriptor: no count is written");
    allow(l.rlim_cur);
    is_type(dat_ia_open(env_ia(), 8, &async, &ia), DAT_SUCCESS, "dat_ia_open: with descriptors again");
    is_type(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ia_close");
    return done_testing();
}
