#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#include "place.h"
#include "peer.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[] = "/tmp/dat-place-XXXXXX";

const char *place_make(void)
{
    const char *given = getenv("DAT_OVERRIDE");
    char path[64], line[1024], name[1024], *instance, *end;
    FILE *from, *to;

    must(given != NULL && mkdtemp(base) != NULL, "cannot create a private directory");
    snprintf(path, sizeof path, "%s/dat.conf", base);
    from = fopen(given, "r");
    to = fopen(path, "w");
    must(from != NULL && to != NULL, "cannot create a private dat.conf");
    while (fgets(line, sizeof line, from) != NULL) {
        instance = strchr(line, '"');
        end = instance == NULL ? NULL : strchr(instance + 1, '"');
        if (end == NULL || sscanf(line, "%1023s", name) != 1 || strcmp(name, "shm") != 0)
            fputs(line, to);
        else
            fprintf(to, "%.*s\"%s/shm\"%s", (int)(instance - line), line, base, end + 1);
    }
    fclose(from);
    must(fclose(to) == 0, "cannot write a private dat.conf");
    setenv("DAT_OVERRIDE", path, 1);
    snprintf(path, sizeof path, "%s/shm", base);
    setenv("DAT_TEST_PLACE", path, 1);
    return place_path();
}

const char *place_path(void)
{
    return getenv("DAT_TEST_PLACE");
}

static int wipe(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

void place_end(void)
{
    chmod(place_path(), 0700);
    nftw(base, wipe, 8, FTW_DEPTH | FTW_PHYS);
}

int place_count(const char *prefix)
{
    DIR *dir = opendir(place_path());
    struct dirent *entry;
    int count = 0;

    if (dir == NULL)
        return -1;
    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(dir);
    return count;
}
