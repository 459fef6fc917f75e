#define _POSIX_C_SOURCE 200809L
#include "patience.h"

#include "env.h"

/*
 * CPU time in ms that each process must use before its lack of progress is a stall, and the factor
 * of the deadline after which it is a stall anyway.
 */
enum { MIN_CPU_MS = 300, MAX_FACTOR = 9 };

static struct timespec used_by(pid_t pid)
{
    struct timespec t = { 0, 0 };
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) == 0)
        clock_gettime(clock, &t);
    return t;
}

static bool has_run(struct timespec since, pid_t pid)
{
    struct timespec now = used_by(pid);

    return (now.tv_sec - since.tv_sec) * 1000 + (now.tv_nsec - since.tv_nsec) / 1000000 >= MIN_CPU_MS;
}

void patience_renew(struct patience *p)
{
    p->looks = 0;
    p->since = 0;
}

bool patience_lasts(struct patience *p, pid_t other, unsigned ms)
{
    uint64_t now;

    if (++p->looks % 1024 != 0)
        return true;
    now = now_ms();
    if (p->since == 0) {
        *p = (struct patience){ p->looks, now, used_by(0), used_by(other) };
        return true;
    }
    if (now - p->since < env_ms(ms))
        return true;
    return now - p->since < (uint64_t)env_ms(ms) * MAX_FACTOR && !(has_run(p->own, 0) && has_run(p->others, other));
}
