/* lanes_bytes.c - the bytes of pieces: see lanes.h. */
#include "lanes.h"

#include <string.h>

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

unsigned width(const unsigned char *end, size_t len)
{
    unsigned w = len >= 8 ? 8 : len >= 4 ? 4 : len >= 2 ? 2 : 1;

    while ((uintptr_t)end % w != 0)
        w /= 2;
    return w;
}

uint64_t flag_of(unsigned seed, unsigned w)
{
    return (mixed(seed) | 0x0101010101010101u) >> (64 - 8 * w);
}

uint64_t look(const unsigned char *end, unsigned w)
{
    switch (w) {
    case 8: return __atomic_load_n((const uint64_t *)(const void *)(end - 8), __ATOMIC_ACQUIRE);
    case 4: return __atomic_load_n((const uint32_t *)(const void *)(end - 4), __ATOMIC_ACQUIRE);
    case 2: return __atomic_load_n((const uint16_t *)(const void *)(end - 2), __ATOMIC_ACQUIRE);
    default: return __atomic_load_n(end - 1, __ATOMIC_ACQUIRE);
    }
}

void fill(unsigned char *end, size_t len, unsigned seed, bool with_flag)
{
    unsigned w = with_flag ? width(end, len) : 0;
    unsigned char *at = end - len;
    uint64_t word;

    for (size_t i = 0; i < len - w; i += 8) {
        word = mixed(((uint64_t)seed << 32) + i);
        memcpy(at + i, &word, len - w - i < 8 ? len - w - i : 8);
    }
    if (with_flag) {
        word = flag_of(seed, w);
        memcpy(end - w, &word, w);
    }
}

long differs(const unsigned char *end, size_t len, unsigned seed, bool with_flag)
{
    unsigned w = with_flag ? width(end, len) : 0;
    const unsigned char *at = end - len;

    for (size_t i = 0; i < len - w; i += 8) {
        uint64_t word = mixed(((uint64_t)seed << 32) + i);

        if (memcmp(at + i, &word, len - w - i < 8 ? len - w - i : 8) != 0)
            return (long)i;
    }
    return -1;
}
