#include "service/outbound/s3_call.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <curl/curl.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"
#include "service/outbound/host_address.h"

enum {
    IDLE_MAX = 8, /* connections that are kept open */
    CONNECT_MS = 10000,
    STALLED_S = 30,             /* without a byte */
    ATTEMPT_MS = 60000,         /* base limit of an attempt, */
    ATTEMPT_BYTES_MS = 1 << 10, /* and one more millisecond for this many bytes of it */
    PAUSE_FIRST_MS = 100,
    REFUSAL_SIZE = 2048, /* of a refusal's body, for its code in the log */
    HEADER_SIZE = 8192,
    URL_SIZE = 8192,
    HOST_SIZE = 256,
    PORT_DIGITS = 5,
};

struct s3_server {
    char *endpoint, *signs; /* signs: the signature option of libcurl */
    char *access_key_id, *secret_access_key, *session_token, *ca_file;
    pthread_mutex_t lock; /* guards what follows */
    CURL *idle[IDLE_MAX];
    size_t idle_count;
};

/* --- the server --- */

static bool is_loopback(const char *host)
{
    struct host_address address;
    return strcmp(host, "localhost") == 0 ||
           (host_address_parse(&address, host) && host_address_is_loopback(&address));
}

/* Returns whether text is empty, or a colon and a valid port. */
static bool is_port(const char *text)
{
    size_t digits = text[0] == ':' ? strspn(text + 1, "0123456789") : 0;
    if (text[0] == '\0')
        return true;
    return digits > 0 && text[1 + digits] == '\0' && digits <= PORT_DIGITS &&
           strtoul(text + 1, NULL, 10) > 0 && strtoul(text + 1, NULL, 10) <= UINT16_MAX;
}

static enum status check_endpoint(const char *endpoint, struct error *error)
{
    static const char tls[] = "https://", plain[] = "http://";
    char host[HOST_SIZE];
    bool is_tls = strncmp(endpoint, tls, strlen(tls)) == 0;
    bool is_plain = strncmp(endpoint, plain, strlen(plain)) == 0;
    const char *at = endpoint + (is_tls ? strlen(tls) : strlen(plain));
    bool in_brackets = at[0] == '[';
    at += in_brackets;
    size_t size = strcspn(at, in_brackets ? "]" : ":");
    const char *behind = at + size + (in_brackets && at[size] == ']');
    if ((!is_tls && !is_plain) || strpbrk(at, "/?#@ ") != NULL || size == 0 ||
        !is_port(behind))
        return error_set(error, ST_INVALID,
                         "the endpoint \"%.100s\" is not https://HOST[:PORT]",
                         endpoint);
    snprintf(host, sizeof host, "%.*s", (int)size, at);
    if (is_plain && !is_loopback(host))
        return error_set(
            error, ST_INVALID,
            "the endpoint %.100s is without TLS beyond loopback: files and "
            "signatures would travel readable",
            endpoint);
    return ST_OK;
}

static char *copy(const char *text)
{
    char *copied = strdup(text);
    CHECK(copied != NULL);
    return copied;
}

enum status s3_server_create(struct s3_server **out, const struct s3_setup *setup,
                             struct error *error)
{
    char signs[HOST_SIZE];
    enum status status = check_endpoint(setup->endpoint, error);
    if (status != ST_OK)
        return status;
    if (setup->access_key_id[0] == '\0' || setup->secret_access_key[0] == '\0' ||
        setup->region[0] == '\0' || strlen(setup->region) > HOST_SIZE / 2 ||
        strlen(setup->session_token) > HEADER_SIZE / 2)
        return error_set(error, ST_INVALID,
                         "no credentials or no region for the object store");
    struct s3_server *server = calloc(1, sizeof *server);
    CHECK(server != NULL);
    snprintf(signs, sizeof signs, "aws:amz:%s:s3", setup->region);
    server->endpoint = copy(setup->endpoint);
    server->signs = copy(signs);
    server->access_key_id = copy(setup->access_key_id);
    server->secret_access_key = copy(setup->secret_access_key);
    server->session_token = copy(setup->session_token);
    server->ca_file = copy(setup->ca_file);
    pthread_mutex_init(&server->lock, NULL);
    *out = server;
    return ST_OK;
}

