#define _GNU_SOURCE
#include "rights.h"

#include "env.h"
#include "peer.h"
#include "provider.h"

#include <dlfcn.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void load_provider(void)
{
    const char *provider = provider_of(env_ia());

    must(provider == NULL || dlopen(provider, RTLD_NOW) != NULL, "%s: not loaded", provider);
}

bool become_user(uid_t id)
{
    load_provider();
    return setgroups(0, NULL) == 0 && setresgid(id, id, id) == 0 && setresuid(id, id, id) == 0;
}

void drop_ptrace(void)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2];

    if (geteuid() == 0)
        must(prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0) == 0, "prctl");
    must(syscall(SYS_capget, &head, data) == 0, "capget");
    data[CAP_SYS_PTRACE / 32].effective &= ~(1u << CAP_SYS_PTRACE % 32);
    data[CAP_SYS_PTRACE / 32].permitted &= ~(1u << CAP_SYS_PTRACE % 32);
    must(syscall(SYS_capset, &head, data) == 0, "capset");
}
