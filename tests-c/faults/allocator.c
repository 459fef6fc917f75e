/* allocator.c - memory functions that fail on demand: see allocator.h. */
#define _GNU_SOURCE
#include "allocator.h"

#include <errno.h>
#include <execinfo.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

/* glibc's own functions. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static long first_bad = LONG_MAX, last_bad, calls, live;

/* The call stack of the first failed call, stored if `noting` is set. */
static bool noting;
static int first_refused;
static void *refused[32];
static int refused_count;

long allocator_calls(void)
{
    return __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
}

void allocator_fail(long first, long last)
{
    __atomic_store_n(&first_bad, LONG_MAX, __ATOMIC_SEQ_CST);
    __atomic_store_n(&calls, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&refused_count, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&first_refused, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&last_bad, last, __ATOMIC_SEQ_CST);
    __atomic_store_n(&first_bad, first, __ATOMIC_SEQ_CST);
}

void allocator_restore(void)
{
    __atomic_store_n(&first_bad, LONG_MAX, __ATOMIC_SEQ_CST);
}

/* Set by allocator_print(). */
static bool printing;

void allocator_note(void)
{
    void *frames[1];

    /* Call backtrace() before allocations fail, because its first call loads a library. */
    (void)backtrace(frames, 1);
    __atomic_store_n(&noting, true, __ATOMIC_SEQ_CST);
}

void allocator_print(void)
{
    allocator_note();
    __atomic_store_n(&printing, true, __ATOMIC_SEQ_CST);
}

long allocator_live(void)
{
    return __atomic_load_n(&live, __ATOMIC_SEQ_CST);
}

/*
 * Tables of the dynamic loader for thread-local data, which do not count as live. glibc keeps them with the stacks of
 * ended threads. Their number is the maximum number of concurrent threads, which varies and does not indicate a leak.
 */
enum { TABLES = 512 };
static void *tables[TABLES];

static bool is_loader(const void *code)
{
    const char *base = (const char *)getauxval(AT_BASE);
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
    const ElfW(Phdr) *part;

    if (base == NULL)
        return false;
    part = (const ElfW(Phdr) *)(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++)
        if (part[i].p_type == PT_LOAD && (part[i].p_flags & PF_X) != 0 &&
            (const char *)code >= base + part[i].p_vaddr &&
            (const char *)code < base + part[i].p_vaddr + part[i].p_memsz)
            return true;
    return false;
}

/* Replaces an entry `old` of `tables` by `new`; NULL is a free entry. Returns whether `old` existed. */
static bool exchange(void *old, void *new)
{
    for (int i = 0; i < TABLES; i++) {
        void *expected = old;

        if (__atomic_load_n(&tables[i], __ATOMIC_RELAXED) == old &&
            __atomic_compare_exchange_n(&tables[i], &expected, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return true;
    }
    return false;
}

int allocator_refused(void *const **frames)
{
    *frames = refused;
    return __atomic_load_n(&refused_count, __ATOMIC_SEQ_CST);
}

static void refuse(void)
{
    if (!__atomic_load_n(&noting, __ATOMIC_SEQ_CST) || __atomic_exchange_n(&first_refused, 1, __ATOMIC_SEQ_CST))
        return;
    __atomic_store_n(&refused_count, backtrace(refused, sizeof refused / sizeof *refused), __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&printing, __ATOMIC_SEQ_CST))
        backtrace_symbols_fd(refused, refused_count, STDERR_FILENO);
}

static bool fails(void)
{
    long call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);

    if (call < __atomic_load_n(&first_bad, __ATOMIC_SEQ_CST) ||
        call > __atomic_load_n(&last_bad, __ATOMIC_SEQ_CST))
        return false;
    refuse();
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
    void *memory;

    if (fails())
        return NULL;
    memory = __libc_calloc(count, size);
    /* An allocation of entries of two pointers by the loader is a table, which does not count as live. */
    if (memory != NULL && size == 2 * sizeof(void *) && is_loader(__builtin_return_address(0)) &&
        exchange(NULL, memory))
        return memory;
    return given(memory);
}

void *realloc(void *memory, size_t size)
{
    void *moved;

    if (fails())
        return NULL;
    bool table = memory != NULL && exchange(memory, NULL);

    moved = __libc_realloc(memory, size);
    if (memory == NULL)
        return given(moved);
    if (table) {
        if (!exchange(NULL, moved != NULL ? moved : memory))
            abort();
        return moved;
    }
    if (moved == NULL && size == 0)
        __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return moved;
}

void free(void *memory)
{
    if (memory != NULL && !exchange(memory, NULL))
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
