/*
 * dat/dat_registry.h: between the registry and provider libraries.
 *
 * Part of libdat, an implementation of uDAPL 1.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat12 by `make derived`; changes belong there.
 */

#ifndef DAT_DAT_REGISTRY_H
#define DAT_DAT_REGISTRY_H

#include "dat_redirection.h"
#include "udat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Interface between the registry and provider libraries ---- */

/**
 * Type of dat_provider_init, which a provider library exports. The registry calls it before the first open of an
 * adapter. It must register the adapter with dat_registry_add_provider.
 */
typedef void (*DAT_PROVIDER_INIT_FUNC)(const DAT_PROVIDER_INFO *provider_info, const char *instance_data);

/**
 * Type of dat_provider_fini, which a provider library exports. The registry calls it after the last close of an
 * adapter. It must remove the adapter with dat_registry_remove_provider.
 */
typedef void (*DAT_PROVIDER_FINI_FUNC)(const DAT_PROVIDER_INFO *provider_info);

/* ---- Calls; NAME(3) is the manual page of a call ---- */

/** dat_registry_add_provider(3): register the table of a provider. */
extern DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *provider_info);

/** dat_registry_remove_provider(3): remove the table of a provider. */
extern DAT_RETURN dat_registry_remove_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *provider_info);

/** dats_get_ia_handle(3): return the handle that a provider uses for an adapter. */
extern DAT_RETURN dats_get_ia_handle(unsigned long handle, DAT_IA_HANDLE *ia_handle);

/* ---- Macros ---- */

/** Name of the function of type DAT_PROVIDER_INIT_FUNC that a provider library exports. */
#define DAT_PROVIDER_INIT_FUNC_NAME dat_provider_init

/** Name of the function of type DAT_PROVIDER_FINI_FUNC that a provider library exports. */
#define DAT_PROVIDER_FINI_FUNC_NAME dat_provider_fini

/** DAT_PROVIDER_INIT_FUNC_NAME as a string, for dlsym. */
#define DAT_PROVIDER_INIT_FUNC_STR "dat_provider_init"

/** DAT_PROVIDER_FINI_FUNC_NAME as a string, for dlsym. */
#define DAT_PROVIDER_FINI_FUNC_STR "dat_provider_fini"

#ifdef __cplusplus
}
#endif

#endif /* DAT_DAT_REGISTRY_H */
