/*
 * interrupted.h - the receive that an interrupted message has taken from a shared receive queue of the device.
 */
#ifndef INTERRUPTED_H
#define INTERRUPTED_H

#include <stdbool.h>
#include <sys/socket.h>

/*
 * Returns whether the RDMA device with this address loses this receive: it does not complete, even when its queue pair
 * is in the error state and then reset. Takes about two seconds. Returns false if the device cannot be tested.
 */
bool interrupted_receive_is_lost(const struct sockaddr *address);

#endif
