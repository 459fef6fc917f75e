/* linked.c - a program that is linked with both libraries. */
#include "both/meeting.h"

#include "common/env.h"
#include "common/tap.h"

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    meet(half12(), half20(), argc, argv);
    return done_testing();
}
