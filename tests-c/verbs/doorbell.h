/*
 * doorbell.h - keeps posted requests from a software RDMA device.
 *
 * Such a device reads its queues in memory after a command, its doorbell. The program's function write() replaces
 * libc's, and holds the doorbells of one thread. Devices without this command see each request during its post.
 */
#ifndef TESTS_C_VERBS_DOORBELL_H
#define TESTS_C_VERBS_DOORBELL_H

/* Holds the doorbells of later posts of this thread. */
void doorbell_hold(void);

/* Both end the hold. The first function rings the last doorbell that was held, if any. Both return the number held. */
int doorbell_ring(void);
int doorbell_drop(void);

#endif
