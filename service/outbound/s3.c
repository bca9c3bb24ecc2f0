#include "service/outbound/s3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "service/outbound/s3_text.h"

enum {
    PATH_SIZE = S3_BUCKET_SIZE + S3_PREFIX_SIZE + BUCKET_NAME_SIZE + 8,
    KEY_SIZE = 1100, /* of any object in the bucket: 1,024 at most */
    UPLOAD_ID_SIZE = 1024,
    ANSWER_SIZE = 64 << 10,
    LIST_SIZE = 2 << 20, /* bytes of an answer, */
    LIST_MAX = 500,      /* which lists at most this many objects */
    FINISHES = 3,
};

struct s3 {
    struct bucket bucket; /* first */
    struct s3_server *server;
    struct s3_location location;
};

struct bucket_upload {
    struct s3 *s3;
    char name[BUCKET_NAME_SIZE];
    char id[UPLOAD_ID_SIZE];
    unsigned count;
    char (*tags)[S3_TAG_SIZE]; /* of the pieces */
};

static struct s3 *s3_of(struct bucket *bucket)
{
    return (struct s3 *)(void *)bucket;
}

static void path_of(char path[PATH_SIZE], const struct s3 *s3, const char *name)
{
    int length = snprintf(path, PATH_SIZE, "/%s/%s%s", s3->location.bucket,
                          s3->location.prefix, name);
    CHECK(length > 0 && length < PATH_SIZE);
}

/* --- one object --- */

static enum status put(struct bucket *bucket, const char *name, const void *data,
                       size_t size, struct error *error)
{
    char path[PATH_SIZE], body[ANSWER_SIZE];
    struct s3_answer answer;
    path_of(path, s3_of(bucket), name);
    const struct s3_call call = {.method = "PUT",
                                 .path = path,
                                 .query = "",
                                 .body = data,
                                 .body_size = size,
                                 .answer = body,
                                 .answer_max = sizeof body};
    return s3_call(s3_of(bucket)->server, &call, &answer, error);
}

static enum status get(struct bucket *bucket, const char *name,
                       const struct bucket_range *range, void *data,
                       struct error *error)
{
    char path[PATH_SIZE];
    struct s3_answer answer;
    path_of(path, s3_of(bucket), name);
    const struct s3_call call = {.method = "GET",
                                 .path = path,
                                 .query = "",
                                 .range_offset = range->offset,
                                 .range_size = range->size,
                                 .answer = data,
                                 .answer_max = range->size,
                                 .cancel = range->cancel};
    enum status status = s3_call(s3_of(bucket)->server, &call, &answer, error);
    if (status == ST_OK && answer.size != range->size)
        return error_set(error, ST_CORRUPT, "GET %s: %zu bytes in place of %zu", path,
                         answer.size, range->size);
    return status;
}

static enum status remove_object(struct bucket *bucket, const char *name,
                                 struct error *error)
{
    char path[PATH_SIZE], body[ANSWER_SIZE];
    struct s3_answer answer;
    struct error found = {0};
    path_of(path, s3_of(bucket), name);
    const struct s3_call call = {.method = "DELETE",
                                 .path = path,
                                 .query = "",
                                 .answer = body,
                                 .answer_max = sizeof body};
    enum status status = s3_call(s3_of(bucket)->server, &call, &answer, &found);
    if (status == ST_OK || status == ST_NOT_FOUND)
        return ST_OK;
    return error_set(error, status, "%s", found.text);
}

/* --- in pieces --- */

/* Makes a call about an upload whose answer, a text, goes to body. */
static enum status call_upload(const struct bucket_upload *upload, const char *method,
                               const char *query, const char *text, char *body,
                               struct error *error)
{
    char path[PATH_SIZE];
    struct s3_answer answer;
    path_of(path, upload->s3, upload->name);
    const struct s3_call call = {.method = method,
                                 .path = path,
                                 .query = query,
                                 .body = text,
                                 .body_size = text != NULL ? strlen(text) : 0,
                                 .answer = body,
                                 .answer_max = ANSWER_SIZE - 1};
    enum status status = s3_call(upload->s3->server, &call, &answer, error);
    body[status == ST_OK ? answer.size : 0] = '\0';
    return status;
}

static void upload_destroy(struct bucket_upload *upload)
{
    free(upload->tags);
    free(upload);
}

static enum status put_begin(struct bucket *bucket, const char *name,
                             struct bucket_upload **out, struct error *error)
{
    const char *behind;
    char body[ANSWER_SIZE];
    struct bucket_upload *upload = calloc(1, sizeof *upload);
    CHECK(upload != NULL);
    upload->s3 = s3_of(bucket);
    snprintf(upload->name, sizeof upload->name, "%s", name);
    enum status status = call_upload(upload, "POST", "uploads=", "", body, error);
    if (status == ST_OK &&
        !s3_text_element(body, "UploadId", upload->id, sizeof upload->id, &behind))
        status = error_set(error, ST_IO, "the object store gives an upload no id");
    if (status == ST_OK)
        *out = upload;
    else
        upload_destroy(upload);
    return status;
}

