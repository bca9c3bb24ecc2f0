#include "service/outbound/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <curl/curl.h>

#include "base/check.h"
#include "base/hash.h"

enum { HEAD_SIZE_MAX = 65536 };

struct transfer {
    CURL *handle;
    struct curl_slist *headers;
    const struct transfer_rules *rules;
    /* libcurl has copies of url, headers and signature. */
    struct transfer_request request;
    bool plain; /* its URL is http */
    bool began; /* a piece of the body has come */
    bool too_large, not_taken, enough;
    uint64_t head_size, size;
    char tag[TRANSFER_TAG_SIZE];
};

void transfer_library_open(void)
{
    CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

const char *transfer_authorities(const struct transfer_rules *rules)
{
    const char *built_in = curl_version_info(CURLVERSION_NOW)->cainfo;
    if (rules->ca_file[0] != '\0')
        return rules->ca_file;
    return built_in != NULL ? built_in : "";
}

/* --- what libcurl calls --- */

static bool may_connect(const struct transfer *transfer, const struct sockaddr *to)
{
    struct host_address address;
    return host_address_read(&address, to) &&
           host_address_is_allowed(&address, transfer->plain,
                                   &transfer->rules->allowed);
}

/* libcurl connects the socket to the address that it shows here, and to no other. */
static curl_socket_t open_socket(void *context, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    if (purpose != CURLSOCKTYPE_IPCXN || !may_connect(context, &address->addr))
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Reads a line of a head, which has no NUL. At the beginning of an answer, forgets what
 * the answer before said. */
static void read_line(struct transfer *transfer, const char *line, size_t size)
{
    static const char tag[] = "etag:", status[] = "HTTP/";
    if (size > strlen(status) && memcmp(line, status, strlen(status)) == 0)
        transfer->tag[0] = '\0';
    if (size <= strlen(tag) || strncasecmp(line, tag, strlen(tag)) != 0)
        return;
    const char *value = line + strlen(tag), *end = line + size;
    while (value < end && *value == ' ')
        value++;
    while (end > value && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' '))
        end--;
    size_t length = (size_t)(end - value);
    if (length < 2 || length >= sizeof transfer->tag || value[0] != '"')
        return;
    memcpy(transfer->tag, value, length);
    transfer->tag[length] = '\0';
}

static size_t take_head(char *data, size_t one, size_t size, void *context)
{
    struct transfer *transfer = context;
    (void)one;
    read_line(transfer, data, size);
    transfer->head_size += size;
    transfer->too_large = transfer->head_size > HEAD_SIZE_MAX;
    return transfer->too_large ? 0 : size;
}

static long status_of(const struct transfer *transfer)
{
    long status = 0;
    curl_easy_getinfo(transfer->handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static void announce(struct transfer *transfer)
{
    curl_off_t length = -1;
    curl_easy_getinfo(transfer->handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length >= 0 && transfer->request.announced != NULL)
        transfer->request.announced(transfer->request.context, (uint64_t)length);
}

/* Ends the transfer with any return value other than the given size. */
static size_t take_body(char *data, size_t one, size_t size, void *context)
{
    enum { STOP = 0 };
    struct transfer *transfer = context;
    const struct transfer_request *request = &transfer->request;
    bool wanted = request->take != NULL && status_of(transfer) == (long)request->wanted;
    (void)one;
    if (size > request->answer_max - transfer->size) {
        transfer->too_large = wanted;
        transfer->enough = !wanted;
        return STOP;
    }
    if (wanted && !transfer->began)
        announce(transfer);
    transfer->began = true;
    transfer->size += size;
    if (wanted && !request->take(request->context, data, size)) {
        transfer->not_taken = true;
        return STOP;
    }
    return size;
}

static int watch(void *context, curl_off_t down_size, curl_off_t down,
                 curl_off_t up_size, curl_off_t up)
{
    const struct transfer *transfer = context;
    const atomic_bool *cancel = transfer->request.cancel;
    (void)down_size;
    (void)down;
    (void)up_size;
    (void)up;
    return cancel != NULL && atomic_load(cancel);
}

/* --- making it --- */

static void set_long(CURL *handle, CURLoption option, long value)
{
    CHECK(curl_easy_setopt(handle, option, value) == CURLE_OK);
}

static void set_text(CURL *handle, CURLoption option, const char *text)
{
    CHECK(curl_easy_setopt(handle, option, text) == CURLE_OK);
}

static void add_header(struct transfer *transfer, const char *text)
{
    struct curl_slist *longer = curl_slist_append(transfer->headers, text);
    CHECK(longer != NULL);
    transfer->headers = longer;
}

static void set_protocols(struct transfer *transfer)
{
    CURL *handle = transfer->handle;
    unsigned redirects = transfer->request.redirects_max;
    set_text(handle, CURLOPT_PROTOCOLS_STR, transfer->plain ? "http" : "https");
    set_long(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    set_long(handle, CURLOPT_FOLLOWLOCATION, redirects > 0);
    set_long(handle, CURLOPT_MAXREDIRS, (long)redirects);
    set_text(handle, CURLOPT_PROXY, "");
    set_long(handle, CURLOPT_NETRC, CURL_NETRC_IGNORED);
    set_long(handle, CURLOPT_FRESH_CONNECT, 1);
    set_long(handle, CURLOPT_FORBID_REUSE, 1);
    set_long(handle, CURLOPT_NOSIGNAL, 1);
    set_long(handle, CURLOPT_QUICK_EXIT, 1); /* cleanup does not wait for the
                                                resolver */
    if (transfer->rules->ca_file[0] != '\0') {
        set_text(handle, CURLOPT_CAINFO, transfer->rules->ca_file);
        CHECK(curl_easy_setopt(handle, CURLOPT_CAPATH, NULL) == CURLE_OK);
    }
}

static void set_limits(struct transfer *transfer)
{
    CURL *handle = transfer->handle;
    const struct transfer_request *request = &transfer->request;
    set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_ms);
    set_long(handle, CURLOPT_TIMEOUT_MS, (long)request->whole_ms);
    if (request->stalled_s > 0) {
        set_long(handle, CURLOPT_LOW_SPEED_LIMIT, 1);
        set_long(handle, CURLOPT_LOW_SPEED_TIME, (long)request->stalled_s);
    }
}

static void set_callbacks(struct transfer *transfer)
{
    CURL *handle = transfer->handle;
    CHECK(curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket) ==
          CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, transfer) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_head) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_HEADERDATA, transfer) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_WRITEDATA, transfer) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, watch) == CURLE_OK);
    CHECK(curl_easy_setopt(handle, CURLOPT_XFERINFODATA, transfer) == CURLE_OK);
    set_long(handle, CURLOPT_NOPROGRESS, 0);
}

