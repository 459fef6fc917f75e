/* old_libfabric.c - a libfabric with one function alone, which tells its version: 1.MINOR. */
#include <stdint.h>

uint32_t fi_version(void)
{
    return (1 << 16) | MINOR;
}