void s3_server_destroy(struct s3_server *server)
{
    if (server == NULL)
        return;
    while (server->idle_count > 0)
        curl_easy_cleanup(server->idle[--server->idle_count]);
    hash_zero(server->secret_access_key, strlen(server->secret_access_key));
    free(server->endpoint);
    free(server->signs);
    free(server->access_key_id);
    free(server->secret_access_key);
    free(server->session_token);
    free(server->ca_file);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

static CURL *handle_take(struct s3_server *server)
{
    CURL *handle = NULL;
    pthread_mutex_lock(&server->lock);
    if (server->idle_count > 0)
        handle = server->idle[--server->idle_count];
    pthread_mutex_unlock(&server->lock);
    if (handle == NULL)
        handle = curl_easy_init();
    CHECK(handle != NULL);
    curl_easy_reset(handle); /* keeps its connection */
    return handle;
}

static void handle_give(struct s3_server *server, CURL *handle)
{
    pthread_mutex_lock(&server->lock);
    bool keeps = server->idle_count < IDLE_MAX;
    if (keeps)
        server->idle[server->idle_count++] = handle;
    pthread_mutex_unlock(&server->lock);
    if (!keeps)
        curl_easy_cleanup(handle);
}

/* --- an attempt --- */

struct attempt {
    CURL *handle;
    struct curl_slist *headers;
    const struct s3_call *call;
    struct s3_answer answer;
    char refusal[REFUSAL_SIZE];
    size_t refusal_size;
    bool too_large;
    bool is_cut; /* the rest of the refusal's body is not read */
};

static bool is_good(long status)
{
    return status >= 200 && status < 300;
}

static size_t take_body(char *data, size_t one, size_t size, void *context)
{
    long status = 0;
    struct attempt *attempt = context;
    (void)one;
    curl_easy_getinfo(attempt->handle, CURLINFO_RESPONSE_CODE, &status);
    if (!is_good(status)) {
        size_t room = sizeof attempt->refusal - 1 - attempt->refusal_size;
        size_t taken = size < room ? size : room;
        memcpy(attempt->refusal + attempt->refusal_size, data, taken);
        attempt->refusal_size += taken;
        attempt->is_cut = taken < size;
        return attempt->is_cut ? CURL_WRITEFUNC_ERROR : size;
    }
    attempt->too_large = size > attempt->call->answer_max - attempt->answer.size;
    if (attempt->too_large)
        return CURL_WRITEFUNC_ERROR;
    memcpy((char *)attempt->call->answer + attempt->answer.size, data, size);
    attempt->answer.size += size;
    return size;
}

/* If the line is the header of that name, copies its value. */
static bool read_header(const char *line, size_t size, const char *name, char *value,
                        size_t value_size)
{
    size_t length = strlen(name), begin = length, end = size;
    if (size <= length || strncasecmp(line, name, length) != 0)
        return false;
    while (begin < end && line[begin] == ' ')
        begin++;
    while (end > begin && (line[end - 1] == '\r' || line[end - 1] == '\n'))
        end--;
    if (end - begin >= value_size)
        return false;
    memcpy(value, line + begin, end - begin);
    value[end - begin] = '\0';
    return true;
}

static size_t take_head(char *data, size_t one, size_t size, void *context)
{
    char date[64];
    struct attempt *attempt = context;
    struct s3_answer *answer = &attempt->answer;
    (void)one;
    if (read_header(data, size, "date:", date, sizeof date)) {
        time_t when = curl_getdate(date, NULL);
        answer->date_s = when > 0 ? (int64_t)when : 0;
    }
    read_header(data, size, "etag:", answer->tag, sizeof answer->tag);
    return size;
}

static void set_long(CURL *handle, CURLoption option, long value)
{
    CHECK(curl_easy_setopt(handle, option, value) == CURLE_OK);
}

static void set_text(CURL *handle, CURLoption option, const char *text)
{
    CHECK(curl_easy_setopt(handle, option, text) == CURLE_OK);
}

static void add_header(struct attempt *attempt, const char *name, const char *value)
{
    char line[HEADER_SIZE];
    int length = snprintf(line, sizeof line, "%s: %s", name, value);
    CHECK(length > 0 && length < HEADER_SIZE);
    struct curl_slist *longer = curl_slist_append(attempt->headers, line);
    CHECK(longer != NULL);
    attempt->headers = longer;
    hash_zero(line, sizeof line);
}

static void add_headers(struct attempt *attempt, const struct s3_server *server)
{
    uint8_t sha256[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE], base64[SHA256_BASE64_SIZE], range[64];
    const struct s3_call *call = attempt->call;
    sha256_of(sha256, call->body != NULL ? call->body : "", call->body_size);
    sha256_render(hex, sha256);
    add_header(attempt, "x-amz-content-sha256", hex);
    if (server->session_token[0] != '\0')
        add_header(attempt, "x-amz-security-token", server->session_token);
    if (strcmp(call->method, "PUT") == 0 && call->query[0] == '\0') {
        sha256_render_base64(base64, sha256);
        add_header(attempt, "x-amz-checksum-sha256", base64);
    }
    if (call->body != NULL)
        add_header(attempt, "Content-Type", "application/octet-stream");
    if (call->range_size > 0) {
        snprintf(range, sizeof range, "bytes=%llu-%llu",
                 (unsigned long long)call->range_offset,
                 (unsigned long long)(call->range_offset + call->range_size - 1));
        add_header(attempt, "Range", range);
    }
}

static void set_connection(CURL *handle, const struct s3_server *server)
{
    set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    set_long(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    set_long(handle, CURLOPT_FOLLOWLOCATION, 0);
    set_text(handle, CURLOPT_PROXY, "");
    set_long(handle, CURLOPT_NETRC, CURL_NETRC_IGNORED);
    set_long(handle, CURLOPT_NOSIGNAL, 1);
    set_long(handle, CURLOPT_PATH_AS_IS, 1);
    set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    set_long(handle, CURLOPT_LOW_SPEED_LIMIT, 1);
    set_long(handle, CURLOPT_LOW_SPEED_TIME, STALLED_S);
    set_text(handle, CURLOPT_USERAGENT, "epsilond/" EPSILOND_VERSION);
    set_text(handle, CURLOPT_AWS_SIGV4, server->signs);
    set_text(handle, CURLOPT_USERNAME, server->access_key_id);
    set_text(handle, CURLOPT_PASSWORD, server->secret_access_key);
    if (server->ca_file[0] != '\0') {
        set_text(handle, CURLOPT_CAINFO, server->ca_file);
        CHECK(curl_easy_setopt(handle, CURLOPT_CAPATH, NULL) == CURLE_OK);
    }
}

/* libcurl calls this as bytes come and go, and once a second. */
static int is_cancelled(void *context, curl_off_t down_all, curl_off_t down,
                        curl_off_t up_all, curl_off_t up)
{
    const struct s3_call *call = context;
    (void)down_all;
    (void)down;
    (void)up_all;
    (void)up;
    return atomic_load(call->cancel);
}

static void set_cancel(CURL *handle, const struct s3_call *call)
{
    set_long(handle, CURLOPT_NOPROGRESS, 0);
    CHECK(curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, is_cancelled) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_XFERINFODATA, call) == CURLE_OK);
}

