#include "base/hash.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.h"

struct sha256 {
    EVP_MD_CTX *context;
};

struct sha512 {
    EVP_MD_CTX *context;
};

static EVP_MD_CTX *begin(const EVP_MD *kind)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    CHECK(context != NULL);
    CHECK(EVP_DigestInit_ex(context, kind, NULL) == 1);
    return context;
}

struct sha256 *sha256_create(void)
{
    struct sha256 *hash = malloc(sizeof *hash);
    CHECK(hash != NULL);
    hash->context = begin(EVP_sha256());
    return hash;
}

void sha256_destroy(struct sha256 *hash)
{
    if (hash == NULL)
        return;
    EVP_MD_CTX_free(hash->context);
    free(hash);
}

void sha256_update(struct sha256 *hash, const void *data, size_t size)
{
    CHECK(EVP_DigestUpdate(hash->context, data, size) == 1);
}

void sha256_finish(struct sha256 *hash, uint8_t digest[SHA256_SIZE])
{
    CHECK(EVP_DigestFinal_ex(hash->context, digest, NULL) == 1);
}

struct sha512 *sha512_create(void)
{
    struct sha512 *hash = malloc(sizeof *hash);
    CHECK(hash != NULL);
    hash->context = begin(EVP_sha512());
    return hash;
}

void sha512_destroy(struct sha512 *hash)
{
    if (hash == NULL)
        return;
    EVP_MD_CTX_free(hash->context);
    free(hash);
}

void sha512_update(struct sha512 *hash, const void *data, size_t size)
{
    CHECK(EVP_DigestUpdate(hash->context, data, size) == 1);
}

void sha512_finish(struct sha512 *hash, uint8_t digest[SHA512_SIZE])
{
    CHECK(EVP_DigestFinal_ex(hash->context, digest, NULL) == 1);
}

/* Returns the algorithm. It is looked up only once, because the lookup takes three
 * times as long as hashing a few bytes, and is kept until the process ends. */
static EVP_MD *algorithm(void)
{
    static _Atomic(EVP_MD *) kept;
    EVP_MD *found = atomic_load(&kept), *none = NULL;
    if (found != NULL)
        return found;
    found = EVP_MD_fetch(NULL, "SHA256", NULL);
    CHECK(found != NULL);
    if (atomic_compare_exchange_strong(&kept, &none, found))
        return found;
    EVP_MD_free(found); /* another thread was faster */
    return none;
}

void sha256_of(uint8_t digest[SHA256_SIZE], const void *data, size_t size)
{
    CHECK(EVP_Digest(data, size, digest, NULL, algorithm(), NULL) == 1);
}

void hmac_sha256(uint8_t digest[SHA256_SIZE], const uint8_t key[SHA256_SIZE],
                 const void *data, size_t size)
{
    CHECK(HMAC(EVP_sha256(), key, SHA256_SIZE, data, size, digest, NULL) != NULL);
}

void sha256_render(char text[SHA256_HEX_SIZE], const uint8_t digest[SHA256_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[2 * SHA256_SIZE] = '\0';
}

void sha256_render_base64(char text[SHA256_BASE64_SIZE],
                          const uint8_t digest[SHA256_SIZE])
{
    EVP_EncodeBlock((unsigned char *)text, digest, SHA256_SIZE);
}

void sha512_render_base64(char text[SHA512_BASE64_SIZE],
                          const uint8_t digest[SHA512_SIZE])
{
    EVP_EncodeBlock((unsigned char *)text, digest, SHA512_SIZE);
}

bool hash_equal(const void *a, const void *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}

void hash_zero(void *data, size_t size)
{
    explicit_bzero(data, size);
}
