/*
 * status.h - the closed list of outcomes, and the detail that travels with a failure.
 *
 * One X-macro names every outcome once: symbol, wire name (the `code` of a problem
 * body), and advice to the caller. The HTTP number of each is in api/views/problem.c.
 *
 * Invariants
 *   (1) ST_OK is 0; a function that returns anything else has left its outputs
 *       untouched unless its header says otherwise.
 *   (2) The first failure recorded in a struct error wins; later ones are ignored.
 *
 * Threads: a struct error belongs to one thread at a time.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

struct faults;

#define STATUS_LIST(X)                                                                 \
    X(OK, "ok", "nothing to do")                                                       \
    X(INVALID, "invalid_argument",                                                     \
      "correct what the detail names, then send the request again")                    \
    X(IDEMPOTENCY_KEY_MISSING, "idempotency_key_missing",                              \
      "send an Idempotency-Key header of 1 to 255 printable ASCII characters")         \
    X(NOT_FLOAT_SAFE, "not_float_safe",                                                \
      "ask the operator: floats are not rounded to nearest there")                     \
    X(UNIT_UNSUPPORTED, "unit_unsupported",                                            \
      "name an algorithm that takes persons, as dpsgd does")                           \
    X(ONE_RANK_ONLY, "one_rank_only",                                                  \
      "name an algorithm whose steps several processes may take, as dpsgd, or one "    \
      "rank")                                                                          \
    X(JOB_TOO_LARGE, "job_too_large", "ask for a smaller model or batch")              \
    X(FORBIDDEN_ORIGIN, "forbidden_origin",                                            \
      "call the service by its loopback address")                                      \
    X(UNTRUSTED_PROXY, "untrusted_proxy",                                              \
      "send no header that says who asks; a trusted proxy sends them")                 \
    X(KEY_IN_QUERY, "key_in_query",                                                    \
      "send the key as Authorization: Bearer; revoke this one, others may have seen "  \
      "it")                                                                            \
    X(NEEDS_REFRESH, "needs_refresh",                                                  \
      "send the request again: the service had not read its store yet")                \
    X(KEY_MISSING, "key_missing", "send Authorization: Bearer KEY")                    \
    X(KEY_MALFORMED, "key_malformed", "send the whole key, as it was shown once")      \
    X(KEY_UNKNOWN, "key_unknown", "ask for another key: this one is unknown")          \
    X(KEY_EXPIRED, "key_expired", "ask for a new key")                                 \
    X(SESSION_ENDED, "session_ended", "log in again")                                  \
    X(KEY_REVOKED, "key_revoked", "ask for a new key")                                 \
    X(WRONG_KEYS, "too_many_wrong_keys", "find the right key, and wait a minute")      \
    X(KEY_ENDED, "key_ended", "make a new key")                                        \
    X(POLICY_VIOLATION, "policy_violation",                                            \
      "keep to the limit that the detail names, or ask for a key with another")        \
    X(SECOND_PERSON, "second_person", "have another person decide")                    \
    X(FORBIDDEN, "forbidden", "use a key whose role or scopes allow it")               \
    X(NOT_FOUND, "not_found", "check the identifier")                                  \
    X(METHOD_NOT_ALLOWED, "method_not_allowed", "use a method named by Allow")         \
    X(NOT_ACCEPTABLE, "not_acceptable", "accept one of the types the route offers")    \
    X(GONE, "gone", "use a new Idempotency-Key")                                       \
    X(PRECONDITION_FAILED, "precondition_failed", "read the resource again")           \
    X(PRECONDITION_REQUIRED, "precondition_required",                                  \
      "send the ETag that was read as If-Match")                                       \
    X(BODY_TOO_LARGE, "body_too_large", "send a smaller body")                         \
    X(URI_TOO_LONG, "uri_too_long", "send a shorter path or query")                    \
    X(HEAD_TOO_LARGE, "head_too_large", "send fewer or shorter headers")               \
    X(UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type",                                \
      "send the Content-Type that the detail names")                                   \
    X(EXPECTATION_FAILED, "expectation_failed",                                        \
      "send no Expect header, or 100-continue")                                        \
    X(RANGE_NOT_SATISFIABLE, "range_not_satisfiable", "ask for a range in the file")   \
    X(BUDGET_EXHAUSTED, "budget_exhausted", "ask for less privacy loss")               \
    X(BUDGET_HELD, "budget_held", "retry when running jobs have ended")                \
    X(GRANT_PENDING, "grant_pending", "have a second person approve its grant")        \
    X(GRANT_DECIDED, "grant_decided", "nothing to do: it was decided, or has lapsed")  \
    X(ALREADY_EXISTS, "already_exists", "choose another identifier")                   \
    X(CONFLICT, "conflict", "send the request again: another one was handled first")   \
    X(DATASET_NOT_READY, "dataset_not_ready", "upload its files and import them")      \
    X(DATASET_BUSY, "dataset_busy", "retry when the import has ended")                 \
    X(DATASET_IMMUTABLE, "dataset_immutable", "register another dataset")              \
    X(DATASET_IN_USE, "dataset_in_use", "retry when its jobs have ended")              \
    X(FILE_IN_USE, "file_in_use",                                                      \
      "delete the datasets and models that need it, or wait for the jobs")             \
    X(DATASET_PRIVATE, "dataset_private", "name a dataset declared public")            \
    X(DATASET_PUBLIC, "dataset_public", "public data has no budget and no ledger")     \
    X(DATASET_FROZEN, "dataset_frozen", "its owner must grant a new epoch")            \
    X(DATASET_NOT_FROZEN, "dataset_not_frozen", "nothing: its budget is in force")     \
    X(DATASET_UNAVAILABLE, "dataset_unavailable", "ask its owner")                     \
    X(DATASET_ORDER, "dataset_order",                                                  \
      "register another dataset for its files, if its budget was not used")            \
    X(CHARGE_ENDED, "charge_ended", "make a new charge for what is still to be run")   \
    X(BLOCK_GRANTED, "block_granted",                                                  \
      "ask for the next block: what another process was granted is not run again")     \
    X(BLOCK_OUT_OF_ORDER, "block_out_of_order", "ask for the next block")              \
    X(DUPLICATE_CONTENT, "duplicate_content",                                          \
      "use one dataset for the content and delete the others")                         \
    X(UPLOAD_BUSY, "upload_busy", "retry when the other request has ended")            \
    X(UPLOAD_OFFSET, "upload_offset", "go on at the Upload-Offset of this answer")     \
    X(UPLOAD_LENGTH, "upload_length",                                                  \
      "give the length that the upload began with, or begin anew at 0")                \
    X(WEBHOOK_LIMIT, "webhook_limit", "delete a webhook that is not needed")           \
    X(JOB_TERMINAL, "job_terminal", "nothing to do: the job has ended")                \
    X(JOB_ACTIVE, "job_active", "cancel it, or wait until it has ended")               \
    X(JOB_HAS_MODEL, "job_has_model", "delete its model first")                        \
    X(IDEMPOTENCY_KEY_REUSED, "idempotency_key_reused",                                \
      "use a new key for a new body")                                                  \
    X(IMPORT_FAILED, "import_failed", "correct the file, upload it and import again")  \
    X(NO_ANSWER, "no_answer",                                                          \
      "leave out the rows that are named, or train a model that does not diverge")     \
    X(INTERNAL, "internal", "report the request id")                                   \
    X(MODEL_CORRUPT, "model_corrupt", "restore the model's file from a backup")        \
    X(DATASET_CORRUPT, "dataset_corrupt", "restore the dataset's file from a backup")  \
    X(QUEUE_FULL, "queue_full", "retry later")                                         \
    X(DISK_FULL, "disk_full", "free space on the disk of the data directory, retry")   \
    X(DRAINING, "draining", "retry after the restart")                                 \
    X(CANCELLED, "cancelled", "nothing to do: it was cancelled")                       \
    X(NO_MEMORY, "no_memory", "ask for a smaller job")                                 \
    X(CORRUPT, "ledger_unavailable", "restore the ledger from a backup")               \
    X(IO, "ledger_unavailable", "read the log")

enum status {
#define X(symbol, wire, advice) ST_##symbol,
    STATUS_LIST(X)
#undef X
};

#define STATUS_ONE(symbol, wire, advice) +1
enum { STATUS_COUNT = STATUS_LIST(STATUS_ONE) };
#undef STATUS_ONE

struct error {
    enum status status;
    char pointer[96]; /* JSON pointer of the member at fault, or ? and the name of the
                         query parameter; "" if none */
    char text[256];
    struct faults *faults; /* the caller's buffer for every fault of a request
                            * (api/json/fault.h); NULL: only the first is recorded */
};

/* Wire name and advice of a status; static text. */
const char *status_wire(enum status status);
const char *status_advice(enum status status);

/* Records the first failure in error (NULL is allowed) and returns status, so that a
 * function can end with `return error_set(error, ST_INVALID, ...)`. */
enum status error_set(struct error *error, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, and names the member of the request that is at fault:
 * "/privacy/epsilon". */
enum status error_set_at(struct error *error, enum status status, const char *pointer,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Says where the failure in error (NULL is allowed) happened: puts the formatted words
 * and ": " in front of its text. Returns status. */
enum status error_within(struct error *error, enum status status, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

#endif
