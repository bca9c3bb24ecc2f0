#include "service/http/certificates.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"

enum { PEM_SIZE_MAX = 1 << 20 }; /* bytes; a long chain has about ten thousand */

struct certificate {
    struct certificates *all;
    gnutls_certificate_credentials_t credentials;
    size_t holders; /* connections, and one more while this is current */
};

struct certificates {
    const char *certificate_path, *key_path;
    pthread_mutex_t lock; /* guards current, and the holders of every certificate */
    struct certificate *current;
};

/* --- reading --- */

static enum status check_file(const char *path, int file, bool secret,
                              struct error *error)
{
    struct stat info;
    if (fstat(file, &info) != 0)
        return error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode) || info.st_size > PEM_SIZE_MAX)
        return error_set(error, ST_INVALID, "%s: not a file of at most %d bytes", path,
                         PEM_SIZE_MAX);
    if (secret && (info.st_mode & (S_IRWXO | S_IWGRP)) != 0)
        return error_set(error, ST_INVALID,
                         "%s: others can read this key or its group can change it "
                         "(mode %03o); chmod 600 it, or 640",
                         path, (unsigned)info.st_mode & 0777);
    return ST_OK;
}

/* Reads a file into pem->data, which the caller frees. */
static enum status read_pem(gnutls_datum_t *pem, const char *path, bool secret,
                            struct error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    enum status status = check_file(path, file, secret, error);
    if (status == ST_OK) {
        pem->data = calloc(1, PEM_SIZE_MAX);
        CHECK(pem->data != NULL);
        ssize_t got = read(file, pem->data, PEM_SIZE_MAX);
        if (got < 0)
            status = error_set(error, ST_IO, "%s: %s", path, strerror(errno));
        pem->size = got > 0 ? (unsigned)got : 0;
    }
    close(file);
    return status;
}

static void forget_pem(gnutls_datum_t *pem)
{
    if (pem->data != NULL)
        gnutls_memset(pem->data, 0, pem->size);
    free(pem->data);
}

static enum status read_credentials(gnutls_certificate_credentials_t credentials,
                                    const struct certificates *files,
                                    struct error *error)
{
    gnutls_datum_t certificate = {0}, key = {0};
    enum status status = read_pem(&certificate, files->certificate_path, false, error);
    if (status == ST_OK)
        status = read_pem(&key, files->key_path, true, error);
    if (status == ST_OK) {
        int failed = gnutls_certificate_set_x509_key_mem(credentials, &certificate,
                                                         &key, GNUTLS_X509_FMT_PEM);
        if (failed == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
            status = error_set(error, ST_INVALID, "the key in %s is not that of %s",
                               files->key_path, files->certificate_path);
        else if (failed < 0)
            status =
                error_set(error, ST_INVALID, "%s and %s: %s", files->certificate_path,
                          files->key_path, gnutls_strerror(failed));
    }
    forget_pem(&certificate);
    forget_pem(&key);
    return status;
}

/* Reads a new certificate. The caller is its first holder. */
static enum status certificate_read(struct certificate **out,
                                    struct certificates *certificates,
                                    struct error *error)
{
    struct certificate *certificate = calloc(1, sizeof *certificate);
    CHECK(certificate != NULL);
    certificate->all = certificates;
    certificate->holders = 1;
    CHECK(gnutls_certificate_allocate_credentials(&certificate->credentials) == 0);
    enum status status =
        read_credentials(certificate->credentials, certificates, error);
    if (status == ST_OK)
        *out = certificate;
    else
        certificate_release(certificate);
    return status;
}

/* --- opening and closing --- */

enum status certificates_open(struct certificates **out, const char *certificate_path,
                              const char *key_path, struct error *error)
{
    struct certificates *certificates = calloc(1, sizeof *certificates);
    CHECK(certificates != NULL);
    certificates->certificate_path = certificate_path;
    certificates->key_path = key_path;
    pthread_mutex_init(&certificates->lock, NULL);
    enum status status = certificates_reload(certificates, error);
    if (status == ST_OK)
        *out = certificates;
    else
        certificates_close(certificates);
    return status;
}

enum status certificates_reload(struct certificates *certificates, struct error *error)
{
    struct certificate *fresh = NULL;
    enum status status = certificate_read(&fresh, certificates, error);
    if (status != ST_OK)
        return status;
    pthread_mutex_lock(&certificates->lock);
    struct certificate *old = certificates->current;
    certificates->current = fresh;
    pthread_mutex_unlock(&certificates->lock);
    certificate_release(old);
    return ST_OK;
}

void certificates_close(struct certificates *certificates)
{
    if (certificates == NULL)
        return;
    certificate_release(certificates->current);
    pthread_mutex_destroy(&certificates->lock);
    free(certificates);
}

/* --- one connection --- */

struct certificate *certificate_hold(struct certificates *certificates,
                                     gnutls_session_t session)
{
    pthread_mutex_lock(&certificates->lock);
    struct certificate *current = certificates->current;
    current->holders++;
    pthread_mutex_unlock(&certificates->lock);
    CHECK(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE,
                                 current->credentials) == 0);
    return current;
}

void certificate_release(struct certificate *certificate)
{
    if (certificate == NULL)
        return;
    pthread_mutex_lock(&certificate->all->lock);
    size_t left = --certificate->holders;
    pthread_mutex_unlock(&certificate->all->lock);
    if (left > 0)
        return;
    gnutls_certificate_free_credentials(certificate->credentials);
    free(certificate);
}
