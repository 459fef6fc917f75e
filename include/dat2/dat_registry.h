/*
 * dat2/dat_registry.h: between the registry and provider libraries.
 *
 * Part of libdat2, an implementation of uDAPL 2.0.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat20 by `make derived`; changes belong there.
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
 * Type of dat_provider_init, which a provider library exports. It is called before the
 * first open of the adapter, and registers it with dat_registry_add_provider.
 */
typedef void (*DAT_PROVIDER_INIT_FUNC)(const DAT_PROVIDER_INFO *provider_info,
                                       const char *instance_data);

/**
 * Type of dat_provider_fini, which a provider library exports. It is called after the last
 * close of the adapter, and removes the registration of dat_provider_init.
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
    /** Unknown. */
    DAT_HA_UNKNOWN = 2,
    /** The providers disagree. */
    DAT_HA_CONFLICTING = 3,
    /** First value that extensions define. */
    DAT_HA_EXTENSION_BASE = 4,
} DAT_HA_RELATIONSHIP;

/* ---- Calls: registry and return codes ---- */

/**
 * Registers a provider under an identity: name, version and thread safety. A provider calls this
 * function from its dat_provider_init. A program that contains a provider may call it at any time.
 * The call is thread-safe and allowed in a constructor of a library.
 *
 * Returns DAT_SUCCESS; DAT_INVALID_PARAMETER, DAT_PROVIDER_ALREADY_REGISTERED,
 * DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2 and 2.0, dat_registry_add_provider(3DAT).
 */
extern DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider,
                                            const DAT_PROVIDER_INFO *provider_info);

/**
 * Removes a provider. A provider calls this function from its dat_provider_fini; a program that
 * added the provider may also call it. After the call, the table is no longer used unless it is
 * registered under another identity, and handles that point to it are invalid. The call is
 * thread-safe.
 *
 * Returns DAT_SUCCESS; DAT_INVALID_PARAMETER, DAT_PROVIDER_IN_USE. See uDAPL 1.2 and 2.0,
 * dat_registry_remove_provider(3DAT).
 */
extern DAT_RETURN dat_registry_remove_provider(const DAT_PROVIDER *provider,
                                               const DAT_PROVIDER_INFO *provider_info);

/**
 * Returns the handle of an instance that its provider uses. In this library it equals the handle of
 * the program, so the call returns its argument. Providers for a library that numbers its instances
 * call it.
 *
 * Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER. Not in uDAPL 2.0: part of the
 * binary interface between the registry and providers on Linux.
 */
extern DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE handle, DAT_IA_HANDLE *ia_handle);

/* ---- Calls: registry and return codes, only in 2 ---- */

/**
 * Returns whether two adapters can take over each other's connections. Asks the providers of the
 * adapters that are open, and loads no library. The call is thread-safe.
 *
 * Returns DAT_SUCCESS; DAT_INVALID_PARAMETER, DAT_PROVIDER_NOT_FOUND. See uDAPL 2.0,
 * dat_registry_providers_related.
 *
 * Other libraries of uDAPL 2.0 do not export it.
 */
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
