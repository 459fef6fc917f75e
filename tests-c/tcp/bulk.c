/*
 * bulk.c - measures the goodput of a TCP connection without the library.
 *
 *   bulk PORT                   receives from one connection
 *   bulk ADDRESS PORT SECONDS   sends, and prints the goodput in MB/s, without the first tenth of the time
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 18];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct sockaddr_in a = { .sin_family = AF_INET };
    int s = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    double start, seconds, sent = 0;

    if (argc == 2) {
        a.sin_port = htons((unsigned short)atoi(argv[1]));
        if (setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 || bind(s, (void *)&a, sizeof a) != 0 ||
            listen(s, 1) != 0)
            return 1;
        puts("qualifier");
        fflush(stdout);
        s = accept(s, NULL, NULL);
        while (read(s, buffer, sizeof buffer) > 0)
            continue;
        return 0;
    }
    if (argc != 4 || inet_pton(AF_INET, argv[1], &a.sin_addr) != 1)
        return 2;
    a.sin_port = htons((unsigned short)atoi(argv[2]));
    if (connect(s, (void *)&a, sizeof a) != 0)
        return 1;
    seconds = atof(argv[3]);
    start = now() + seconds / 10;
    for (double t = now(); t < start + seconds; t = now()) {
        ssize_t n = write(s, buffer, sizeof buffer);

        if (n <= 0)
            return 1;
        if (t >= start)
            sent += (double)n;
    }
    printf("%.2f\n", sent / (now() - start) / 1e6);
    return 0;
}
