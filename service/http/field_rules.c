#include "service/http/field_rules.h"

#include <string.h>
#include <strings.h>
#include <microhttpd.h>

#include "api/http/routes.h"

/* The requests that a row applies to: all; those that change something; those that
 * bring a file; those that do not; those that bring a piece of a file. */
enum when { ALWAYS, FOR_CHANGES, FOR_FILES, FOR_OTHERS, FOR_PIECES };

struct field_rule {
    const char *name;
    enum when when;
    const char *unless; /* a field that makes this one irrelevant; NULL: none */
    const char *only;   /* the value that has no effect; NULL: none */
    enum status status;
    const char *refusal;
};

#define PIECES "send the file whole, or in pieces by Upload-Offset and Upload-Length"
#define METHOD "send the method itself"
#define NO_DATES                                                                       \
    "nothing here has a date of change that could be compared: use If-Match or "       \
    "If-None-Match"
#define NO_TAG "an upload has no ETag, so this condition cannot be checked"

static const struct field_rule rules[] = {
    {"Content-Range", ALWAYS, NULL, NULL, ST_INVALID,
     "Content-Range is not taken: " PIECES},
    {"Range", FOR_CHANGES, NULL, NULL, ST_INVALID, "Range is for reading: " PIECES},
    {"Upload-Offset", FOR_OTHERS, NULL, NULL, ST_INVALID,
     "only files of datasets come in pieces"},
    {"Upload-Length", FOR_OTHERS, NULL, NULL, ST_INVALID,
     "only files of datasets come in pieces"},
    {"Upload-Complete", ALWAYS, NULL, "?1", ST_INVALID,
     "Upload-Complete is not taken: " PIECES},
    {"Upload-Incomplete", ALWAYS, NULL, "?0", ST_INVALID,
     "Upload-Incomplete is not taken: " PIECES},
    {"Content-Encoding", ALWAYS, NULL, "identity", ST_UNSUPPORTED_MEDIA_TYPE,
     "send the body as it is, without Content-Encoding; a file packed by gzip is "
     "recognised by its first bytes"},
    {"Digest", ALWAYS, NULL, NULL, ST_INVALID,
     "Digest is obsolete: send Content-Digest"},
    {"Content-MD5", ALWAYS, NULL, NULL, ST_INVALID,
     "Content-MD5 is obsolete: send Content-Digest"},
    {"Repr-Digest", FOR_PIECES, NULL, NULL, ST_INVALID,
     "Repr-Digest is of a file that comes whole: send Content-Digest with each piece"},
    {"Expect", ALWAYS, NULL, "100-continue", ST_EXPECTATION_FAILED,
     "Expect may be 100-continue and nothing else"},
    {"X-HTTP-Method-Override", ALWAYS, NULL, NULL, ST_INVALID, METHOD},
    {"X-HTTP-Method", ALWAYS, NULL, NULL, ST_INVALID, METHOD},
    {"X-Method-Override", ALWAYS, NULL, NULL, ST_INVALID, METHOD},
    {"If-Match", FOR_FILES, NULL, NULL, ST_PRECONDITION_FAILED, NO_TAG},
    {"If-None-Match", FOR_FILES, NULL, NULL, ST_PRECONDITION_FAILED, NO_TAG},
    {"If-Unmodified-Since", ALWAYS, "If-Match", NULL, ST_PRECONDITION_FAILED, NO_DATES},
    {"If-Modified-Since", FOR_CHANGES, "If-None-Match", NULL, ST_PRECONDITION_FAILED,
     NO_DATES},
    {"If", ALWAYS, NULL, NULL, ST_PRECONDITION_FAILED,
     "the conditions of WebDAV are not known here"},
};

static bool holds(const struct field_rule *rule, const struct request *request)
{
    bool is_file = request->match.route->body == BODY_FILE;
    if (rule->unless != NULL && request_header(request, rule->unless) != NULL)
        return false;
    switch (rule->when) {
    case ALWAYS: return true;
    case FOR_CHANGES: return !request_reads(request);
    case FOR_FILES: return is_file;
    case FOR_OTHERS: return !is_file;
    case FOR_PIECES: return request_header(request, "Upload-Offset") != NULL;
    }
    return true;
}

/* Returns whether the field sets a condition that neither a row nor a reader knows. A
 * request that only reads is answered anyway. */
static bool is_unknown_condition(const char *name, const struct request *request)
{
    static const char *const known[] = {"If-Match", "If-None-Match", "If-Range",
                                        "If-Modified-Since", "If-Unmodified-Since"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(name, known[i]) == 0)
            return false;
    return strncasecmp(name, "If-", 3) == 0 && !request_reads(request);
}

struct check {
    const struct request *request;
    struct error *error;
    enum status status;
};

static enum MHD_Result check_field(void *context, enum MHD_ValueKind kind,
                                   const char *name, const char *value)
{
    struct check *check = context;
    (void)kind;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct field_rule *rule = &rules[i];
        bool harmless =
            rule->only != NULL && value != NULL && strcasecmp(value, rule->only) == 0;
        if (strcasecmp(name, rule->name) == 0 && !harmless &&
            holds(rule, check->request))
            check->status = error_set(check->error, rule->status, "%s", rule->refusal);
    }
    if (check->status == ST_OK && is_unknown_condition(name, check->request))
        check->status = error_set(check->error, ST_PRECONDITION_FAILED,
                                  "a condition that is not known here");
    return check->status == ST_OK ? MHD_YES : MHD_NO;
}

enum status field_rules_check(const struct request *request, struct error *error)
{
    struct check check = {.request = request, .error = error};
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, check_field,
                              &check);
    return check.status;
}