/* The time limit of an attempt: a peer that sends or takes a body very slowly cannot
 * hold the caller for ever. */
static long attempt_ms(const struct s3_call *call)
{
    size_t bytes = call->body_size + call->answer_max;
    return ATTEMPT_MS + (long)(bytes / ATTEMPT_BYTES_MS);
}

static void set_call(struct attempt *attempt, const struct s3_server *server)
{
    char url[URL_SIZE];
    CURL *handle = attempt->handle;
    const struct s3_call *call = attempt->call;
    int length = snprintf(url, sizeof url, "%s%s%s%s", server->endpoint, call->path,
                          call->query[0] != '\0' ? "?" : "", call->query);
    CHECK(length > 0 && length < URL_SIZE);
    set_text(handle, CURLOPT_URL, url);
    set_long(handle, CURLOPT_TIMEOUT_MS, attempt_ms(call));
    if (call->cancel != NULL)
        set_cancel(handle, call);
    if (call->body != NULL) {
        CHECK(curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                               (curl_off_t)call->body_size) == CURLE_OK);
        CHECK(curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call->body) == CURLE_OK);
    }
    if (strcmp(call->method, "GET") != 0)
        set_text(handle, CURLOPT_CUSTOMREQUEST, call->method);
    CHECK(curl_easy_setopt(handle, CURLOPT_HTTPHEADER, attempt->headers) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_WRITEDATA, attempt) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_head) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_HEADERDATA, attempt) == CURLE_OK);
}

