/* How it works: request_head_read is called whenever more of a head has arrived, always
 * with the head from its first byte on, and continues where it stopped: lines before
 * next are checked, and there is no end of a line between next and looked. Each
 * complete line is the first line, a field, or the empty line that ends the head. An
 * incomplete line is searched for control characters and checked against the limits, so
 * that a refusal does not have to wait for its end. */
#include "api/http/request_head.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "api/http/request_target.h"
#include "api/limits.h"

enum {
    METHOD_MAX = 32,    /* characters */
    LINE_SPARE = 64,    /* bytes of the first line besides its target */
    LENGTH_DIGITS = 18, /* below 2^63 */
};

/* The fields that this server or its library reads, and that are not lists whose
 * lines are joined (service/http/request.c). If a field occurred twice, the request
 * could be read in two ways. */
#define ONCE_LIST(X)                                                                   \
    X(HOST, "Host")                                                                    \
    X(CONTENT_LENGTH, "Content-Length")                                                \
    X(TRANSFER_ENCODING, "Transfer-Encoding")                                          \
    X(CONTENT_TYPE, "Content-Type")                                                    \
    X(CONNECTION, "Connection")                                                        \
    X(EXPECT, "Expect")                                                                \
    X(ORIGIN, "Origin")                                                                \
    X(AUTHORIZATION, "Authorization")                                                  \
    X(COOKIE, "Cookie")                                                                \
    X(FETCH_SITE, "Sec-Fetch-Site")                                                    \
    X(FORWARDED_USER, "X-Forwarded-User")                                              \
    X(FORWARDED_EMAIL, "X-Forwarded-Email")                                            \
    X(FORWARDED_GROUPS, "X-Forwarded-Groups")                                          \
    X(IDEMPOTENCY_KEY, "Idempotency-Key")                                              \
    X(REQUEST_ID, "X-Request-Id")                                                      \
    X(TRACEPARENT, "traceparent")                                                      \
    X(IF_RANGE, "If-Range")                                                            \
    X(RANGE, "Range")                                                                  \
    X(UPLOAD_OFFSET, "Upload-Offset")                                                  \
    X(UPLOAD_LENGTH, "Upload-Length")

enum once {
#define X(symbol, name) ONCE_##symbol,
    ONCE_LIST(X)
#undef X
        ONCE_COUNT
};

struct span { /* text in the head */
    const char *text;
    size_t size;
};

static const struct span once_names[ONCE_COUNT] = {
#define X(symbol, name) [ONCE_##symbol] = {name, sizeof name - 1},
    ONCE_LIST(X)
#undef X
};
static const struct span cookie = {"Cookie", 6}, chunked = {"chunked", 7};

static bool span_is(struct span span, struct span name)
{
    return span.size == name.size && strncasecmp(span.text, name.text, span.size) == 0;
}

