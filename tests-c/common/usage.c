#define _DEFAULT_SOURCE
#include "usage.h"

#include "env.h"
#include "wait.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;

    if (d == NULL)
        return -1;
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

int threads(void)
{
    /* Without "." and "..". */
    return entries("/proc/self/task") - 2;
}

bool threads_at_most(void *count)
{
    return threads() <= *(int *)count;
}

bool descriptors_at_most(void *count)
{
    return entries("/proc/self/fd") <= *(int *)count;
}

bool descriptors_left(int count)
{
    return env_is_iwarp() ? !wait_until(descriptors_at_most, &count, SOON_MS) : !descriptors_at_most(&count);
}

static void threads_show(void)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL) {
        static const char *const files[] = { "comm", "wchan", "stack" };

        for (size_t i = 0; entry->d_name[0] != '.' && i < sizeof files / sizeof files[0]; i++) {
            char path[64], line[128];
            FILE *f;

            snprintf(path, sizeof path, "/proc/self/task/%.16s/%s", entry->d_name, files[i]);
            f = fopen(path, "r");
            while (f != NULL && fgets(line, sizeof line, f) != NULL)
                fprintf(stderr, "# thread %s: %s: %.*s\n", entry->d_name, files[i], (int)strcspn(line, "\n"), line);
            if (f != NULL)
                fclose(f);
        }
    }
    if (d != NULL)
        closedir(d);
}

void descriptors_show(void)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL) {
        char name[256];
        ssize_t length = readlinkat(dirfd(d), entry->d_name, name, sizeof name);

        if (length > 0)
            fprintf(stderr, "# descriptor %s: %.*s\n", entry->d_name, (int)length, name);
    }
    if (d != NULL)
        closedir(d);
    threads_show();
}

long resident_kib(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long total = 0, resident = 0;

    if (f == NULL)
        return 0;
    if (fscanf(f, "%ld %ld", &total, &resident) != 2)
        resident = 0;
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

long cpu_ms(long pid)
{
    char path[32];
    FILE *f;
    long user = 0, kernel = 0;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    f = fopen(path, "r");
    if (f == NULL)
        return 0;
    /* utime and stime, in clock ticks. */
    if (fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &kernel) != 2)
        user = kernel = 0;
    fclose(f);
    return (user + kernel) * 1000 / sysconf(_SC_CLK_TCK);
}
