#include "service/outbound/host_address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { MAPPED_AT = 12, MAPPED_BITS = 96, ADDRESS_BITS = 128 };

static const uint8_t mapped_prefix[MAPPED_AT] = {[10] = 0xff, [11] = 0xff};

#define V4(a, b, c, d, length)                                                         \
    {                                                                                  \
        {{[10] = 0xff, [11] = 0xff, [12] = a, [13] = b, [14] = c, [15] = d}},          \
            MAPPED_BITS + (length)                                                     \
    }

static const struct host_address_block loopbacks[] = {
    V4(127, 0, 0, 0, 8),
    {{{[15] = 1}}, ADDRESS_BITS},
};

/* IPv4 addresses that are not public. */
static const struct host_address_block set_aside[] = {
    V4(0, 0, 0, 0, 8),       /* this network */
    V4(10, 0, 0, 0, 8),      /* private */
    V4(100, 64, 0, 0, 10),   /* shared by a carrier's customers */
    V4(127, 0, 0, 0, 8),     /* loopback */
    V4(169, 254, 0, 0, 16),  /* link-local, and metadata of clouds */
    V4(172, 16, 0, 0, 12),   /* private */
    V4(192, 0, 0, 0, 24),    /* protocols */
    V4(192, 0, 2, 0, 24),    /* documentation */
    V4(192, 88, 99, 0, 24),  /* relays of 6to4 */
    V4(192, 168, 0, 0, 16),  /* private */
    V4(198, 18, 0, 0, 15),   /* measurements */
    V4(198, 51, 100, 0, 24), /* documentation */
    V4(203, 0, 113, 0, 24),  /* documentation */
    V4(224, 0, 0, 0, 4),     /* groups */
    V4(240, 0, 0, 0, 4),     /* reserved, and broadcast */
};

/* Parts of 2000::/3 that are not public either. */
static const struct host_address_block set_aside_six[] = {
    {{{0x20, 0x01}}, 23},             /* protocols, Teredo among them */
    {{{0x20, 0x01, 0x0d, 0xb8}}, 32}, /* documentation */
    {{{0x20, 0x02}}, 16},             /* 6to4, which carries an IPv4 address */
    {{{0x3f, 0xff}}, 20},             /* documentation */
};

static const struct host_address_block mapped = {{{[10] = 0xff, [11] = 0xff}},
                                                 MAPPED_BITS};
static const struct host_address_block global_six = {{{0x20}}, 3};

static bool block_holds(const struct host_address_block *block,
                        const struct host_address *address)
{
    unsigned whole = block->bits / 8, rest = block->bits % 8;
    if (memcmp(block->first.bytes, address->bytes, whole) != 0)
        return false;
    return rest == 0 ||
           (block->first.bytes[whole] ^ address->bytes[whole]) >> (8 - rest) == 0;
}

static bool any_holds(const struct host_address_block *blocks, size_t count,
                      const struct host_address *address)
{
    for (size_t i = 0; i < count; i++)
        if (block_holds(&blocks[i], address))
            return true;
    return false;
}

#define ANY_HOLDS(blocks, address)                                                     \
    any_holds(blocks, sizeof(blocks) / sizeof *(blocks), address)

bool host_address_is_loopback(const struct host_address *address)
{
    return ANY_HOLDS(loopbacks, address);
}

bool host_address_is_public(const struct host_address *address)
{
    if (block_holds(&mapped, address))
        return !ANY_HOLDS(set_aside, address);
    return block_holds(&global_six, address) && !ANY_HOLDS(set_aside_six, address);
}

bool host_address_parse(struct host_address *address, const char *text)
{
    struct host_address read;
    memcpy(read.bytes, mapped_prefix, sizeof mapped_prefix);
    if (inet_pton(AF_INET, text, read.bytes + MAPPED_AT) != 1 &&
        inet_pton(AF_INET6, text, read.bytes) != 1)
        return false;
    *address = read;
    return true;
}

bool host_address_read(struct host_address *address, const struct sockaddr *from)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    if (from->sa_family == AF_INET) {
        memcpy(&four, from, sizeof four);
        memcpy(address->bytes, mapped_prefix, sizeof mapped_prefix);
        memcpy(address->bytes + MAPPED_AT, &four.sin_addr, sizeof four.sin_addr);
        return true;
    }
    if (from->sa_family != AF_INET6)
        return false;
    memcpy(&six, from, sizeof six);
    memcpy(address->bytes, &six.sin6_addr, sizeof six.sin6_addr);
    return true;
}

/* --- lists --- */

/* Reads the length after the slash; without one it is the whole address. */
static bool read_bits(unsigned *bits, const char *text, bool is_four)
{
    char *end;
    unsigned most = is_four ? ADDRESS_BITS - MAPPED_BITS : ADDRESS_BITS;
    unsigned long length = most;
    if (text != NULL) {
        if (!isdigit((unsigned char)text[0]))
            return false;
        length = strtoul(text, &end, 10);
        if (*end != '\0' || length > most)
            return false;
    }
    *bits = (unsigned)length + (is_four ? MAPPED_BITS : 0);
    return true;
}

static bool read_block(struct host_address_block *block, char *text)
{
    char *slash = strchr(text, '/');
    if (slash != NULL)
        *slash = '\0';
    return host_address_parse(&block->first, text) &&
           read_bits(&block->bits, slash != NULL ? slash + 1 : NULL,
                     strchr(text, ':') == NULL);
}

enum status host_address_list_parse(struct host_address_list *list, const char *text,
                                    struct error *error)
{
    enum { BLOCK_TEXT_SIZE = 64 };
    struct host_address_list read = {0};
    for (const char *next = text;; next++) {
        char block[BLOCK_TEXT_SIZE];
        size_t size = strcspn(next, ",");
        bool good = size < sizeof block && read.count < HOST_ADDRESS_BLOCKS_MAX;
        if (good) {
            memcpy(block, next, size);
            block[size] = '\0';
            good = read_block(&read.blocks[read.count++], block);
        }
        if (!good)
            return error_set(error, ST_INVALID,
                             "at most %d addresses or blocks of them, a comma between "
                             "two: 127.0.0.1,10.1.0.0/16,fd00::/8",
                             HOST_ADDRESS_BLOCKS_MAX);
        next += size;
        if (*next == '\0')
            break;
    }
    *list = read;
    return ST_OK;
}

bool host_address_list_holds(const struct host_address_list *list,
                             const struct host_address *address)
{
    return any_holds(list->blocks, list->count, address);
}

bool host_address_list_has_loopback(const struct host_address_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (host_address_is_loopback(&list->blocks[i].first))
            return true;
    return false;
}

bool host_address_is_allowed(const struct host_address *address, bool plain,
                             const struct host_address_list *listed)
{
    bool is_listed = host_address_list_holds(listed, address);
    if (plain)
        return is_listed && host_address_is_loopback(address);
    return is_listed || host_address_is_public(address);
}