/* Returns whether c is allowed in a method or in a field's name (RFC 9110 5.6.2). */
static bool is_token(unsigned char c)
{
    return isalnum(c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static size_t token_size(struct span span)
{
    size_t size = 0;
    while (size < span.size && is_token((unsigned char)span.text[size]))
        size++;
    return size;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_control(char c)
{
    unsigned char byte = (unsigned char)c;
    return ((byte < ' ') & (byte != '\t')) | (byte == 0x7f);
}

static enum status check_controls(struct span span, struct error *error)
{
    bool found = false;
    for (size_t i = 0; i < span.size; i++) /* no early exit: vectorised */
        found |= is_control(span.text[i]);
    if (found)
        return error_set(error, ST_INVALID, "a control character in the headers");
    return ST_OK;
}

static unsigned count_of(struct span span, char character)
{
    unsigned count = 0;
    for (size_t i = 0; i < span.size; i++)
        count += span.text[i] == character;
    return count;
}

/* The library allocates memory for each part, so their number is limited. */
static enum status check_parts(const struct request_head *head, struct error *error)
{
    if (head->parts <= LIMIT_HEAD_PARTS)
        return ST_OK;
    return error_set(error, ST_HEAD_TOO_LARGE,
                     "at most %d headers, cookies and parameters", LIMIT_HEAD_PARTS);
}

/* --- the first line --- */

static enum status read_request_line(struct request_head *head, struct span line,
                                     struct error *error)
{
    size_t method = token_size(line);
    const char *target = line.text + method + 1;
    const char *blank =
        method + 1 < line.size ? memchr(target, ' ', line.size - method - 1) : NULL;
    if (method == 0 || method > METHOD_MAX || line.text[method] != ' ' || blank == NULL)
        return error_set(error, ST_INVALID,
                         "the first line must be METHOD /path HTTP/1.1");
    struct span version = {blank + 1, line.size - (size_t)(blank + 1 - line.text)};
    head->old = version.size == 8 && memcmp(version.text, "HTTP/1.0", 8) == 0;
    if (!head->old && (version.size != 8 || memcmp(version.text, "HTTP/1.1", 8) != 0))
        return error_set(error, ST_INVALID, "only HTTP/1.1 and HTTP/1.0 are spoken");
    struct span asked = {target, (size_t)(blank - target)};
    struct span authority = {head->bytes, 0};
    enum status status = request_target_check(asked.text, asked.size, error);
    request_target_authority(asked.text, asked.size, &authority.text, &authority.size);
    head->authority_at = (size_t)(authority.text - head->bytes);
    head->authority_size = authority.size;
    head->parts += count_of(asked, '&');
    return status == ST_OK ? check_parts(head, error) : status;
}

/* --- the fields --- */

static enum status read_length(struct request_head *head, struct span value,
                               struct error *error)
{
    for (size_t i = 0; i < value.size; i++)
        if (!isdigit((unsigned char)value.text[i]))
            return error_set(error, ST_INVALID, "Content-Length must be digits");
    if (value.size == 0)
        return error_set(error, ST_INVALID, "Content-Length must be digits");
    if (value.size > LENGTH_DIGITS)
        return error_set(error, ST_BODY_TOO_LARGE, "no body may be as large as that");
    for (size_t i = 0; i < value.size; i++)
        head->length = 10 * head->length + (uint64_t)(value.text[i] - '0');
    return ST_OK;
}

static enum status read_once(struct request_head *head, enum once field,
                             struct span value, struct error *error)
{
    if ((head->once & 1u << field) != 0)
        return error_set(error, ST_INVALID, "more than one %s header",
                         once_names[field].text);
    head->once |= 1u << field;
    if (field == ONCE_HOST) {
        head->host_at = (size_t)(value.text - head->bytes);
        head->host_size = value.size;
    }
    if (field == ONCE_CONTENT_LENGTH)
        return read_length(head, value, error);
    if (field == ONCE_TRANSFER_ENCODING && !span_is(value, chunked))
        return error_set(error, ST_INVALID, "Transfer-Encoding other than chunked");
    head->chunked |= field == ONCE_TRANSFER_ENCODING;
    return ST_OK;
}

/* Moves the blanks after a value in front of it, and returns only the value. */
static struct span move_blanks(struct request_head *head, struct span value)
{
    char *text = head->bytes + (value.text - head->bytes);
    size_t size = value.size;
    while (size > 0 && is_blank(text[size - 1]))
        size--;
    size_t blanks = value.size - size;
    if (blanks > 0) {
        memmove(text + blanks, text, size);
        memset(text, ' ', blanks);
    }
    return (struct span){text + blanks, size};
}

static enum status read_field(struct request_head *head, struct span line,
                              struct error *error)
{
    struct span name = {line.text, token_size(line)};
    if (is_blank(line.text[0]))
        return error_set(error, ST_INVALID, "a folded header");
    if (name.size == 0 || name.size == line.size || line.text[name.size] != ':')
        return error_set(error, ST_INVALID,
                         "a header must be a name, a colon at once, and a value");
    struct span value = {name.text + name.size + 1, line.size - name.size - 1};
    while (value.size > 0 && is_blank(value.text[0])) {
        value.text++;
        value.size--;
    }
    value = move_blanks(head, value);
    if (span_is(name, cookie))
        head->parts += count_of(value, ',') + count_of(value, ';');
    head->parts++;
    enum status status = check_parts(head, error);
    if (status != ST_OK)
        return status;
    for (int field = 0; field < ONCE_COUNT; field++)
        if (span_is(name, once_names[field]))
            return read_once(head, (enum once)field, value, error);
    return ST_OK;
}

static enum status check_fields(const struct request_head *head, struct error *error)
{
    bool encoded = (head->once & 1u << ONCE_TRANSFER_ENCODING) != 0;
    if (!head->old && (head->once & 1u << ONCE_HOST) == 0)
        return error_set(error, ST_INVALID, "HTTP/1.1 needs a Host header");
    const struct span host = {head->bytes + head->host_at, head->host_size};
    const struct span authority = {head->bytes + head->authority_at,
                                   head->authority_size};
    if (authority.size > 0 && host.size > 0 && !span_is(authority, host))
        return error_set(error, ST_INVALID,
                         "the target names another host than the Host header");
    if (encoded && (head->once & 1u << ONCE_CONTENT_LENGTH) != 0)
        return error_set(error, ST_INVALID, "Transfer-Encoding beside Content-Length");
    if (encoded && head->old)
        return error_set(error, ST_INVALID, "Transfer-Encoding in HTTP/1.0");
    return ST_OK;
}

/* --- line by line --- */

/* Reads one line, which ends before its CR. */
static enum status read_line(struct request_head *head, struct span line,
                             struct error *error)
{
    enum status status = check_controls(line, error);
    if (status != ST_OK)
        return status;
    if (head->next == 0)
        return read_request_line(head, line, error);
    if (line.size > 0)
        return read_field(head, line, error);
    return check_fields(head, error);
}

/* Makes the checks that are possible for an unfinished line. The last byte so far may
 * be its CR. */
static enum status check_unfinished(struct request_head *head, const char *bytes,
                                    size_t size, struct error *error)
{
    size_t end = size > head->looked && bytes[size - 1] == '\r' ? size - 1 : size;
    struct span fresh = {bytes + head->looked, end - head->looked};
    head->looked = end;
    enum status status = check_controls(fresh, error);
    if (status == ST_OK && head->next == 0 && size > LIMIT_URI + LINE_SPARE)
        return error_set(error, ST_URI_TOO_LONG, "at most %d bytes", LIMIT_URI);
    if (status == ST_OK && size > LIMIT_HEAD)
        return error_set(error, ST_HEAD_TOO_LARGE, "the headers may have %d bytes",
                         LIMIT_HEAD);
    return status;
}

enum status request_head_read(struct request_head *head, char *bytes, size_t size,
                              struct error *error)
{
    enum status status = ST_OK;
    head->bytes = bytes;
    head->head_only = size >= 5 && memcmp(bytes, "HEAD ", 5) == 0;
    while (status == ST_OK && head->size == 0) {
        const char *start = bytes + head->next;
        const char *feed = memchr(bytes + head->looked, '\n', size - head->looked);
        if (feed == NULL)
            return check_unfinished(head, bytes, size, error);
        if (feed == start || feed[-1] != '\r')
            return error_set(error, ST_INVALID, "a line of the headers without CR");
        size_t end = (size_t)(feed + 1 - bytes);
        if (end > LIMIT_HEAD && head->next > 0)
            return error_set(error, ST_HEAD_TOO_LARGE, "the headers may have %d bytes",
                             LIMIT_HEAD);
        struct span line = {start, (size_t)(feed - 1 - start)};
        status = read_line(head, line, error);
        if (line.size == 0 && status == ST_OK)
            head->size = end;
        head->next = head->looked = end;
    }
    return status;
}
