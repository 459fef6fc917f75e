/*
 * refused.c - runs a command without netlink.
 *
 * usage: refused NETLINK LIST COMMAND [ARGUMENT...], with error numbers for refuse()
 */
#include "registry/refuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    if (!refuse(atoi(argv[1]), atoi(argv[2]))) {
        perror("refused: seccomp");
        return 77;
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 127;
}
