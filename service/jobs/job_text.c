#include "service/jobs/job_text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"

struct unread { /* a row's texts, one after the other */
    struct job_id id;
    struct datasets *datasets;
    bool is_damaged; /* they do not read back */
    size_t detail;   /* offset of the detail text */
    char texts[];
};

struct job_text {
    _Atomic(struct job_body *) body; /* NULL: not read yet, and unread is not NULL */
    struct unread *unread;           /* guarded by reading */
};

/* Held while a body is read. Lock order: after the lock of jobs, before that of
 * datasets. */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

static struct job_text *create(struct job_body *body, struct unread *unread)
{
    struct job_text *kept = malloc(sizeof *kept);
    CHECK(kept != NULL);
    atomic_init(&kept->body, body);
    kept->unread = unread;
    return kept;
}

struct job_text *job_text_create(struct job_body *body_take)
{
    return create(body_take, NULL);
}

struct job_text *job_text_create_unread(const struct job_id *id, const char *spec,
                                        const char *detail, struct datasets *datasets)
{
    size_t spec_size = strlen(spec) + 1, detail_size = strlen(detail) + 1;
    struct unread *unread = malloc(sizeof *unread + spec_size + detail_size);
    CHECK(unread != NULL);
    unread->id = *id;
    unread->datasets = datasets;
    unread->is_damaged = false;
    unread->detail = spec_size;
    memcpy(unread->texts, spec, spec_size);
    memcpy(unread->texts + spec_size, detail, detail_size);
    return create(NULL, unread);
}

void job_text_destroy(struct job_text *kept)
{
    if (kept == NULL)
        return;
    job_body_destroy(atomic_load(&kept->body));
    free(kept->unread);
    free(kept);
}

struct job_body *job_text_body_read(const struct job_text *kept)
{
    return atomic_load_explicit(&kept->body, memory_order_acquire);
}

/* Returns NULL if the texts do not read back, and logs that once. */
static struct job_body *read_body(struct unread *unread)
{
    struct job_body *body = NULL;
    struct job_detail detail = {0};
    struct error error = {0};
    const struct job_texts texts = {.spec = unread->texts,
                                    .detail = unread->texts + unread->detail,
                                    .has_ended = true};
    if (unread->is_damaged)
        return NULL;
    if (job_body_read(&body, &detail, &texts, unread->datasets, &error) == ST_OK)
        return body;
    unread->is_damaged = true;
    log_event(LOG_ERROR, "job_corrupt", "job", unread->id.text, "detail", error.text,
              (char *)NULL);
    return NULL;
}

static struct job_body *read_once(struct job_text *kept)
{
    struct job_body *body = job_text_body_read(kept);
    if (body != NULL)
        return body;
    pthread_mutex_lock(&reading);
    body = job_text_body_read(kept);
    if (body == NULL)
        body = read_body(kept->unread);
    if (body != NULL && kept->unread != NULL) {
        free(kept->unread);
        kept->unread = NULL;
        atomic_store_explicit(&kept->body, body, memory_order_release);
    }
    pthread_mutex_unlock(&reading);
    return body;
}

bool job_text_check(struct job_text *kept)
{
    return read_once(kept) != NULL;
}

struct job_body *job_text_body(struct job_text *kept)
{
    struct job_body *body = read_once(kept);
    if (body == NULL)
        log_fatal("corrupt", "the row of a job that is needed does not read back");
    return body;
}
