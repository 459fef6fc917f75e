/* entries.h - entries of dat.conf, and common checks with an adapter. */
#ifndef TESTS_C_REGISTRY_ENTRIES_H
#define TESTS_C_REGISTRY_ENTRIES_H

#include "registry/scene.h"

/* An entry for an adapter of the stub provider in `library`, with the instance data `data`. */
#define ENTRY_BY(name, library, data) \
    name " " CONF_API " nonthreadsafe default " library " STUB.1.0 \"" data "\" \"\"\n"
#define ENTRY(name) ENTRY_BY(name, "%S/libstub.so", "data")
/* An entry that disables a name. */
#define NONDEFAULT(name) name " " CONF_API " nonthreadsafe nondefault none STUB.1.0 \"\" \"\"\n"

/* Opens an adapter. On failure, *ia is NULL. */
static inline DAT_RETURN open_named(const char *name, DAT_IA_HANDLE *ia)
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;

    *ia = DAT_HANDLE_NULL;
    return dat_ia_open((DAT_NAME_PTR)name, 8, &evd, ia);
}

static inline bool scene_opens(const char *name, DAT_IA_HANDLE *ia)
{
    return scene_type(open_named(name, ia), DAT_SUCCESS, "dat_ia_open %s: success", name);
}

static inline bool scene_closes(DAT_IA_HANDLE ia)
{
    return scene_type(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS,
                      "dat_ia_close: success");
}

static inline bool scene_not_found(const char *name, DAT_UINT32 subtype)
{
    DAT_IA_HANDLE ia;

    return scene_code(open_named(name, &ia), DAT_PROVIDER_NOT_FOUND, subtype,
                      "dat_ia_open %s: DAT_PROVIDER_NOT_FOUND", name) &&
           scene_ok(ia == DAT_HANDLE_NULL, "dat_ia_open %s: the handle is untouched", name);
}

#endif
