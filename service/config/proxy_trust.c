#include "service/config/proxy_trust.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESS_MAX = 64 };

/* Returns whether a and b begin with the same bits. */
static bool shares_bits(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

static bool parse_prefix(unsigned *prefix, const char *text, unsigned most)
{
    char *end = NULL;
    unsigned long bits = strtoul(text, &end, 10);
    *prefix = (unsigned)bits;
    return isdigit((unsigned char)text[0]) && *end == '\0' && bits <= most;
}

static bool parse_network(struct proxy_trust *trust, const char *text)
{
    static const uint8_t zeros[16];
    char address[ADDRESS_MAX];
    size_t length = strcspn(text, "/");
    if (length >= sizeof address)
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    trust->family = strchr(address, ':') != NULL ? AF_INET6 : AF_INET;
    trust->prefix = trust->family == AF_INET6 ? 128 : 32;
    if (inet_pton(trust->family, address, trust->network) != 1 ||
        (text[length] == '/' &&
         !parse_prefix(&trust->prefix, text + length + 1, trust->prefix)))
        return false;
    uint8_t masked[16];
    memcpy(masked, trust->network, sizeof masked);
    for (unsigned bit = 0; bit < trust->prefix; bit++)
        masked[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
    return memcmp(masked, zeros, sizeof masked) == 0;
}

enum status proxy_trust_parse(struct proxy_trust *trust, const char *text,
                              struct error *error)
{
    struct proxy_trust read = {.family = AF_UNIX};
    if (strcmp(text, "unix") != 0) {
        read = (struct proxy_trust){0};
        if (!parse_network(&read, text))
            return error_set(error, ST_INVALID,
                             "\"%s\" is neither unix nor a network such as 10.1.0.0/16",
                             text);
    }
    *trust = read;
    return ST_OK;
}

bool proxy_trust_holds(const struct proxy_trust *trust, const struct sockaddr *peer)
{
    if (trust->family == AF_UNSPEC || peer->sa_family != trust->family)
        return false;
    if (trust->family == AF_UNIX)
        return true;
    union {
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address;
    if (trust->family == AF_INET) {
        memcpy(&address.four, peer, sizeof address.four);
        return shares_bits((const uint8_t *)&address.four.sin_addr, trust->network,
                           trust->prefix);
    }
    memcpy(&address.six, peer, sizeof address.six);
    return shares_bits(address.six.sin6_addr.s6_addr, trust->network, trust->prefix);
}
