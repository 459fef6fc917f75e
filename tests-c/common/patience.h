/*
 * patience.h - detects a stall: time without progress, although both processes had a CPU.
 *
 * On a busy machine a process can wait seconds for a CPU.
 */
#ifndef TESTS_C_PATIENCE_H
#define TESTS_C_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct patience {
    unsigned looks; /* polls since the last progress */
    uint64_t since;
    struct timespec own, others;
};

/* Reports progress. */
void patience_renew(struct patience *p);

/*
 * Reports a poll without progress. Makes no libdat call, and system calls only on each 1024th poll.
 * Returns false after `ms` (scaled) without progress. `other` is the process that must make
 * progress, or 0.
 */
bool patience_lasts(struct patience *p, pid_t other, unsigned ms);

#endif
