/* raw.c - packets between processes. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include "neighbours/raw.h"
#include "common/place.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char *file_text(int fd, char *text, size_t size)
{
    char path[64];
    ssize_t len;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    len = readlink(path, text, size - 1);
    text[len > 0 ? len : 0] = '\0';
    return text;
}

/* Returns the first descriptor whose link in /proc begins with `prefix`, or -1. */
static int find_file(const char *prefix)
{
    char text[256];

    for (int fd = 3; fd < MAX_FILES; fd++)
        if (strncmp(file_text(fd, text, sizeof text), prefix, strlen(prefix)) == 0)
            return fd;
    return -1;
}

int option(int fd, int which)
{
    int value = -1;
    socklen_t len = sizeof value;

    return getsockopt(fd, SOL_SOCKET, which, &value, &len) == 0 ? value : -1;
}

bool find_name(pid_t pid, char name[NAME])
{
    char prefix[32];
    DIR *dir = opendir(place_path());
    struct dirent *entry;
    bool found = false;

    snprintf(prefix, sizeof prefix, "p-%ld-", (long)pid);
    while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            snprintf(name, NAME, "%.*s", NAME - 1, entry->d_name);
            found = true;
        }
    if (dir != NULL)
        closedir(dir);
    return found;
}

int raw_connect(const char *name)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(at.sun_path, sizeof at.sun_path, "%.40s/%.63s", place_path(), name);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void put(struct packet *p, unsigned long long value, int bytes)
{
    while (bytes-- > 0) {
        p->bytes[p->len++] = (unsigned char)value;
        value >>= 8;
    }
}

bool raw_send(int fd, const struct packet *p, const int *files, int count)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(16 * sizeof(int))];
    } control;
    struct iovec bytes = { (void *)p->bytes, p->len };
    struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };

    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(&control.head), files, (size_t)count * sizeof(int));
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL) >= 0;
}

void hello(struct packet *p, const char *name)
{
    p->len = 0;
    put(p, HELLO, 1);
    put(p, WIRE_VERSION, 4);
    put(p, strlen(name), 4);
    memcpy(p->bytes + p->len, name, strlen(name));
    p->len += strlen(name);
    put(p, 0, 8);
    put(p, 0, 8);
}

void hello_files(int files[FILES])
{
    files[0] = find_file("/memfd:dat-shm-self");
    files[1] = find_file("/memfd:dat-shm-home");
    files[2] = find_file("/memfd:dat-shm-regions");
    files[3] = find_file("/memfd:dat-shm-alarm");
    for (int i = 0; i < FILES; i++)
        must(files[i] >= 0, "no descriptor for a hello (%d)", i);
}

int raw_hear(int fd)
{
    unsigned char bytes[2048];
    uint64_t end = now_ms() + env_ms(SOON_MS);

    while (now_ms() < end) {
        struct pollfd p = { fd, POLLIN, 0 };
        ssize_t got = poll(&p, 1, 100) > 0 ? recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) : -1;

        if (got >= 0)
            return got > 0 ? bytes[0] : 0;
    }
    return -1;
}
