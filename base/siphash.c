#include "base/siphash.h"

#include <endian.h>
#include <string.h>

struct state {
    uint64_t v[4];
};

static uint64_t turned(uint64_t word, int by)
{
    return word << by | word >> (64 - by);
}

static void mix(struct state *s, int rounds)
{
    uint64_t *v = s->v;
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[1] = turned(v[1], 13) ^ v[0];
        v[0] = turned(v[0], 32);
        v[2] += v[3];
        v[3] = turned(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = turned(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = turned(v[1], 17) ^ v[2];
        v[2] = turned(v[2], 32);
    }
}

static void take(struct state *s, uint64_t word)
{
    s->v[3] ^= word;
    mix(s, 2);
    s->v[0] ^= word;
}

uint64_t siphash(const struct siphash_key *key, const void *data, size_t size)
{
    const uint8_t *at = data;
    struct state s = {{key->words[0] ^ UINT64_C(0x736f6d6570736575),
                       key->words[1] ^ UINT64_C(0x646f72616e646f6d),
                       key->words[0] ^ UINT64_C(0x6c7967656e657261),
                       key->words[1] ^ UINT64_C(0x7465646279746573)}};
    uint64_t last = (uint64_t)size << 56;
    size_t left = size;
    for (; left >= 8; left -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        take(&s, le64toh(word));
    }
    for (size_t i = 0; i < left; i++)
        last |= (uint64_t)at[i] << (8 * i);
    take(&s, last);
    s.v[2] ^= 0xff;
    mix(&s, 4);
    return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}
