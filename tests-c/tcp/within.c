/* within.c - runs a command on the near host of world.h: tcp/within COMMAND ARGUMENT... */
#include "world.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    must(argc > 1, "within COMMAND ARGUMENT...");
    world_make(1, argv, NULL);
    execvp(argv[1], argv + 1);
    bail("%s cannot be started", argv[1]);
}
