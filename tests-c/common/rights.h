/* rights.h - dropping capabilities. */
#ifndef TESTS_C_RIGHTS_H
#define TESTS_C_RIGHTS_H

/*
 * Drops CAP_SYS_PTRACE, which allows access to undumpable processes regardless of Yama. Also
 * removes it from the bounding set: if an exec regained it, the process would become undumpable.
 */
void drop_ptrace(void);

#endif
