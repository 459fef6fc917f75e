/*
 * device.h - the state of the libraries of an RDMA device after a lack of memory.
 *
 * libibverbs and librdmacm initialise once per process, and keep the devices that they found then. The test calls them
 * directly, to distinguish devices that they lost from errors of the provider.
 */
#ifndef TESTS_C_FAULTS_DEVICE_H
#define TESTS_C_FAULTS_DEVICE_H

#include <stdbool.h>
#include <sys/socket.h>

/*
 * Returns why this process cannot use the device with this address, or NULL if it can. Lists the devices with
 * libibverbs, and binds an identifier of librdmacm to the address.
 */
const char *device_lost(const struct sockaddr *address);

/*
 * Handles crashes and alarm() of this process. If a library of the device is the cause, and also made the first failed
 * allocation, *where becomes its name. Otherwise the handler prints the call stack. The process ends in both cases.
 */
void device_watch(const char **where);

/*
 * Returns whether the dynamic loader has kept its lock because it lacked memory while it loaded a driver for a library
 * of the device. Then no other thread can look up a function.
 */
bool device_locked_loader(void);

#endif
