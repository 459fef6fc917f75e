/*
 * patience.h - how long nothing may move before something stands still.
 *
 * On a busy machine a process may get no processor for seconds. So what counts is the time in which this process, and the
 * one that it waits for, have had one.
 */
#ifndef TESTS_C_PATIENCE_H
#define TESTS_C_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct patience {
    unsigned looks; /* in vain */
    uint64_t since;
    struct timespec own, others;
};

/* Something has moved. */
void patience_renew(struct patience *p);

/*
 * One more look in vain, which makes no call of the library, nor a system call but now and then. False once nothing has
 * moved for that many ms, scaled. `other` is the process that is waited for, or 0.
 */
bool patience_lasts(struct patience *p, pid_t other, unsigned ms);

#endif
