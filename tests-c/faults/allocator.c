/* allocator.c - a malloc that fails where the test wants it. See allocator.h. */
#define _GNU_SOURCE
#include "allocator.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The C library's own functions, under the names that it keeps for such programs. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static long first_bad = LONG_MAX, last_bad, calls, live;

long allocator_calls(void)
{
    return __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
}

void allocator_fail(long first, long last)
{
    __atomic_store_n(&first_bad, LONG_MAX, __ATOMIC_SEQ_CST);
    __atomic_store_n(&calls, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&last_bad, last, __ATOMIC_SEQ_CST);
    __atomic_store_n(&first_bad, first, __ATOMIC_SEQ_CST);
}

void allocator_mend(void)
{
    __atomic_store_n(&first_bad, LONG_MAX, __ATOMIC_SEQ_CST);
}

long allocator_live(void)
{
    return __atomic_load_n(&live, __ATOMIC_SEQ_CST);
}

static bool fails(void)
{
    long call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);

    if (call < __atomic_load_n(&first_bad, __ATOMIC_SEQ_CST) ||
        call > __atomic_load_n(&last_bad, __ATOMIC_SEQ_CST))
        return false;
    errno = ENOMEM;
    return true;
}

static void *given(void *memory)
{
    if (memory != NULL)
        __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return memory;
}

void *malloc(size_t size)
{
    return fails() ? NULL : given(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : given(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    void *moved;

    if (fails())
        return NULL;
    moved = __libc_realloc(memory, size);
    if (memory == NULL)
        return given(moved);
    if (moved == NULL && size == 0)
        __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return moved;
}

void free(void *memory)
{
    if (memory != NULL)
        __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
    __libc_free(memory);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : given(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size);
int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *made = memalign(alignment, size);

    if (made == NULL)
        return ENOMEM;
    *memory = made;
    return 0;
}
