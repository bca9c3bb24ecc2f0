#include "api/views/job_outline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_scan.h"
#include "engine/dp/algorithms/registry.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct job_outline job_outline_of(const struct job_request *request,
                                  const struct job_detail *detail)
{
    const struct released_history *released = detail->released;
    struct job_outline outline = {
        .dataset = request->dataset,
        .algorithm = request->train.algorithm.algorithm,
        .is_measured = request->measurement.is_asked,
        .step = detail->step,
        .authorised_steps = detail->authorised_steps,
        .ledger_seq = detail->ledger_seq,
        .measurement_seq = detail->measurement_seq,
        .epsilon_planned = detail->epsilon_planned,
        .epsilon_spent = detail->epsilon_spent,
        .point_count = detail->point_count,
        .released_count = released != NULL ? released->point_count : 0,
        .has_model = detail->has_model,
        .has_drawn = detail->has_drawn,
        .model_is_gone = detail->model_is_gone,
        .model = detail->model,
        .drawn = detail->drawn,
        .is_run = detail->sweep.runs > 0,
        .sweep = detail->sweep.id,
        .start_ms = detail->start_ms,
        .cancel_ms = detail->cancel_ms,
        .end_ms = detail->end_ms,
    };
    memcpy(outline.state_reason, detail->state_reason, sizeof outline.state_reason);
    if (detail->quality != NULL)
        outline.score = quality_score_read(detail->quality);
    if (detail->point_count > 0)
        outline.last = detail->points[detail->point_count - 1];
    return outline;
}

/* --- the request --- */

static bool read_spec(struct job_outline *outline, const char *spec)
{
    enum { DATASET, EVALUATION, ALGORITHM };
    static const char *const names[] = {"dataset", "evaluation", "algorithm"};
    static const char *const own[] = {"name"};
    struct json_span found[COUNT(names)], name;
    char text[64];
    if (!json_scan(found, names, COUNT(names), json_span_of(spec)) ||
        found[ALGORITHM].at == NULL || !json_scan(&name, own, 1, found[ALGORITHM]) ||
        !json_span_text(text, sizeof text, name))
        return false;
    outline->algorithm = algorithm_find(text);
    outline->is_measured =
        found[EVALUATION].at != NULL && found[EVALUATION].at[0] == '{';
    return outline->algorithm != NULL &&
           json_span_text(text, sizeof text, found[DATASET]) &&
           dataset_id_parse(&outline->dataset, text);
}

/* --- the stored state of its run --- */

enum worker {
    STATE_REASON,
    STEP,
    AUTHORISED_STEPS,
    LEDGER_SEQ,
    EPSILON_PLANNED,
    EPSILON_SPENT,
    MEASUREMENT_NOISE,
    MEASUREMENT_SEQ,
    QUALITY,
    POINTS,
    RELEASED,
    MODEL,
    MODEL_IS_GONE,
    MODEL_DRAWN,
    SWEEP,
    START_MS,
    CANCEL_MS,
    END_MS,
    MEMBERS
};

/* in the order in which job_detail_render writes them */
static const char *const members[MEMBERS] = {"state_reason",
                                             "step",
                                             "authorised_steps",
                                             "ledger_seq",
                                             "epsilon_planned",
                                             "epsilon_spent",
                                             "measurement_noise",
                                             "measurement_seq",
                                             "quality",
                                             "points",
                                             "released",
                                             "model",
                                             "model_is_gone",
                                             "model_drawn",
                                             "sweep",
                                             "start_ms",
                                             "cancel_ms",
                                             "end_ms"};

static bool is_none(struct json_span span)
{
    return span.at == NULL || json_span_is(span, "null");
}

/* Reads a figure. null means that it was not finite. */
static bool read_figure(double *figure, struct json_span span)
{
    *figure = INFINITY;
    return json_span_is(span, "null") || json_span_real(figure, span);
}

static bool read_time(int64_t *ms, struct json_span span)
{
    uint64_t count;
    bool good = json_span_count(&count, span);
    if (good)
        *ms = (int64_t)count;
    return good;
}

