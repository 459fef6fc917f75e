#include "common/provider.h"

#include <stddef.h>
#include <string.h>

const char *provider_of(const char *ia)
{
    size_t length = strcspn(ia, "-");

    /* The name of an adapter starts with the transport. */
#define PROVIDER(udapl, transport, file) \
    if (udapl == UDAPL && strlen(transport) == length && strncmp(ia, transport, length) == 0) \
        return file;
#include "providers.h"
    return NULL;
}
