#include "base/access_key.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"

const char access_key_prefix[] = "dpk_";

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "abcdefghijklmnopqrstuvwxyz";
enum {
    BASE = sizeof digits - 1,
    PREFIX_LENGTH = sizeof access_key_prefix - 1,
    SECRET_AT = PREFIX_LENGTH + ACCESS_KEY_ID_LENGTH + 1,
    FAIR = 256 / BASE * BASE, /* from here on, the first digits would be likelier */
};

static void draw(char *out, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint8_t byte;
        random_bytes(&byte, 1);
        if (byte < FAIR)
            out[i++] = digits[byte % BASE];
    }
    out[length] = '\0';
}

void access_key_make(char id[ACCESS_KEY_ID_SIZE], char text[ACCESS_KEY_TEXT_SIZE])
{
    draw(id, ACCESS_KEY_ID_LENGTH);
    snprintf(text, ACCESS_KEY_TEXT_SIZE, "%s%s_", access_key_prefix, id);
    draw(text + SECRET_AT, ACCESS_KEY_SECRET_LENGTH);
}

bool access_key_parse(char id[ACCESS_KEY_ID_SIZE], const char *text)
{
    if (strlen(text) != ACCESS_KEY_TEXT_SIZE - 1 ||
        strncmp(text, access_key_prefix, PREFIX_LENGTH) != 0 ||
        strspn(text + PREFIX_LENGTH, digits) != ACCESS_KEY_ID_LENGTH ||
        text[SECRET_AT - 1] != '_' ||
        strspn(text + SECRET_AT, digits) != ACCESS_KEY_SECRET_LENGTH)
        return false;
    memcpy(id, text + PREFIX_LENGTH, ACCESS_KEY_ID_LENGTH);
    id[ACCESS_KEY_ID_LENGTH] = '\0';
    return true;
}

void access_key_digest(uint8_t digest[SHA256_SIZE], const char *text)
{
    sha256_of(digest, text + SECRET_AT, ACCESS_KEY_SECRET_LENGTH);
}
