/* plugin.c - the plug-in of dlopen.c, as MPI libraries have one. */
#include "common/dat.h"

#include <stddef.h>

int plugin_run(char *adapter);

/* Returns 0, or the number of the failed step. */
int plugin_run(char *adapter)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    DAT_IA_ATTR attr;

    if (dat_ia_open(adapter, 8, &async, &ia) != DAT_SUCCESS)
        return 1;
    if (dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL) != DAT_SUCCESS)
        return 2;
    if (dat_pz_create(ia, &pz) != DAT_SUCCESS)
        return 3;
    if (dat_pz_free(pz) != DAT_SUCCESS)
        return 4;
    return dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG) == DAT_SUCCESS ? 0 : 5;
}