static bool read_points(struct job_outline *outline, struct json_span points)
{
    struct json_span last, figures[3];
    if (!json_scan_array(&outline->point_count, &last, points))
        return false;
    if (outline->point_count == 0)
        return true;
    return outline->point_count <= LIMIT_HISTORY &&
           json_scan_elements(figures, COUNT(figures), last) &&
           json_span_count(&outline->last.step, figures[0]) &&
           read_figure(&outline->last.loss, figures[1]) &&
           read_figure(&outline->last.quality, figures[2]);
}

static bool read_released(struct job_outline *outline, struct json_span released)
{
    static const char *const names[] = {"points"};
    struct json_span points, last;
    return is_none(released) ||
           (json_scan(&points, names, 1, released) &&
            json_scan_array(&outline->released_count, &last, points));
}

static bool read_model_id(bool *has_one, struct model_id *id, struct json_span span)
{
    char text[sizeof id->text];
    *has_one = !is_none(span);
    return !*has_one ||
           (json_span_text(text, sizeof text, span) && model_id_parse(id, text));
}

static bool read_models(struct job_outline *outline, const struct json_span *found)
{
    struct json_span gone = found[MODEL_IS_GONE];
    outline->model_is_gone = json_span_is(gone, "true");
    return (gone.at == NULL || outline->model_is_gone || json_span_is(gone, "false")) &&
           read_model_id(&outline->has_model, &outline->model, found[MODEL]) &&
           read_model_id(&outline->has_drawn, &outline->drawn, found[MODEL_DRAWN]);
}

static bool read_sweep(struct job_outline *outline, struct json_span sweep)
{
    static const char *const names[] = {"id"};
    char text[sizeof outline->sweep.text];
    struct json_span id;
    outline->is_run = sweep.at != NULL;
    return !outline->is_run ||
           (json_scan(&id, names, 1, sweep) && json_span_text(text, sizeof text, id) &&
            sweep_id_parse(&outline->sweep, text));
}

/* Reads the measurement, which is present if, and only if, the request asks for one. */
static bool read_measurement(struct job_outline *outline, const struct json_span *found)
{
    if (outline->is_measured != (found[MEASUREMENT_NOISE].at != NULL))
        return false;
    return !outline->is_measured ||
           json_span_count(&outline->measurement_seq, found[MEASUREMENT_SEQ]);
}

/* Reads the score from the text of what was measured, if anything was. */
static bool read_score(struct job_outline *outline, struct json_span quality)
{
    if (quality.at == NULL)
        return true;
    char *text = json_span_copy(quality);
    if (text != NULL)
        outline->score = quality_score_read(text);
    free(text);
    return text != NULL;
}

static bool read_reason(struct job_outline *outline, struct json_span reason)
{
    return is_none(reason) ||
           json_span_text(outline->state_reason, sizeof outline->state_reason, reason);
}

bool job_outline_read(struct job_outline *outline, const char *spec, const char *detail)
{
    struct json_span found[MEMBERS];
    *outline = (struct job_outline){0};
    return read_spec(outline, spec) &&
           json_scan(found, members, MEMBERS, json_span_of(detail)) &&
           read_reason(outline, found[STATE_REASON]) &&
           json_span_count(&outline->step, found[STEP]) &&
           json_span_count(&outline->authorised_steps, found[AUTHORISED_STEPS]) &&
           json_span_count(&outline->ledger_seq, found[LEDGER_SEQ]) &&
           read_figure(&outline->epsilon_planned, found[EPSILON_PLANNED]) &&
           read_figure(&outline->epsilon_spent, found[EPSILON_SPENT]) &&
           read_measurement(outline, found) && read_score(outline, found[QUALITY]) &&
           read_points(outline, found[POINTS]) &&
           read_released(outline, found[RELEASED]) && read_models(outline, found) &&
           read_sweep(outline, found[SWEEP]) &&
           read_time(&outline->start_ms, found[START_MS]) &&
           (found[CANCEL_MS].at == NULL ||
            read_time(&outline->cancel_ms, found[CANCEL_MS])) &&
           read_time(&outline->end_ms, found[END_MS]);
}
