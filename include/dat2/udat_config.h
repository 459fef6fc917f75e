/*
 * dat2/udat_config.h: what a program is compiled for.
 *
 * Part of libdat2, an implementation of uDAPL 2.0.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat20 by `make derived`; changes belong there.
 */

#ifndef DAT2_UDAT_CONFIG_H
#define DAT2_UDAT_CONFIG_H

#include "dat_platform_specific.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Configuration of the program at compile time ---- */

/** Major version of the interface for which a program is compiled. */
#define DAT_VERSION_MAJOR 2

/** Minor version of the interface for which a program is compiled. */
#define DAT_VERSION_MINOR 0

/** Defined, because the interface has the calls that extensions need. */
#define DAT_EXTENSIONS 1

/* ---- Macros ---- */

/** Thread safety that dat_ia_open requires. To require DAT_TRUE, define it before the include. */
#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif

#ifdef __cplusplus
}
#endif

#endif /* DAT2_UDAT_CONFIG_H */
