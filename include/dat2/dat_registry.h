/*
 * dat2/dat_registry.h: between the registry and provider libraries.
 *
 * Part of libdat2, an implementation of uDAPL 2.0.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat20 by `make derived`; changes belong there.
 */

#ifndef DAT2_DAT_REGISTRY_H
#define DAT2_DAT_REGISTRY_H

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

/**
 * Relationship of two interface adapters: the ability to take over each other's connections, see
 * dat_registry_providers_related.
 */
typedef enum dat_ha_relationship {
    /** Neither adapter can take over connections of the other. */
    DAT_HA_FALSE = 0,
    /** The adapters can take over each other's connections. */
    DAT_HA_TRUE = 1,
    /** Each adapter is not open, or its provider does not know the relationship. */
    DAT_HA_UNKNOWN = 2,
    /** The providers disagree. */
    DAT_HA_CONFLICTING = 3,
    /** First value that extensions define. */
    DAT_HA_EXTENSION_BASE = 4,
} DAT_HA_RELATIONSHIP;

/* ---- Calls; NAME(3) is the manual page of a call ---- */

/** dat_registry_add_provider(3): register the table of a provider. */
extern DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *provider_info);

/** dat_registry_remove_provider(3): remove the table of a provider. */
extern DAT_RETURN dat_registry_remove_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *provider_info);

/** dats_get_ia_handle(3): return the handle that a provider uses for an adapter. */
extern DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE handle, DAT_IA_HANDLE *ia_handle);

/** dat_registry_providers_related(3): query whether two adapters can take over. */
extern DAT_RETURN dat_registry_providers_related(DAT_NAME_PTR name1,
                                                 DAT_NAME_PTR name2,
                                                 DAT_HA_RELATIONSHIP *relationship);

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

#endif /* DAT2_DAT_REGISTRY_H */
