#include "tests/e2e/client_fixture.h"

#include <string.h>
#include <strings.h>
#include <curl/curl.h>

#include "tests/expect.h"

enum {
    REQUEST_TIMEOUT_S = 600, /* only for a hang: 60 MiB may take two minutes */
    BODY_SIZE_MAX = 1 << 16,
    PATH_SIZE_MAX = 1 << 14,
};

struct buffer {
    char *bytes;
    size_t size;
};

static size_t append(char *bytes, size_t one, size_t size, void *user)
{
    struct buffer *buffer = user;
    char *grown = realloc(buffer->bytes, buffer->size + one * size + 1);
    if (grown == NULL)
        return 0;
    memcpy(grown + buffer->size, bytes, one * size);
    buffer->bytes = grown;
    buffer->size += one * size;
    grown[buffer->size] = '\0';
    return one * size;
}

struct source {
    const char *bytes;
    size_t left;
};

static size_t supply(char *out, size_t one, size_t size, void *user)
{
    struct source *source = user;
    size_t count = one * size < source->left ? one * size : source->left;
    memcpy(out, source->bytes, count);
    source->bytes += count;
    source->left -= count;
    return count;
}

void client_init(struct client *client, const struct daemon *daemon)
{
    *client = (struct client){.daemon = daemon};
}

void client_fini(struct client *client)
{
    while (client->replies != NULL) {
        struct reply *reply = client->replies;
        client->replies = reply->next;
        json_decref(reply->json);
        free(reply->body);
        free(reply->headers);
        free(reply);
    }
}

static struct curl_slist *header_list(const struct client *client,
                                      const struct request *request)
{
    char bearer[96];
    struct curl_slist *list = NULL;
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", client->key);
    if (client->key[0] != '\0')
        list = curl_slist_append(list, bearer);
    for (size_t i = 0; i < CLIENT_HEADERS_MAX && request->headers[i] != NULL; i++)
        list = curl_slist_append(list, request->headers[i]);
    if (request->chunked)
        list = curl_slist_append(list, "Transfer-Encoding: chunked");
    return list;
}

static void set_body(CURL *curl, const struct request *request, struct source *source)
{
    *source = (struct source){.bytes = request->body, .left = request->size};
    if (request->body == NULL)
        return;
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, supply);
    curl_easy_setopt(curl, CURLOPT_READDATA, source);
    if (!request->chunked)
        curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->size);
}

static struct reply *keep(struct client *client, CURL *curl, struct buffer *body,
                          struct buffer *headers)
{
    struct reply *reply = calloc(1, sizeof *reply);
    assert_non_null(reply);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
    curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME, &reply->seconds);
    reply->size = body->size;
    reply->body = body->bytes != NULL ? body->bytes : strdup("");
    reply->headers = headers->bytes != NULL ? headers->bytes : strdup("");
    char type[256];
    if (reply_header(reply, "content-type", type) && strstr(type, "json") != NULL)
        reply->json =
            json_loadb(reply->body, reply->size, JSON_REJECT_DUPLICATES, NULL);
    reply->next = client->replies;
    client->replies = reply;
    return reply;
}

const struct reply *client_send(struct client *client, const struct request *request)
{
    char url[PATH_SIZE_MAX + 64];
    snprintf(url, sizeof url, "%s%s", client->daemon->base, request->path);
    struct buffer body = {0}, headers = {0};
    struct source source;
    struct curl_slist *list = header_list(client, request);
    CURL *curl = curl_easy_init();
    assert_non_null(curl);
    set_body(curl, request, &source);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)REQUEST_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_CAINFO, client->daemon->certificate);
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, client->daemon->socket_path);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, append);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &headers);
    if (strcmp(request->method, "HEAD") == 0)
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    else
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    CURLcode code = curl_easy_perform(curl);
    struct reply *reply = keep(client, curl, &body, &headers);
    curl_easy_cleanup(curl);
    curl_slist_free_all(list);
    /* A server that refuses a body early may close before all of it is sent. */
    bool refused_early = code == CURLE_SEND_ERROR && reply->status >= 400;
    if (code == CURLE_OK || refused_early)
        return reply;
    reply->status = 0;
    if (!client->lossy)
        fail_msg("%s %s: %s", request->method, request->path, curl_easy_strerror(code));
    return reply;
}

#define PRINT_INTO(text, format)                                                       \
    do {                                                                               \
        va_list arguments;                                                             \
        va_start(arguments, format);                                                   \
        int length = vsnprintf(text, sizeof text, format, arguments);                  \
        va_end(arguments);                                                             \
        assert_true(length >= 0 && (size_t)length < sizeof text);                      \
    } while (0)

const struct reply *client_get(struct client *client, const char *format, ...)
{
    char path[PATH_SIZE_MAX];
    PRINT_INTO(path, format);
    return client_send(client, &(struct request){.method = "GET", .path = path});
}

