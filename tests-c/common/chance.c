#include "chance.h"

void chance_begin(struct chance *c, uint64_t seed)
{
    c->state = seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
    for (int i = 0; i < 4; i++)
        draw(c, 2);
}

unsigned draw(struct chance *c, unsigned below)
{
    if (c->state == 0)
        c->state = 1;
    c->state ^= c->state << 13;
    c->state ^= c->state >> 7;
    c->state ^= c->state << 17;
    return (unsigned)(c->state >> 33) % below;
}

unsigned draw_size(struct chance *c, unsigned least, unsigned most)
{
    unsigned steps = 0, low;

    while (least << (steps + 1) <= most)
        steps++;
    low = least << draw(c, steps + 1);
    return low + draw(c, (low > most - low ? most - low : low) + 1);
}
