#include "service/config/blob_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "service/config/config.h"
#include "service/outbound/s3.h"
#include "store/blobs/blob_objects.h"

enum { VALUE_SIZE = 8192, ENDPOINT_SIZE = 256 };

/* --- the key that encrypts the keys of files --- */

static bool read_digits(uint8_t key[CIPHER_KEY_SIZE], const char *text)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = strcspn(text, "\r\n");
    if (length != 2 * CIPHER_KEY_SIZE || text[length + strspn(text + length, "\r\n")])
        return false;
    for (size_t i = 0; i < length; i++) {
        const char *digit = strchr(digits, text[i] | 0x20);
        if (digit == NULL || *digit == '\0')
            return false;
        key[i / 2] = (uint8_t)(key[i / 2] << 4 | (digit - digits));
    }
    return true;
}

static enum status read_key_file(char text[VALUE_SIZE], const char *path,
                                 struct error *error)
{
    struct stat info;
    FILE *file = fopen(path, "re");
    if (file == NULL || fstat(fileno(file), &info) != 0) {
        if (file != NULL)
            fclose(file);
        return error_set(error, ST_INVALID, "--blobs-key-file: %.150s: %s", path,
                         strerror(errno));
    }
    bool is_private = (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    size_t size = fread(text, 1, VALUE_SIZE - 1, file);
    text[size] = '\0';
    fclose(file);
    return is_private ? ST_OK
                      : error_set(error, ST_INVALID,
                                  "--blobs-key-file: %.150s lets others read it", path);
}

static enum status read_key(uint8_t key[CIPHER_KEY_SIZE], const struct config *config,
                            struct error *error)
{
    char text[VALUE_SIZE] = "";
    const char *given = getenv("EPSILOND_BLOBS_KEY");
    enum status status = ST_OK;
    if (config->blobs_key_file[0] != '\0')
        status = read_key_file(text, config->blobs_key_file, error);
    else if (given != NULL)
        snprintf(text, sizeof text, "%s", given);
    else
        status =
            error_set(error, ST_INVALID,
                      "--blobs needs the key that files are encrypted with: give "
                      "--blobs-key-file, or EPSILOND_BLOBS_KEY in the environment");
    if (status == ST_OK && !read_digits(key, text))
        status = error_set(error, ST_INVALID,
                           "the key of the blobs is not 64 hexadecimal digits (openssl "
                           "rand -hex 32)");
    hash_zero(text, sizeof text);
    return status;
}

/* --- credentials --- */

struct credentials {
    char access_key_id[VALUE_SIZE], secret_access_key[VALUE_SIZE];
    char session_token[VALUE_SIZE], region[ENDPOINT_SIZE], endpoint[ENDPOINT_SIZE];
};

/* Copies the first of these environment variables that is not empty to value; "" if
 * both are. */
static void read_variable(char *value, size_t size, const char *first,
                          const char *second)
{
    const char *text = getenv(first);
    if ((text == NULL || text[0] == '\0') && second != NULL)
        text = getenv(second);
    snprintf(value, size, "%s", text != NULL ? text : "");
}

/* Copies the value of the line, if it sets that name. */
static void read_setting(const char *line, const char *name, char value[VALUE_SIZE])
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0)
        return;
    const char *at = line + length + strspn(line + length, " \t");
    if (*at != '=')
        return;
    at += 1 + strspn(at + 1, " \t");
    snprintf(value, VALUE_SIZE, "%.*s", (int)strcspn(at, " \t\r\n"), at);
}

/* Reads the profile's section of a file of credentials. */
static enum status read_profile(struct credentials *credentials, const char *path,
                                struct error *error)
{
    char line[VALUE_SIZE], profile[ENDPOINT_SIZE], section[ENDPOINT_SIZE + 2];
    bool within = false;
    read_variable(profile, sizeof profile, "AWS_PROFILE", NULL);
    snprintf(section, sizeof section, "[%s]", profile[0] != '\0' ? profile : "default");
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return error_set(error, ST_INVALID, "AWS_SHARED_CREDENTIALS_FILE: %.150s: %s",
                         path, strerror(errno));
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '[')
            within = strncmp(line, section, strlen(section)) == 0;
        if (!within)
            continue;
        read_setting(line, "aws_access_key_id", credentials->access_key_id);
        read_setting(line, "aws_secret_access_key", credentials->secret_access_key);
        read_setting(line, "aws_session_token", credentials->session_token);
    }
    fclose(file);
    hash_zero(line, sizeof line);
    return ST_OK;
}