const struct reply *client_get_with(struct client *client, const char *path,
                                    const char *header)
{
    return client_send(
        client, &(struct request){.method = "GET", .path = path, .headers = {header}});
}

const struct reply *client_delete(struct client *client, const char *path)
{
    return client_send(client, &(struct request){.method = "DELETE", .path = path});
}

const struct reply *client_put(struct client *client, const char *path,
                               const void *bytes, size_t size)
{
    return client_send(
        client,
        &(struct request){.method = "PUT", .path = path, .body = bytes, .size = size});
}

const struct reply *client_act(struct client *client, const char *format, ...)
{
    char path[PATH_SIZE_MAX];
    PRINT_INTO(path, format);
    return client_send(client, &(struct request){.method = "POST", .path = path});
}

static const struct reply *post_json(struct client *client, const char *path,
                                     const char *key, char *text)
{
    for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    char header[320];
    snprintf(header, sizeof header, "Idempotency-Key: %s", key != NULL ? key : "");
    return client_send(client,
                       &(struct request){.method = "POST",
                                         .path = path,
                                         .headers = {"Content-Type: application/json",
                                                     key != NULL ? header : NULL},
                                         .body = text,
                                         .size = strlen(text)});
}

const struct reply *client_post(struct client *client, const char *path,
                                const char *key, const char *format, ...)
{
    char text[BODY_SIZE_MAX];
    PRINT_INTO(text, format);
    return post_json(client, path, key, text);
}

const struct reply *client_create(struct client *client, const char *path,
                                  const char *format, ...)
{
    char text[BODY_SIZE_MAX], key[64];
    PRINT_INTO(text, format);
    snprintf(key, sizeof key, "made-up-%p-%u", (void *)client, client->keys++);
    return post_json(client, path, key, text);
}

const struct reply *client_patch(struct client *client, const char *path,
                                 const char *tag, const char *format, ...)
{
    char text[BODY_SIZE_MAX], header[320];
    PRINT_INTO(text, format);
    for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    snprintf(header, sizeof header, "If-Match: %s", tag != NULL ? tag : "");
    return client_send(
        client,
        &(struct request){.method = "PATCH",
                          .path = path,
                          .headers = {"Content-Type: application/merge-patch+json",
                                      tag != NULL ? header : NULL},
                          .body = text,
                          .size = strlen(text)});
}

bool reply_header(const struct reply *reply, const char *name, char value[256])
{
    size_t length = strlen(name);
    for (const char *line = reply->headers; line != NULL && *line != '\0';
         line = strchr(line, '\n'), line = line != NULL ? line + 1 : NULL) {
        if (strncasecmp(line, name, length) != 0 || line[length] != ':')
            continue;
        const char *start = line + length + 1 + strspn(line + length + 1, " ");
        snprintf(value, 256, "%.*s", (int)strcspn(start, "\r\n"), start);
        return true;
    }
    value[0] = '\0';
    return false;
}

const json_t *reply_at(const struct reply *reply, const char *path)
{
    const json_t *at = reply->json;
    char name[64];
    for (const char *rest = path; *rest != '\0' && at != NULL;) {
        size_t length = strcspn(rest, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, rest);
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10))
                               : json_object_get(at, name);
        rest += length + (rest[length] == '.');
    }
    if (at == NULL)
        fail_msg("no %s in: %s", path, reply->body);
    return at;
}

const char *reply_text(const struct reply *reply, const char *path)
{
    const char *text = json_string_value(reply_at(reply, path));
    if (text == NULL)
        fail_msg("%s is no string in: %s", path, reply->body);
    return text;
}

double reply_number(const struct reply *reply, const char *path)
{
    const json_t *value = reply_at(reply, path);
    if (!json_is_number(value))
        fail_msg("%s is no number in: %s", path, reply->body);
    return json_number_value(value);
}

const struct reply *reply_expect(const struct reply *reply, long status,
                                 const char *code, const char *file, int line)
{
    const char *given = json_string_value(json_object_get(reply->json, "code"));
    char type[256];
    reply_header(reply, "content-type", type);
    bool problem = strncmp(type, "application/problem+json", 24) == 0;
    if (reply->status == status &&
        (code == NULL || (problem && given != NULL && strcmp(given, code) == 0)))
        return reply;
    print_error("expected %ld %s, got %ld %s: %s\n", status, code != NULL ? code : "",
                reply->status, type, reply->body);
    _fail(file, line);
    return reply;
}

void reply_expect_invalid(const struct reply *reply, const char *pointer,
                          const char *file, int line)
{
    reply_expect(reply, 400, "invalid_argument", file, line);
    const char *given = reply_text(reply, "errors.0.pointer");
    if (strcmp(given, pointer) == 0)
        return;
    print_error("expected an error at %s, got %s\n", pointer, reply->body);
    _fail(file, line);
}