static enum status put_add(struct bucket_upload *upload, const void *data, size_t size,
                           struct error *error)
{
    char path[PATH_SIZE], query[S3_QUERY_SIZE] = "", number[16], body[ANSWER_SIZE];
    struct s3_answer answer;
    if (upload->count == S3_PIECES_MAX)
        return error_set(error, ST_INVALID,
                         "the object store takes %d pieces of an object, and this file "
                         "has more",
                         S3_PIECES_MAX);
    snprintf(number, sizeof number, "%u", upload->count + 1);
    s3_query_add(query, "partNumber", number);
    s3_query_add(query, "uploadId", upload->id);
    path_of(path, upload->s3, upload->name);
    const struct s3_call call = {.method = "PUT",
                                 .path = path,
                                 .query = query,
                                 .body = data,
                                 .body_size = size,
                                 .answer = body,
                                 .answer_max = sizeof body};
    enum status status = s3_call(upload->s3->server, &call, &answer, error);
    if (status == ST_OK && answer.tag[0] == '\0')
        status = error_set(error, ST_IO, "the object store gives a piece no ETag");
    if (status != ST_OK)
        return status;
    char(*tags)[S3_TAG_SIZE] =
        realloc(upload->tags, (upload->count + 1) * sizeof *upload->tags);
    CHECK(tags != NULL);
    memcpy(tags[upload->count++], answer.tag, S3_TAG_SIZE);
    upload->tags = tags;
    return ST_OK;
}

static void put_abandon(struct bucket_upload *upload)
{
    char query[S3_QUERY_SIZE] = "", body[ANSWER_SIZE];
    s3_query_add(query, "uploadId", upload->id);
    /* Until the bucket's own rule removes the remaining pieces, its owner pays for
     * their room. */
    call_upload(upload, "DELETE", query, NULL, body, NULL);
    upload_destroy(upload);
}

/* The list of pieces that makes the upload an object; owned by the caller. */
static char *list_pieces(const struct bucket_upload *upload)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(out != NULL);
    fputs("<CompleteMultipartUpload>", out);
    for (unsigned i = 0; i < upload->count; i++)
        fprintf(out, "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>", i + 1,
                upload->tags[i]);
    fputs("</CompleteMultipartUpload>", out);
    CHECK(fclose(out) == 0);
    return text;
}

/* An answer of 200 may be a failure, as its text says; and a lost answer may have been
 * a success: then the upload no longer exists, and the object does. */
static enum status finish_once(struct bucket_upload *upload, const char *pieces,
                               struct error *error)
{
    uint8_t first;
    const struct bucket_range range = {.size = sizeof first};
    char query[S3_QUERY_SIZE] = "", body[ANSWER_SIZE];
    s3_query_add(query, "uploadId", upload->id);
    enum status status = call_upload(upload, "POST", query, pieces, body, error);
    if (status == ST_NOT_FOUND &&
        get(&upload->s3->bucket, upload->name, &range, &first, NULL) == ST_OK)
        return ST_OK;
    if (status == ST_OK && strstr(body, "CompleteMultipartUploadResult") == NULL)
        return error_set(error, ST_IO,
                         "the object store did not put the pieces together");
    return status;
}

static enum status put_finish(struct bucket_upload *upload, struct error *error)
{
    struct error last = {0};
    char *pieces = list_pieces(upload);
    enum status status = ST_IO;
    for (int i = 0; status == ST_IO && i < FINISHES; i++) {
        last = (struct error){0};
        status = finish_once(upload, pieces, &last);
    }
    free(pieces);
    if (status == ST_OK) {
        upload_destroy(upload);
        return ST_OK;
    }
    put_abandon(upload);
    return error_set(error, status, "%s", last.text);
}

/* --- lists --- */

struct listing {
    struct s3 *s3;
    char after[KEY_SIZE]; /* the last key that was seen */
    char *text;           /* (LIST_SIZE) */
    bool is_last;
    int64_t now_s;
};

static enum status list_some(struct listing *listing, size_t max, struct error *error)
{
    char path[PATH_SIZE], query[S3_QUERY_SIZE] = "", number[16], more[16];
    const char *behind;
    struct s3_answer answer;
    const struct s3_location *location = &listing->s3->location;
    snprintf(path, sizeof path, "/%s", location->bucket);
    snprintf(number, sizeof number, "%zu", max < LIST_MAX ? max : LIST_MAX);
    s3_query_add(query, "list-type", "2");
    s3_query_add(query, "max-keys", number);
    s3_query_add(query, "prefix", location->prefix);
    s3_query_add(query, "start-after", listing->after);
    const struct s3_call call = {.method = "GET",
                                 .path = path,
                                 .query = query,
                                 .answer = listing->text,
                                 .answer_max = LIST_SIZE - 1};
    enum status status = s3_call(listing->s3->server, &call, &answer, error);
    if (status != ST_OK)
        return status;
    listing->text[answer.size] = '\0';
    listing->now_s = answer.date_s;
    if (answer.date_s == 0 ||
        !s3_text_element(listing->text, "IsTruncated", more, sizeof more, &behind))
        return error_set(error, ST_IO, "the object store's list cannot be read");
    listing->is_last = strcmp(more, "true") != 0;
    return ST_OK;
}

