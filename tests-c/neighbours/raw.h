/*
 * raw.h - what a process says to another one past its library: the bytes of the messages between processes.
 */
#ifndef TESTS_C_RAW_H
#define TESTS_C_RAW_H

#include "common/fixture.h"

/* Descriptors that a process has at most, those of a hello, and bytes of a name. */
enum { MOST_FILES = 1024, FILES = 4, NAME = 64 };

/* Kinds of messages. */
enum { HELLO = 1, WELCOME = 2, RING = 10, AGAIN = 11 };

struct packet {
    unsigned char bytes[1200];
    size_t len;
};

/* The link behind a descriptor, or an empty text. */
const char *file_text(int fd, char *text, size_t size);

/* That option of a socket; -1 when it is none. */
int option(int fd, int which);

/* The name of the socket of a process. */
bool find_name(pid_t pid, char name[NAME]);

/* Connects to the socket of that name; -1 when its queue is full or there are no descriptors. */
int raw_connect(const char *name);

void put(struct packet *p, unsigned long long value, int bytes);

/* Sends a packet; with count descriptors. False when nobody reads it any more, or there is no room. */
bool raw_send(int fd, const struct packet *p, const int *files, int count);

/* The kind of the next message; 0 at the end, -1 when none comes in time. */
int raw_hear(int fd);

void hello(struct packet *p, const char *name);

/* The descriptors that go with a hello: those of this process, whose adapter is open. */
void hello_files(int files[FILES]);

#endif
