/*
 * faulty.h - makes the n-th system call, or the n-th call of libibverbs and librdmacm, of a process fail.
 *
 * faulty.c interposes the functions of the libraries. A seccomp filter suspends system calls, and another process decides
 * about each.
 */
#ifndef TESTS_C_FAULTY_H
#define TESTS_C_FAULTY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { KINDS_MAX = 80, OBJECTS_MAX = 12 };

/* Shared by both processes. */
struct faults {
    int armed;             /* set while calls are counted and can fail */
    int kind, nth, error;  /* the nth call of this kind fails with this errno; kind -1: none fails */
    int last;              /* calls nth to last fail; 0: only nth */
    int passes;            /* this call succeeds, although it is one of these; 0: none */
    int fired;             /* a call has failed */
    int spared;            /* number of threads in sections without failing system calls */
    int by_main;           /* the main thread made the failed call */
    int by_provider;       /* the provider made the failed call, not another library */
    pid_t main;
    int calls[KINDS_MAX];  /* calls while armed, by kind */
    int alive[OBJECTS_MAX];/* existing objects of the libraries */
};

/* Selects the struct that all other functions use. */
void faulty_use(struct faults *f);

/* Resets the struct, and makes calls 1 to last of this name fail with ENOMEM, except the call `passes`. */
void faulty_reject(const char *name, int last, int passes);

int faulty_kinds(void);
const char *faulty_name(int kind);
int faulty_kind(const char *name);
bool faulty_is_system_call(int kind);
/* Returns whether the call is a post. After an interruption, the caller cannot know whether the post was executed. */
bool faulty_is_post(int kind);
/* Returns whether polling loops repeat the call. */
bool faulty_is_polled(int kind);
/* Returns whether the library repeats the system call after EINTR. */
bool faulty_is_restarted(int kind);
const char *faulty_object(int object); /* NULL after the last */

/*
 * Suspends all further system calls of this kind in this process, or of all kinds if `kind` is negative. Returns the
 * descriptor for faulty_decide(), or -1 after an error.
 */
int faulty_hold(int kind);
/* Decides about suspended calls until the process `child` exits or now_ms() reaches `until`. */
void faulty_decide(int listener, pid_t child, uint64_t until);

/*
 * Returns whether libibverbs has no device in this process. It loads its drivers only once, and ignores failures.
 */
bool faulty_lost_device(void);

#endif
