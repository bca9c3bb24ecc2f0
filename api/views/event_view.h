/*
 * event_view.h - server-sent events, text/event-stream, as the HTML standard
 * describes them.
 *
 *   event: progress
 *   data: {"id":"job_...","step":420,...}
 *   id: 1f0c...-17-4-0-420-1
 *
 * An empty line follows each. A text of several events has one id, with the last of
 * them: a client that has read only part of the text asks for all of it again.
 *
 * Threads: pure; a writer belongs to one.
 */
#ifndef API_VIEWS_EVENT_VIEW_H
#define API_VIEWS_EVENT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "accountant/pricing/budget_spent.h"
#include "api/views/job_view.h"

struct event_writer {
    FILE *stream;
    char *text;
    size_t size;
    bool open; /* the last event is not ended yet */
};

void event_writer_open(struct event_writer *writer);

/* Writes an event of that name. data is the text of one JSON value. The function takes
 * ownership of it. */
void event_write(struct event_writer *writer, const char *name, char *data_take);

/* Gives the last event the id NONCE-VERSION. */
void event_write_id(struct event_writer *writer, const char *nonce, uint64_t version);

/* How much of a job a client has seen once it has read an event. It does not depend on
 * the daemon: every daemon of a store, and every start of one, understands it. */
struct event_mark {
    uint64_t points, released; /* number of points of either kind */
    uint64_t step;             /* the last step that was shown */
    uint64_t stage;            /* stage of the job's life: it only grows */
};

/* Gives the last event the id NONCE-VERSION-POINTS-RELEASED-STEP-STAGE. */
void event_write_mark(struct event_writer *writer, const char *nonce, uint64_t version,
                      const struct event_mark *mark);

/* Returns the text, to be freed, and its size, which is 0 if nothing was written. */
char *event_writer_close(struct event_writer *writer, size_t *size);

/* Reads an id that event_write_id has written with this nonce. Returns false, and
 * leaves version untouched, if text is not such an id. */
bool event_id_parse(uint64_t *version, const char *text, const char *nonce);

/* Reads an id that event_write_mark has written, with any nonce. *version is the id's
 * version if it has this nonce, or 0. Returns false, and leaves both untouched, if text
 * is not such an id. */
bool event_mark_parse(struct event_mark *mark, uint64_t *version, const char *text,
                      const char *nonce);

/* Render the data of events, as JSON text to be freed:
 *   state      {"id","state","state_reason","queue_position"}
 *   progress   {"id","step","steps","epsilon_spent","seconds_left"}
 *   evaluation {"step","accuracy" or "rmse","loss"}, the point at index
 *   released   {"step",...}, the point at index; its lists only with histograms
 *   change     {"id"}: something else of the job changed, such as its name, or the job
 *              was deleted
 *   end        {"state","model"}
 *   budget     {"dataset","share","epsilon_spent"}
 *   dataset    {"id","state"}: it was registered, or something else of it has changed
 *   sweep      {"id","state","states"}: it was made, or runs of it are in other states
 *   snapshot   of lists: {"dataset"}, null for all datasets; the snapshot of a job is
 *              the job */
char *event_state_render(const struct job_view *view);
char *event_progress_render(const struct job_view *view);
char *event_change_render(const struct job_view *view);
char *event_evaluation_render(const struct job_view *view, size_t index);
char *event_released_render(const struct job_view *view, size_t index, bool histograms);
char *event_end_render(const struct job_view *view);
char *event_budget_render(const struct dataset_id *dataset,
                          const struct balance *balance);
char *event_dataset_render(const char *dataset, const char *state);
struct event_sweep {
    const struct sweep_id *id;
    bool ended;
    const char *const *state_names; /* (state_count) names of job states */
    const size_t *by_state;         /* (state_count) number of runs in each */
    size_t state_count;
};
char *event_sweep_render(const struct event_sweep *sweep);
char *event_lists_render(const char *dataset);

#endif
