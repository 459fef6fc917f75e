/*
 * device.h - what the libraries of an RDMA device can still do in a process that lacked memory.
 *
 * libibverbs and librdmacm set themselves up once in a process, and go on with what they then could get. The test asks
 * them itself, so that what they have lost is not taken for a fault of the provider, nor the other way round.
 */
#ifndef TESTS_C_FAULTS_DEVICE_H
#define TESTS_C_FAULTS_DEVICE_H

#include <stdbool.h>
#include <sys/socket.h>

/*
 * Why no program could use the device behind this address in this process, whatever provider it has; NULL when one
 * could. Asks libibverbs for its devices and librdmacm for an identifier with that address, as any program must.
 */
const char *device_lost(const struct sockaddr *address);

/*
 * From now on, when this process crashes or its alarm() goes off, *where becomes the library of the device in which that
 * happens, if such a library also made the first call that failed for want of memory. It is not ours then. Otherwise
 * *where stays as it is, and the functions that led there are written to standard error. The process dies in either
 * case.
 */
void device_watch(const char **where);

/*
 * Whether the dynamic loader lacked memory while a library of the device loaded a driver, and keeps its lock since then:
 * no other thread of the process can look a function up any more.
 */
bool device_locked_loader(void);

#endif
