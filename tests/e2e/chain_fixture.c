#include "tests/e2e/chain_fixture.h"

#include <string.h>
#include <openssl/sha.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"

struct hashed {
    size_t size;
    uint8_t bytes[4096];
};

static void add(struct hashed *hashed, const void *bytes, size_t size)
{
    assert_true(size <= sizeof hashed->bytes - hashed->size);
    memcpy(hashed->bytes + hashed->size, bytes, size);
    hashed->size += size;
}

static void add_number(struct hashed *hashed, uint64_t number)
{
    for (int i = 0; i < 8; i++, number >>= 8)
        add(hashed, &(uint8_t){(uint8_t)number}, 1);
}

static void add_field(struct hashed *hashed, const void *bytes, size_t size)
{
    add_number(hashed, size);
    add(hashed, bytes, size);
}

static void add_count(struct hashed *hashed, uint64_t number)
{
    add_number(hashed, sizeof number);
    add_number(hashed, number);
}

static void add_text(struct hashed *hashed, const json_t *entry, const char *name)
{
    const char *text = json_string_value(json_object_get(entry, name));
    add_field(hashed, text, strlen(text));
}

/* Adds the curve's bytes in the order of a little-endian machine. */
static void add_curve(struct hashed *hashed, const json_t *entry, const char *name)
{
    double curve[ACCOUNT_ORDERS];
    account_curve(curve, json_object_get(entry, name));
    add_field(hashed, curve, sizeof curve);
}

static void read_digest(uint8_t digest[SHA256_DIGEST_LENGTH], const char *hex)
{
    for (int i = 0; i < SHA256_DIGEST_LENGTH; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        digest[i] = (uint8_t)byte;
    }
}

static uint64_t count_of(const json_t *entry, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(entry, name));
}

bool chain_hash_fits(const char *line, const json_t *entry, uint64_t time_ms)
{
    struct hashed all = {0};
    uint8_t digest[SHA256_DIGEST_LENGTH], published[SHA256_DIGEST_LENGTH];
    const char *meta = strstr(line, "\"meta\":") + strlen("\"meta\":");
    add(&all, "v1", 2);
    read_digest(digest, json_string_value(json_object_get(entry, "prev")));
    add(&all, digest, sizeof digest);
    add_count(&all, count_of(entry, "seq"));
    add_text(&all, entry, "dataset");
    add_count(&all, count_of(entry, "epoch"));
    add_text(&all, entry, "job");
    add_text(&all, entry, "kind");
    add_curve(&all, entry, "curve");
    add_curve(&all, entry, "released");
    add_field(&all, meta, (size_t)(strstr(meta, ",\"actor\"") - meta));
    add_text(&all, entry, "actor");
    add_count(&all, time_ms);
    SHA256(all.bytes, all.size, digest);
    read_digest(published, json_string_value(json_object_get(entry, "hash")));
    return memcmp(digest, published, sizeof digest) == 0;
}