static enum status read_credentials(struct credentials *credentials,
                                    struct error *error)
{
    char file[VALUE_SIZE];
    enum status status = ST_OK;
    *credentials = (struct credentials){.region = ""};
    read_variable(file, sizeof file, "AWS_SHARED_CREDENTIALS_FILE", NULL);
    read_variable(credentials->access_key_id, VALUE_SIZE, "AWS_ACCESS_KEY_ID", NULL);
    read_variable(credentials->secret_access_key, VALUE_SIZE, "AWS_SECRET_ACCESS_KEY",
                  NULL);
    read_variable(credentials->session_token, VALUE_SIZE, "AWS_SESSION_TOKEN", NULL);
    if (credentials->access_key_id[0] == '\0' && file[0] != '\0')
        status = read_profile(credentials, file, error);
    read_variable(credentials->region, ENDPOINT_SIZE, "AWS_REGION",
                  "AWS_DEFAULT_REGION");
    read_variable(credentials->endpoint, ENDPOINT_SIZE, "AWS_ENDPOINT_URL_S3",
                  "AWS_ENDPOINT_URL");
    if (status != ST_OK)
        return status;
    if (credentials->access_key_id[0] == '\0' ||
        credentials->secret_access_key[0] == '\0')
        return error_set(
            error, ST_INVALID,
            "--blobs needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
            "AWS_SHARED_CREDENTIALS_FILE, in the environment");
    if (credentials->region[0] == '\0')
        return error_set(error, ST_INVALID,
                         "--blobs needs AWS_REGION in the environment");
    if (credentials->endpoint[0] == '\0' &&
        snprintf(credentials->endpoint, ENDPOINT_SIZE, "https://s3.%s.amazonaws.com",
                 credentials->region) >= ENDPOINT_SIZE)
        return error_set(error, ST_INVALID, "AWS_REGION is too long");
    return ST_OK;
}

/* --- opening --- */

static enum status open_bucket(struct bucket **bucket, const struct config *config,
                               struct error *error)
{
    static const char *const none = "";
    struct s3_location location;
    struct credentials credentials;
    const char *ca_file = getenv("AWS_CA_BUNDLE");
    enum status status = s3_location_parse(&location, config->blobs, error);
    if (status == ST_OK)
        status = read_credentials(&credentials, error);
    if (status != ST_OK)
        return status;
    const struct s3_setup setup = {.endpoint = credentials.endpoint,
                                   .region = credentials.region,
                                   .access_key_id = credentials.access_key_id,
                                   .secret_access_key = credentials.secret_access_key,
                                   .session_token = credentials.session_token,
                                   .ca_file = ca_file != NULL ? ca_file : none};
    status = s3_open(bucket, &location, &setup, error);
    hash_zero(&credentials, sizeof credentials);
    return status;
}

static enum status make_setup(struct blob_objects_setup *setup, struct store *store,
                              const struct config *config, struct error *error)
{
    setup->store = store;
    setup->cache_size = config->cache_size;
    enum status status = read_key(setup->operator_key, config, error);
    return status == ST_OK ? open_bucket(&setup->bucket, config, error) : status;
}

static enum status check_place(const struct config *config, bool elsewhere,
                               struct error *error)
{
    if (elsewhere && config->blobs[0] == '\0')
        return error_set(error, ST_INVALID,
                         "this database's files are in a bucket: give --blobs");
    return ST_OK;
}

enum status blob_config_open(struct blobs *blobs, struct store *store,
                             const struct config *config, struct error *error)
{
    bool elsewhere = false;
    struct blob_objects_setup setup = {.bucket = NULL};
    enum status status = blob_objects_claimed(store, &elsewhere, error);
    if (status == ST_OK)
        status = check_place(config, elsewhere, error);
    if (status != ST_OK || config->blobs[0] == '\0')
        return status;
    status = make_setup(&setup, store, config, error);
    if (status == ST_OK)
        status = blob_objects_use(blobs, &setup, error);
    hash_zero(setup.operator_key, sizeof setup.operator_key);
    return status;
}

enum status blob_config_open_read(struct blobs *blobs, struct store *store,
                                  const struct config *config, bool *elsewhere,
                                  struct error *error)
{
    struct blob_objects_setup setup = {.store = store};
    enum status status = blob_objects_claimed(store, elsewhere, error);
    if (status != ST_OK || (!*elsewhere && config->blobs[0] == '\0'))
        return status;
    if (!*elsewhere)
        return error_set(error, ST_INVALID, "this database's files are in no bucket");
    if (config->check_objects)
        status = check_place(config, true, error);
    if (status == ST_OK && config->check_objects)
        status = make_setup(&setup, store, config, error);
    if (status == ST_OK)
        status = blob_objects_use_read(blobs, &setup, error);
    hash_zero(setup.operator_key, sizeof setup.operator_key);
    return status;
}
