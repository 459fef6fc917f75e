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

/* Restarts the deadline. Call it after progress. */
void patience_renew(struct patience *p);

/*
 * Call it after a poll without progress. Returns false after a stall: `ms` (scaled) without progress,
 * in which this process and `other` each used 300 ms of CPU time, or 9 times `ms` without progress.
 * If `other` is 0, only this process counts. Makes no libdat call, and system calls only on each
 * 1024th poll.
 */
bool patience_lasts(struct patience *p, pid_t other, unsigned ms);

#endif
