/*
 * dat/udat_vendor_specific.h: additions of vendors to the user-level interface, of which there are none.
 *
 * Part of libdat, an implementation of uDAPL 1.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat12 by `make derived`; changes belong there.
 */

#ifndef DAT_UDAT_VENDOR_SPECIFIC_H
#define DAT_UDAT_VENDOR_SPECIFIC_H

#include "dat_platform_specific.h"

#endif /* DAT_UDAT_VENDOR_SPECIFIC_H */