/* Copies the server's error code, up to the first character that is no letter or
 * digit. */
static void read_word(const struct attempt *attempt, char *word, size_t size)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *code = strstr(attempt->refusal, "<Code>");
    const char *begin = code != NULL ? code + strlen("<Code>") : "";
    snprintf(word, size, "%.*s", (int)strspn(begin, letters), begin);
}

static enum status status_of(long answered)
{
    if (is_good(answered))
        return ST_OK;
    if (answered == 404)
        return ST_NOT_FOUND;
    if (answered == 416)
        return ST_CORRUPT;
    bool passes = answered >= 500 || answered == 408 || answered == 429;
    return passes ? ST_IO : ST_FORBIDDEN;
}

static enum status judge(const struct attempt *attempt, CURLcode code,
                         struct error *error)
{
    char word[64];
    long answered = 0;
    const struct s3_call *call = attempt->call;
    if (attempt->too_large)
        return error_set(error, ST_CORRUPT, "%s %s: more bytes than were asked for",
                         call->method, call->path);
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return error_set(error, ST_CANCELLED, "%s %s was cancelled", call->method,
                         call->path);
    if (code != CURLE_OK && !attempt->is_cut)
        return error_set(error, ST_IO, "%s %s: %s", call->method, call->path,
                         curl_easy_strerror(code));
    curl_easy_getinfo(attempt->handle, CURLINFO_RESPONSE_CODE, &answered);
    enum status status = status_of(answered);
    if (status == ST_OK)
        return ST_OK;
    read_word(attempt, word, sizeof word);
    return error_set(error, status, "%s %s: the object store answers %ld %s",
                     call->method, call->path, answered, word);
}

static enum status try_once(struct s3_server *server, const struct s3_call *call,
                            struct s3_answer *answer, struct error *error)
{
    struct attempt attempt = {.handle = handle_take(server), .call = call};
    set_connection(attempt.handle, server);
    add_headers(&attempt, server);
    set_call(&attempt, server);
    CURLcode code = curl_easy_perform(attempt.handle);
    enum status status = judge(&attempt, code, error);
    *answer = attempt.answer;
    handle_give(server, attempt.handle);
    curl_slist_free_all(attempt.headers);
    return status;
}

/* --- calls --- */

/* Waits a random time between half and all of the pause of this attempt. */
static void wait_before(unsigned attempt)
{
    uint32_t random;
    random_bytes(&random, sizeof random);
    uint32_t most_ms = (uint32_t)PAUSE_FIRST_MS << attempt;
    uint32_t ms = most_ms / 2 + random % (most_ms / 2);
    const struct timespec pause = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

enum status s3_call(struct s3_server *server, const struct s3_call *call,
                    struct s3_answer *answer, struct error *error)
{
    struct error last = {0};
    enum status status = try_once(server, call, answer, &last);
    for (unsigned i = 1; status == ST_IO && i < S3_ATTEMPTS; i++) {
        last = (struct error){0};
        wait_before(i);
        status = try_once(server, call, answer, &last);
    }
    return status == ST_OK ? ST_OK : error_set(error, status, "%s", last.text);
}

void s3_query_add(char query[S3_QUERY_SIZE], const char *name, const char *value)
{
    static const char unreserved[] = "abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    size_t length = strlen(query);
    length += (size_t)snprintf(query + length, S3_QUERY_SIZE - length,
                               "%s%s=", length > 0 ? "&" : "", name);
    for (const char *at = value; *at != '\0'; at++) {
        CHECK(length + 4 < S3_QUERY_SIZE);
        if (strchr(unreserved, *at) != NULL)
            query[length++] = *at;
        else
            length += (size_t)snprintf(query + length, 4, "%%%02X", (uint8_t)*at);
        query[length] = '\0';
    }
}
