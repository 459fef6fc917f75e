/* private_plugin.c - the plug-in of private_host.c, linked with libdat. */
#include "registry/entries.h"

void private_plugin_run(void);

void private_plugin_run(void)
{
    DAT_IA_HANDLE ia;
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;

    if (!scene_opens("a", &ia))
        return;
    scene_log("init a " API_VERSION " 0 data\nadd 0x00000000\nopen a\n",
              "the provider found dat_registry_add_provider");
    scene_type(dat_pz_create(ia, &pz), DAT_SUCCESS, "dat_pz_create: success");
    scene_type(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free: success");
    scene_closes(ia);
}
