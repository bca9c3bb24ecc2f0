#include "base/principal.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const struct principal principal_local = {
    .name = "local", .project = "default", .role = ROLE_LOCAL, .via = VIA_LOCAL};

bool principal_parse(struct principal *principal, const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof principal->name)
        return false;
    *principal = (struct principal){0};
    memcpy(principal->name, name, length);
    return true;
}

bool person_equal(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}

bool principal_equal(const struct principal *a, const struct principal *b)
{
    return person_equal(a->name, b->name);
}

const char *via_name(enum via via)
{
    switch (via) {
    case VIA_LOCAL: return "local";
    case VIA_BEARER: return "bearer";
    case VIA_SESSION: return "session";
    case VIA_PROXY: return "proxy";
    case VIA_CLI: return "cli";
    }
    return "";
}

static bool is_name(const char *text, const char *allowed)
{
    size_t length = strlen(text);
    return length > 0 && length < PRINCIPAL_NAME_SIZE &&
           isalnum((unsigned char)text[0]) && strspn(text, allowed) == length;
}

bool principal_name_is_good(const char *text)
{
    return is_name(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789._@+-");
}

bool project_name_is_good(const char *text)
{
    return is_name(text, "abcdefghijklmnopqrstuvwxyz0123456789._-");
}
