#include "service/http/body_digest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"

enum { FIELDS = 2 };

static const char *const field_names[FIELDS] = {"Content-Digest", "Repr-Digest"};

struct body_digest {
    struct sha256 *sha256; /* NULL: no field has a SHA-256 digest */
    struct sha512 *sha512;
    char expected256[FIELDS][SHA256_BASE64_SIZE]; /* "": the field has no such digest */
    char expected512[FIELDS][SHA512_BASE64_SIZE];
};

static enum status refuse(size_t field, struct error *error)
{
    return error_set(error, ST_INVALID,
                     "%s must be as in sha-256=:BASE64:, with a digest of the whole "
                     "body",
                     field_names[field]);
}

/* Returns the size of the entry at the start of text. A comma inside a string does not
 * end the entry. */
static size_t entry_size(const char *text)
{
    size_t size = 0;
    bool quoted = false;
    for (; text[size] != '\0' && (quoted || text[size] != ','); size++) {
        quoted ^= text[size] == '"';
        size += quoted && text[size] == '\\' && text[size + 1] != '\0';
    }
    return size;
}

/* Returns the size of the key before an equals sign (RFC 8941, 3.1.2); 0 if there is
 * none. */
static size_t key_size(const char *entry, size_t size)
{
    size_t i = 0;
    while (i < size &&
           (islower((unsigned char)entry[i]) || isdigit((unsigned char)entry[i]) ||
            memchr("_-.*", entry[i], 4) != NULL))
        i++;
    return i < size && entry[i] == '=' ? i : 0;
}

/* Copies the base 64 text between colons, which must have the size of one digest. */
static bool read_value(char *to, size_t to_size, const char *value, size_t size)
{
    size_t length = to_size - 1;
    bool fits = size >= length + 2 && value[0] == ':' && value[length + 1] == ':' &&
                (size == length + 2 || value[length + 2] == ';');
    for (size_t i = 1; fits && i <= length; i++)
        fits = isalnum((unsigned char)value[i]) || memchr("+/=", value[i], 3) != NULL;
    if (fits)
        memcpy(to, value + 1, length);
    return fits;
}

static bool is_key(const char *entry, size_t size, const char *key)
{
    return size == strlen(key) && memcmp(entry, key, size) == 0;
}

/* Reads one entry of a field. */
static bool read_entry(struct body_digest *digest, size_t field, const char *entry,
                       size_t size)
{
    size_t key = key_size(entry, size);
    const char *value = entry + key + 1;
    if (key == 0)
        return false;
    if (is_key(entry, key, "sha-256"))
        return read_value(digest->expected256[field], SHA256_BASE64_SIZE, value,
                          size - key - 1);
    if (is_key(entry, key, "sha-512"))
        return read_value(digest->expected512[field], SHA512_BASE64_SIZE, value,
                          size - key - 1);
    return true;
}

static bool read_field(struct body_digest *digest, size_t field, const char *text)
{
    static const char blanks[] = " \t";
    for (const char *at = text + strspn(text, blanks);;) {
        size_t size = entry_size(at), trimmed = size;
        while (trimmed > 0 && strchr(blanks, at[trimmed - 1]) != NULL)
            trimmed--;
        if (!read_entry(digest, field, at, trimmed))
            return false;
        if (at[size] == '\0')
            return true;
        at += size + 1;
        at += strspn(at, blanks);
    }
}

enum status body_digest_begin(struct body_digest **out, const char *content,
                              const char *repr, struct error *error)
{
    const char *const texts[FIELDS] = {content, repr};
    *out = NULL;
    if (content == NULL && repr == NULL)
        return ST_OK;
    struct body_digest *digest = calloc(1, sizeof *digest);
    CHECK(digest != NULL);
    for (size_t i = 0; i < FIELDS; i++)
        if (texts[i] != NULL && !read_field(digest, i, texts[i])) {
            body_digest_destroy(digest);
            return refuse(i, error);
        }
    if (digest->expected256[0][0] != '\0' || digest->expected256[1][0] != '\0')
        digest->sha256 = sha256_create();
    if (digest->expected512[0][0] != '\0' || digest->expected512[1][0] != '\0')
        digest->sha512 = sha512_create();
    if (digest->sha256 == NULL && digest->sha512 == NULL) {
        body_digest_destroy(digest);
        return ST_OK;
    }
    *out = digest;
    return ST_OK;
}

void body_digest_destroy(struct body_digest *digest)
{
    if (digest == NULL)
        return;
    sha256_destroy(digest->sha256);
    sha512_destroy(digest->sha512);
    free(digest);
}

void body_digest_take(struct body_digest *digest, const void *data, size_t size)
{
    if (digest != NULL && digest->sha256 != NULL)
        sha256_update(digest->sha256, data, size);
    if (digest != NULL && digest->sha512 != NULL)
        sha512_update(digest->sha512, data, size);
}

static bool is_expected(const char *expected, const char *found)
{
    return expected[0] == '\0' || strcmp(expected, found) == 0;
}

enum status body_digest_check(struct body_digest *digest, struct error *error)
{
    uint8_t bytes256[SHA256_SIZE], bytes512[SHA512_SIZE];
    char found256[SHA256_BASE64_SIZE] = "", found512[SHA512_BASE64_SIZE] = "";
    if (digest == NULL)
        return ST_OK;
    if (digest->sha256 != NULL) {
        sha256_finish(digest->sha256, bytes256);
        sha256_render_base64(found256, bytes256);
    }
    if (digest->sha512 != NULL) {
        sha512_finish(digest->sha512, bytes512);
        sha512_render_base64(found512, bytes512);
    }
    for (size_t i = 0; i < FIELDS; i++)
        if (!is_expected(digest->expected256[i], found256) ||
            !is_expected(digest->expected512[i], found512))
            return error_set(error, ST_INVALID,
                             "the body has not the digest of %s: send it again",
                             field_names[i]);
    return ST_OK;
}
