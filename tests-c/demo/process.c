/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The parts without uDAPL: errors, time, and the second process.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "demo.h"

const char *role = "demo";
static pid_t child;
static int progress_shown;

/* ---- Errors and time ---- */

/* Replaces the line of progress if standard error is a terminal; NULL removes the line. */
void show_progress(const char *text)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (progress_shown)
        fprintf(stderr, "\r%60s\r", "");
    progress_shown = text != NULL;
    if (text != NULL)
        fputs(text, stderr);
    fflush(stderr);
}

/* Prints the error and ends both processes. */
void fail(const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fflush(stdout);
    show_progress(NULL);
    fprintf(stderr, "%s: %s\n", role, text);
    if (child > 0)
        kill(child, SIGKILL);
    exit(EXIT_FAILURE);
}

/*
 * Ends the processes if a dat_ call has failed. dat_strerror returns texts for
 * both parts of a code.
 */
void must(const char *call, DAT_RETURN rc)
{
    const char *major = "", *minor = "";

    if (rc == DAT_SUCCESS)
        return;
    (void)dat_strerror(rc, &major, &minor);
    fail("%s: %s %s (0x%08x)", call, major, minor, (unsigned)rc);
}

double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- The second process ---- */

/*
 * Starts this program again as the server. fork() alone is not enough: a child
 * cannot use an adapter that its parent has opened. Returns the pipe on which
 * the server sends its address.
 */
int start_server(const char *adapter)
{
    char self[4096], number[16];
    int ends[2];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length < 0 || pipe(ends) != 0)
        fail("cannot start the second process: %s", strerror(errno));
    self[length] = '\0';
    child = fork();
    if (child < 0)
        fail("fork: %s", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        snprintf(number, sizeof number, "%d", ends[1]);
        execl(self, "demo", "--serve", adapter, number, (char *)NULL);
        fail("%s: %s", self, strerror(errno));
    }
    close(ends[1]);
    return ends[0];
}

/* Reads from the pipe. Returns fewer bytes if the server has closed it. */
size_t read_pipe(int pipe_end, void *data, size_t size)
{
    struct pollfd ready = { pipe_end, POLLIN, 0 };
    size_t got = 0;
    ssize_t n = 1;

    while (got < size && n > 0) {
        if (poll(&ready, 1, (int)(TIMEOUT * 1000)) <= 0)
            fail("the second process does not respond");
        n = read(pipe_end, (char *)data + got, size - got);
        if (n < 0)
            fail("read: %s", strerror(errno));
        got += (size_t)n;
    }
    return got;
}

/* Waits until the server has closed the pipe, and checks its exit status. */
void end_server(int pipe_end)
{
    char byte;
    int status;

    if (read_pipe(pipe_end, &byte, 1) != 0)
        fail("the second process said more than expected");
    if (waitpid(child, &status, 0) != child)
        fail("waitpid: %s", strerror(errno));
    child = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail("the second process failed");
}
