/*
 * dat/dat_platform_specific.h: types that depend on the platform.
 *
 * Part of libdat, an implementation of uDAPL 1.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat12 by `make derived`; changes belong there.
 */

#ifndef DAT_DAT_PLATFORM_SPECIFIC_H
#define DAT_DAT_PLATFORM_SPECIFIC_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types that depend on the platform ---- */

/** Unsigned integer of 32 bits. */
typedef uint32_t DAT_UINT32;

/** Unsigned integer of 64 bits. */
typedef uint64_t DAT_UINT64;

/** The longest unsigned integer of the platform. */
typedef unsigned long long DAT_UVERYLONG;

/** Pointer to data of any type. */
typedef void *DAT_PVOID;

/** A count; -1 is "infinite", -2 is "unknown". */
typedef int DAT_COUNT;

/** Physical address. */
typedef DAT_UINT64 DAT_PADDR;

/** Address of an interface adapter: the socket address of the system. */
typedef struct sockaddr DAT_SOCK_ADDR;

/** IPv6 form of DAT_SOCK_ADDR. */
typedef struct sockaddr_in6 DAT_SOCK_ADDR6;

/** Alignment in bytes that is best for buffers on every provider. Advice only. */
#define DAT_OPTIMAL_ALIGNMENT 256

/** Family of IPv4 addresses. */
#define DAT_AF_INET AF_INET

/** Family of IPv6 addresses. */
#define DAT_AF_INET6 AF_INET6

/* ---- Macros ---- */

/** Creates a constant of 64 bits, on platforms that do not define UINT64_C. */
#ifndef UINT64_C
#define UINT64_C(c) c##ULL
#endif

/* Marks of the direction of an argument, for programs that use them. The library ignores them. */

/** Marks an argument that the function reads. */
#ifndef IN
#define IN
#endif

/** Marks an argument that the function writes. */
#ifndef OUT
#define OUT
#endif

/** Marks an argument that the function reads and writes. */
#ifndef INOUT
#define INOUT
#endif

#ifdef __cplusplus
}
#endif

#endif /* DAT_DAT_PLATFORM_SPECIFIC_H */
