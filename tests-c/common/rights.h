#ifndef TESTS_C_RIGHTS_H
#define TESTS_C_RIGHTS_H

/*
 * Drops CAP_SYS_PTRACE, which allows access to undumpable processes regardless of Yama. An exec
 * must not regain it, which would make the process undumpable.
 */
void drop_ptrace(void);

#endif
