#include "base/cipher.h"

#include <limits.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "base/hash.h"

static EVP_CIPHER_CTX *begin(const struct cipher_use *use, int encrypts)
{
    int written;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    CHECK(context != NULL);
    CHECK(EVP_CipherInit_ex(context, EVP_aes_256_gcm(), NULL, use->key, use->nonce,
                            encrypts) == 1);
    CHECK(use->bound_size <= INT_MAX);
    if (use->bound_size > 0)
        CHECK(EVP_CipherUpdate(context, NULL, &written, use->bound,
                               (int)use->bound_size) == 1);
    return context;
}

void cipher_seal(const struct cipher_use *use, uint8_t *sealed, const void *data,
                 size_t size)
{
    int written = 0;
    EVP_CIPHER_CTX *context = begin(use, 1);
    CHECK(size <= INT_MAX);
    if (size > 0)
        CHECK(EVP_CipherUpdate(context, sealed, &written, data, (int)size) == 1);
    CHECK(EVP_CipherFinal_ex(context, sealed + size, &written) == 1);
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, CIPHER_TAG_SIZE,
                              sealed + size) == 1);
    EVP_CIPHER_CTX_free(context);
}

bool cipher_open(const struct cipher_use *use, void *data, const uint8_t *sealed,
                 size_t size)
{
    int written = 0;
    uint8_t tag[CIPHER_TAG_SIZE], *out = data;
    EVP_CIPHER_CTX *context = begin(use, 0);
    CHECK(size <= INT_MAX);
    for (size_t i = 0; i < sizeof tag; i++)
        tag[i] = sealed[size + i];
    if (size > 0)
        CHECK(EVP_CipherUpdate(context, out, &written, sealed, (int)size) == 1);
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, CIPHER_TAG_SIZE, tag) ==
          1);
    bool whole = EVP_CipherFinal_ex(context, out + size, &written) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!whole)
        hash_zero(data, size);
    return whole;
}
