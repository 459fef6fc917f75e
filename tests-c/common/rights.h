/*
 * rights.h - rights that a process gives up.
 */
#ifndef TESTS_C_RIGHTS_H
#define TESTS_C_RIGHTS_H

/*
 * In a role: gives up CAP_SYS_PTRACE, with which a process may use the memory of those that are not dumpable, whatever Yama
 * says. It must not come back with an exec either, which would make the process undumpable.
 */
void drop_ptrace(void);

#endif
