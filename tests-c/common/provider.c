#include "common/provider.h"

#include <stddef.h>
#include <string.h>

const char *provider_of(const char *ia)
{
    size_t length = strcspn(ia, "-");

    /* A name starts with the transport. Only the transport ofi has other names. */
    if (length == 3 && strncmp(ia, "tcp", length) == 0)
        ia = "ofi";
#define PROVIDER(udapl, transport, file) \
    if (udapl == UDAPL && strlen(transport) == length && strncmp(ia, transport, length) == 0) \
        return file;
#include "providers.h"
    return NULL;
}
