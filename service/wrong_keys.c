#include "service/wrong_keys.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "base/check.h"
#include "base/random.h"

enum {
    WAYS = 8,
    SETS = LIMIT_WRONG_KEY_ADDRESSES / WAYS,
};

static const int64_t minute_ns = INT64_C(60000000000);

struct address {
    uint64_t network; /* what of the address is told apart */
    uint64_t family;
};

struct entry {
    struct address address;
    int64_t since_ns;
    unsigned count; /* 0: the entry is free */
};

struct wrong_keys {
    pthread_mutex_t lock; /* guards entries */
    uint64_t salt;        /* nobody can choose addresses that push another's out */
    struct entry entries[SETS][WAYS];
};

struct wrong_keys *wrong_keys_create(void)
{
    struct wrong_keys *wrong = calloc(1, sizeof *wrong);
    CHECK(wrong != NULL);
    pthread_mutex_init(&wrong->lock, NULL);
    random_bytes(&wrong->salt, sizeof wrong->salt);
    return wrong;
}

void wrong_keys_destroy(struct wrong_keys *wrong)
{
    if (wrong == NULL)
        return;
    pthread_mutex_destroy(&wrong->lock);
    free(wrong);
}

static struct address address_of(const struct sockaddr *from)
{
    struct address address = {.family = from->sa_family};
    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)from;
        address.network = four->sin_addr.s_addr;
    } else if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six =
            (const struct sockaddr_in6 *)(const void *)from;
        memcpy(&address.network, &six->sin6_addr, sizeof address.network);
    }
    return address;
}

/* Spreads addresses over the sets (the finish of MurmurHash3, by Appleby). */
static size_t set_of(const struct wrong_keys *wrong, const struct address *address)
{
    uint64_t x = (address->network ^ address->family << 56) + wrong->salt;
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (size_t)((x ^ x >> 33) % SETS);
}

/* The entry of the address, or the one to be had for it: a free one, or the oldest. */
static struct entry *find(struct entry *set, const struct address *address)
{
    struct entry *oldest = &set[0];
    for (size_t i = 0; i < WAYS; i++) {
        struct entry *entry = &set[i];
        if (entry->count > 0 && memcmp(&entry->address, address, sizeof *address) == 0)
            return entry;
        if (oldest->count > 0 &&
            (entry->count == 0 || entry->since_ns < oldest->since_ns))
            oldest = entry;
    }
    oldest->count = 0;
    return oldest;
}

bool wrong_keys_add(struct wrong_keys *wrong, const struct sockaddr *from,
                    int64_t now_ns)
{
    const struct address address = address_of(from);
    pthread_mutex_lock(&wrong->lock);
    struct entry *entry = find(wrong->entries[set_of(wrong, &address)], &address);
    if (entry->count == 0 || now_ns - entry->since_ns >= minute_ns)
        *entry = (struct entry){.address = address, .since_ns = now_ns};
    if (entry->count <= LIMIT_WRONG_KEYS)
        entry->count++;
    bool too_many = entry->count > LIMIT_WRONG_KEYS;
    pthread_mutex_unlock(&wrong->lock);
    return too_many;
}
