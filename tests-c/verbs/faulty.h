/*
 * faulty.h - makes the n-th system call, or the n-th call of libibverbs and librdmacm, of a process fail.
 *
 * The functions of the libraries are defined in faulty.c too, in front of the real ones. System calls are
 * held by a seccomp filter, which asks another process whether each of them may be made.
 */
#ifndef TESTS_C_FAULTY_H
#define TESTS_C_FAULTY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { KINDS_MAX = 80, OBJECTS_MAX = 12 };

/* In memory that both processes share. */
struct faults {
    int armed;             /* calls count and fail now */
    int kind, nth, error;  /* the call that fails; kind -1: none */
    int last;              /* and all up to this one; 0: no other */
    int fired;             /* it has failed */
    int spared;            /* threads whose system calls do not fail now */
    int by_main;           /* the thread that began the program made it */
    int by_provider;       /* a function of a library: the provider called it, and not another library */
    pid_t main;
    int calls[KINDS_MAX];  /* calls while armed, by kind */
    int alive[OBJECTS_MAX];/* objects of the libraries that were made and not given back */
};

/* The numbers that the functions below use from now on. */
void faulty_use(struct faults *f);

int faulty_kinds(void);
const char *faulty_name(int kind);
int faulty_kind(const char *name);
bool faulty_is_system_call(int kind);
/* The kind posts work, and its caller cannot know whether an interrupted call has done it. */
bool faulty_is_post(int kind);
/* The kind is made again and again while there is nothing to do. */
bool faulty_is_polled(int kind);
/* A system call that is made again by us when a signal ends it. */
bool faulty_is_restarted(int kind);
const char *faulty_object(int object); /* NULL behind the last */

/*
 * Holds system calls of this process and its threads from now on, of that kind or, if it is negative, of all kinds; gives
 * the descriptor of the one who decides.
 */
int faulty_hold(int kind);
/* Decides, for as long as the process lives that the descriptor came from, and no longer than now_ms() says. */
void faulty_decide(int listener, pid_t child, uint64_t until);

/*
 * True if libibverbs has no device in this process. It loads its drivers once, and goes on without one that could not be
 * loaded.
 */
bool faulty_lost_device(void);

#endif