/* Returns whether the key is a name of ours; the bucket may hold other objects too. */
static bool read_name(struct bucket_listed *listed, const struct s3 *s3,
                      const char *key)
{
    size_t prefix = strlen(s3->location.prefix);
    if (strncmp(key, s3->location.prefix, prefix) != 0)
        return false;
    size_t length = strlen(key + prefix);
    if (length == 0 || length >= sizeof listed->name ||
        strspn(key + prefix, "abcdefghijklmnopqrstuvwxyz0123456789") != length)
        return false;
    memcpy(listed->name, key + prefix, length + 1);
    return true;
}

static void read_list(struct listing *listing, struct bucket_listed *listed, size_t max,
                      size_t *count)
{
    char key[KEY_SIZE], when[64];
    const char *at = listing->text, *behind, *unused;
    while (*count < max && (at = strstr(at, "<Contents>")) != NULL &&
           s3_text_element(at, "Key", key, sizeof key, &behind) &&
           s3_text_element(at, "LastModified", when, sizeof when, &unused)) {
        listed[*count].modified_s = s3_text_time(when);
        bool is_newer = strcmp(key, listing->after) > 0;
        if (is_newer)
            memcpy(listing->after, key, sizeof key);
        if (is_newer && listed[*count].modified_s >= 0 &&
            read_name(&listed[*count], listing->s3, key))
            ++*count;
        at = behind;
    }
}

static enum status list(struct bucket *bucket, const char *after,
                        struct bucket_listed *listed, size_t max, size_t *count,
                        int64_t *now_s, struct error *error)
{
    char before[KEY_SIZE] = "";
    enum status status = ST_OK;
    struct listing listing = {.s3 = s3_of(bucket), .text = malloc(LIST_SIZE)};
    CHECK(listing.text != NULL);
    snprintf(listing.after, sizeof listing.after, "%s%s", listing.s3->location.prefix,
             after);
    *count = 0;
    while (status == ST_OK && *count < max && !listing.is_last) {
        memcpy(before, listing.after, sizeof before);
        status = list_some(&listing, max - *count, error);
        if (status == ST_OK)
            read_list(&listing, listed, max, count);
        if (status == ST_OK && !listing.is_last && strcmp(before, listing.after) == 0)
            status = error_set(error, ST_IO, "the object store's list does not go on");
    }
    *now_s = listing.now_s;
    free(listing.text);
    return status;
}

/* --- opening --- */

static void close_s3(struct bucket *bucket)
{
    struct s3 *s3 = s3_of(bucket);
    s3_server_destroy(s3->server);
    free(s3);
}

enum status s3_location_parse(struct s3_location *location, const char *url,
                              struct error *error)
{
    static const char scheme[] = "s3://";
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
    static const char any[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_/"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct s3_location found = {.prefix = ""};
    const char *at =
        strncmp(url, scheme, strlen(scheme)) == 0 ? url + strlen(scheme) : "";
    size_t length = strspn(at, lower);
    const char *prefix = at + length + (at[length] == '/');
    size_t rest = strlen(prefix);
    if (length < 3 || length >= S3_BUCKET_SIZE ||
        (at[length] != '/' && at[length] != '\0') || strspn(prefix, any) != rest ||
        rest + 1 >= S3_PREFIX_SIZE || strstr(prefix, "//") != NULL || prefix[0] == '/')
        return error_set(error, ST_INVALID, "not s3://BUCKET or s3://BUCKET/PREFIX");
    memcpy(found.bucket, at, length);
    memcpy(found.prefix, prefix, rest);
    if (rest > 0 && prefix[rest - 1] != '/')
        found.prefix[rest] = '/';
    *location = found;
    return ST_OK;
}

enum status s3_open(struct bucket **out, const struct s3_location *location,
                    const struct s3_setup *setup, struct error *error)
{
    static const struct bucket_driver driver = {
        .put = put,
        .put_begin = put_begin,
        .put_add = put_add,
        .put_finish = put_finish,
        .put_abandon = put_abandon,
        .get = get,
        .list = list,
        .remove = remove_object,
        .close = close_s3,
    };
    struct s3_server *server = NULL;
    enum status status = s3_server_create(&server, setup, error);
    if (status != ST_OK)
        return status;
    struct s3 *s3 = calloc(1, sizeof *s3);
    CHECK(s3 != NULL);
    s3->bucket.driver = &driver;
    s3->server = server;
    s3->location = *location;
    *out = &s3->bucket;
    return ST_OK;
}
