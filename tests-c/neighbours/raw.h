/* raw.h - packets between processes, sent without the library. */
#ifndef TESTS_C_RAW_H
#define TESTS_C_RAW_H

#include "common/fixture.h"

/* Number of descriptors that the tests search, number of descriptors in a hello, size of a name. */
enum { MAX_FILES = 1024, FILES = 4, NAME = 64 };

enum { HELLO = 1, WELCOME = 2, RING = 10, AGAIN = 11 };

struct packet {
    unsigned char bytes[1200];
    size_t len;
};

/* Stores the target of a descriptor's link in /proc, or "", in `text`. Returns `text`. */
const char *file_text(int fd, char *text, size_t size);

/* Returns a socket option, or -1 if fd is no socket. */
int option(int fd, int which);

bool find_name(pid_t pid, char name[NAME]);

/* Connects to the socket of that name. Returns -1 if its queue is full or no descriptor is free. */
int raw_connect(const char *name);

void put(struct packet *p, unsigned long long value, int bytes);

/* Sends a packet with `count` descriptors. Returns false if the socket is closed or full. */
bool raw_send(int fd, const struct packet *p, const int *files, int count);

/* Returns the kind of the next packet, 0 at the end, or -1 at the deadline. */
int raw_hear(int fd);

void hello(struct packet *p, const char *name);

/* Collects the descriptors for a hello of this process, whose adapter must be open. */
void hello_files(int files[FILES]);

#endif