/* libcurl signs all headers that it is given, besides its own. */
static void sign(struct transfer *transfer, const struct transfer_signature *signature)
{
    enum { VALUE_SIZE = 8192 };
    char text[VALUE_SIZE];
    snprintf(text, sizeof text, "aws:amz:%s:s3", signature->region);
    set_text(transfer->handle, CURLOPT_AWS_SIGV4, text);
    set_text(transfer->handle, CURLOPT_USERNAME, signature->access_key_id);
    set_text(transfer->handle, CURLOPT_PASSWORD, signature->secret_access_key);
    add_header(transfer, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
    if (signature->session_token != NULL) {
        snprintf(text, sizeof text, "x-amz-security-token: %s",
                 signature->session_token);
        add_header(transfer, text);
    }
    hash_zero(text, sizeof text);
}

struct transfer *transfer_create(const struct transfer_rules *rules,
                                 const struct transfer_request *request)
{
    struct transfer *transfer = calloc(1, sizeof *transfer);
    CHECK(transfer != NULL);
    transfer->handle = curl_easy_init();
    CHECK(transfer->handle != NULL);
    transfer->rules = rules;
    transfer->request = *request;
    transfer->plain = strncmp(request->url, "http:", strlen("http:")) == 0;
    set_text(transfer->handle, CURLOPT_URL, request->url);
    set_text(transfer->handle, CURLOPT_USERAGENT, "epsilond/" EPSILOND_VERSION);
    CHECK(curl_easy_setopt(transfer->handle, CURLOPT_PRIVATE, transfer) == CURLE_OK);
    set_protocols(transfer);
    set_limits(transfer);
    set_callbacks(transfer);
    for (size_t i = 0; i < TRANSFER_HEADERS_MAX && request->headers[i] != NULL; i++)
        add_header(transfer, request->headers[i]);
    if (request->body != NULL) {
        set_text(transfer->handle, CURLOPT_POSTFIELDS, request->body);
        add_header(transfer, "Expect:");
    }
    if (request->signature != NULL)
        sign(transfer, request->signature);
    CHECK(curl_easy_setopt(transfer->handle, CURLOPT_HTTPHEADER, transfer->headers) ==
          CURLE_OK);
    return transfer;
}

void transfer_destroy(struct transfer *transfer)
{
    if (transfer == NULL)
        return;
    curl_easy_cleanup(transfer->handle);
    curl_slist_free_all(transfer->headers);
    free(transfer);
}

/* --- its end --- */

static enum transfer_end end_of(const struct transfer *transfer, CURLcode code)
{
    if (transfer->enough)
        return TRANSFER_ANSWERED;
    if (transfer->too_large)
        return TRANSFER_TOO_LARGE;
    if (transfer->not_taken)
        return TRANSFER_NOT_TAKEN;
    switch ((int)code) {
    case CURLE_OK: return TRANSFER_ANSWERED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT: return TRANSFER_UNREACHABLE;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER: return TRANSFER_UNTRUSTED;
    case CURLE_OPERATION_TIMEDOUT: return TRANSFER_TOO_SLOW;
    case CURLE_OUT_OF_MEMORY: return TRANSFER_TOO_LARGE; /* a head line is too long */
    case CURLE_TOO_MANY_REDIRECTS: return TRANSFER_REDIRECTED;
    /* Also returned for an answer that does not begin as HTTP. */
    case CURLE_UNSUPPORTED_PROTOCOL:
        return status_of(transfer) != 0 ? TRANSFER_REDIRECTED : TRANSFER_NOT_HTTP;
    case CURLE_WEIRD_SERVER_REPLY: return TRANSFER_NOT_HTTP;
    case CURLE_ABORTED_BY_CALLBACK: return TRANSFER_CANCELLED;
    default: return TRANSFER_BROKEN;
    }
}

struct transfer_result transfer_result(const struct transfer *transfer, int code)
{
    struct transfer_result result = {.end = end_of(transfer, (CURLcode)code)};
    if (result.end == TRANSFER_ANSWERED)
        result.status = (unsigned)status_of(transfer);
    return result;
}

struct transfer_result transfer_run(struct transfer *transfer)
{
    return transfer_result(transfer, (int)curl_easy_perform(transfer->handle));
}

void *transfer_handle(struct transfer *transfer)
{
    return transfer->handle;
}

void transfer_tag(const struct transfer *transfer, char tag[TRANSFER_TAG_SIZE])
{
    memcpy(tag, transfer->tag, TRANSFER_TAG_SIZE);
}

const char *transfer_end_name(enum transfer_end end)
{
    static const char *const names[] = {
        [TRANSFER_ANSWERED] = "answered",   [TRANSFER_UNREACHABLE] = "unreachable",
        [TRANSFER_UNTRUSTED] = "untrusted", [TRANSFER_TOO_SLOW] = "too_slow",
        [TRANSFER_TOO_LARGE] = "too_large", [TRANSFER_REDIRECTED] = "redirected",
        [TRANSFER_NOT_HTTP] = "not_http",   [TRANSFER_BROKEN] = "broken",
        [TRANSFER_NOT_TAKEN] = "not_taken", [TRANSFER_CANCELLED] = "cancelled",
    };
    return names[end];
}
