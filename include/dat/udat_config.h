/*
 * dat/udat_config.h: what a program is compiled for.
 *
 * Part of libdat, an implementation of uDAPL 1.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat12 by `make derived`; changes belong there.
 */

#ifndef DAT_UDAT_CONFIG_H
#define DAT_UDAT_CONFIG_H

#include "dat_platform_specific.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Configuration of the program at compile time ---- */

/** Major version of the interface for which a program is compiled. */
#define DAT_VERSION_MAJOR 1

/** Minor version of the interface for which a program is compiled. */
#define DAT_VERSION_MINOR 2

/* ---- Macros ---- */

/** Thread safety that dat_ia_open requires. To require DAT_TRUE, define it before the include. */
#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif

#ifdef __cplusplus
}
#endif

#endif /* DAT_UDAT_CONFIG_H */
