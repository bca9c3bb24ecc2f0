#include "api/views/statistics_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/pricing/cost.h"
#include "api/json/json_writer.h"
#include "api/views/budget_view.h"
#include "base/check.h"

/* --- costs --- */

/* Writes the cost of a survey, in the same form before and after it is reserved. */
static void write_cost(struct json_writer *writer, const struct mechanism *m,
                       const struct figure *figure, double delta)
{
    char *text = mechanism_render(m);
    json_write_text(writer, "relation", relation_name(m->relation));
    json_write_text(writer, "unit", privacy_unit_name(m->unit));
    json_write_real(writer, "epsilon", figure->epsilon);
    json_write_real(writer, "delta", delta);
    json_write_text(writer, "accountant", figure->order > 0 ? "rdp" : "gaussian");
    json_write_real_if(writer, figure->order > 0, "order", figure->order);
    json_write_raw(writer, "mechanism", text);
    json_write_real(writer, "noise_multiplier", m->runs[0].noise_multiplier);
    if (cost_delta(m) > 0) {
        json_write_real(writer, "discovery_delta", cost_delta(m));
        json_write_real(writer, "threshold", m->discovery.threshold);
    }
    free(text);
}

static void write_noise(struct json_writer *writer,
                        const struct measurement *measurement)
{
    json_write_real(writer, "distance", measurement->distance);
    json_write_real(writer, "deviation", measurement->deviation);
}

char *survey_guarantee_render(const struct survey_guarantee *guarantee)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    write_cost(&writer, guarantee->mechanism, &guarantee->figure, guarantee->delta);
    write_noise(&writer, guarantee->measurement);
    json_write_object(&writer, "reserve");
    json_write_count(&writer, "seq", guarantee->reserve->seq);
    json_write_digest(&writer, "hash", guarantee->reserve->hash);
    json_write_object_end(&writer);
    json_write_text(&writer, "version", EPSILOND_VERSION);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

/* --- answers --- */

struct answering { /* one statistic that is written into an array */
    struct json_writer *writer;
    const struct measurement *measurement;
    const struct statistic *statistic;
    const struct schema *schema;
    const double *released; /* its slots */
};

static void write_interval(struct json_writer *writer, const struct interval *interval)
{
    json_write_real(writer, "value", interval->value);
    json_write_reals(writer, "interval", (double[]){interval->low, interval->high}, 2);
}

/* Writes the members that identify a bin, into an object that is open. */
static void write_bin(const struct answering *answering, const struct axis *axis,
                      size_t bin)
{
    enum { NAME_SIZE = 4104 }; /* a declared value of LIMIT_TEXT bytes, and more */
    char name[NAME_SIZE];
    const struct column *column = NULL;
    if (axis->cuts != NULL) {
        json_write_real(answering->writer, "from", axis->edges[bin]);
        json_write_real(answering->writer, "to", axis->edges[bin + 1]);
        return;
    }
    for (size_t i = 0; i < answering->schema->column_count && column == NULL; i++)
        if (strcmp(answering->schema->columns[i].name, axis->column) == 0)
            column = &answering->schema->columns[i];
    if (column == NULL) /* the label of a format without columns */
        schema_class_name(answering->schema, (uint32_t)bin, name, sizeof name);
    else
        schema_word_name(column, (uint32_t)bin, name, sizeof name);
    json_write_text(answering->writer, "value", name);
}

static void write_histogram(const struct answering *answering)
{
    struct json_writer *writer = answering->writer;
    const struct axis *axis = &answering->statistic->axes[0];
    json_write_text(writer, "column", axis->column);
    json_write_real(writer, "margin", interval_margin(answering->measurement));
    json_write_array(writer, "bins");
    for (size_t j = 0; j < axis->bins; j++) {
        struct interval count =
            interval_of_count(answering->measurement, answering->released[j]);
        json_write_object(writer, NULL);
        write_bin(answering, axis, j);
        json_write_real(writer, "count", count.value);
        json_write_reals(writer, "interval", (double[]){count.low, count.high}, 2);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

static void write_axes(const struct answering *answering)
{
    struct json_writer *writer = answering->writer;
    json_write_array(writer, "columns");
    for (size_t k = 0; k < answering->statistic->axis_count; k++) {
        const struct axis *axis = &answering->statistic->axes[k];
        json_write_object(writer, NULL);
        json_write_text(writer, "column", axis->column);
        json_write_array(writer, "bins");
        for (size_t j = 0; j < axis->bins; j++) {
            json_write_object(writer, NULL);
            write_bin(answering, axis, j);
            json_write_object_end(writer);
        }
        json_write_array_end(writer);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

static void write_table(const struct answering *answering)
{
    struct json_writer *writer = answering->writer;
    const struct axis *axes = answering->statistic->axes;
    write_axes(answering);
    json_write_real(writer, "margin", interval_margin(answering->measurement));
    json_write_array(writer, "counts");
    for (size_t j = 0; j < axes[0].bins; j++)
        json_write_reals(writer, NULL, answering->released + j * axes[1].bins,
                         axes[1].bins);
    json_write_array_end(writer);
}

static void write_range(struct json_writer *writer, const struct axis *axis)
{
    json_write_text(writer, "column", axis->column);
    json_write_reals(writer, "range",
                     (double[]){axis->edges[0], axis->edges[axis->bins]}, 2);
}

static void write_number(const struct answering *answering)
{
    struct interval interval = interval_of_number(
        answering->measurement, answering->statistic, answering->released);
    write_range(answering->writer, &answering->statistic->axes[0]);
    write_interval(answering->writer, &interval);
}

static void write_quantiles(const struct answering *answering)
{
    struct json_writer *writer = answering->writer;
    const struct statistic *statistic = answering->statistic;
    struct interval *intervals =
        calloc(statistic->probability_count, sizeof *intervals);
    CHECK(intervals != NULL); /* LIMIT_PROBABILITIES bounds its size */
    interval_of_quantiles(answering->measurement, statistic, answering->released,
                          intervals);
    write_range(writer, &statistic->axes[0]);
    json_write_count(writer, "bins", statistic->axes[0].bins);
    json_write_array(writer, "quantiles");
    for (size_t i = 0; i < statistic->probability_count; i++) {
        json_write_object(writer, NULL);
        json_write_real(writer, "probability", statistic->probabilities[i]);
        write_interval(writer, &intervals[i]);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
    free(intervals);
}

static void write_moments(const struct answering *answering)
{
    struct json_writer *writer = answering->writer;
    const struct measurement *measurement = answering->measurement;
    const struct moments *moments = &answering->statistic->moments;
    json_write_real(writer, "clip_norm", moments->clip_norm);
    json_write_array(writer, "features");
    for (size_t j = 0; j < moments->count; j++) {
        const char *column = moments->features[j].column;
        const struct moment moment =
            moments_value(moments, j, answering->released, (double)measurement->units,
                          measurement->deviation);
        json_write_object(writer, NULL);
        if (column != NULL)
            json_write_text(writer, "column", column);
        json_write_real(writer, "mean", moment.mean);
        json_write_reals(
            writer, "interval",
            (double[]){moment.mean - moment.margin, moment.mean + moment.margin}, 2);
        json_write_real(writer, "deviation", moment.deviation);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

static void write_answer(const struct answering *answering)
{
    enum statistic_kind kind = answering->statistic->kind;
    json_write_object(answering->writer, NULL);
    json_write_text(answering->writer, "kind", statistic_kind_name(kind));
    switch (kind) {
    case STATISTIC_HISTOGRAM: write_histogram(answering); break;
    case STATISTIC_TABLE: write_table(answering); break;
    case STATISTIC_SUM:
    case STATISTIC_MEAN:
    case STATISTIC_VARIANCE: write_number(answering); break;
    case STATISTIC_QUANTILES: write_quantiles(answering); break;
    case STATISTIC_MOMENTS: write_moments(answering); break;
    case STATISTIC_WORDS: break; /* statistics_words_render */
    }
    json_write_object_end(answering->writer);
}

char *statistics_answers_render(const struct measurement *measurement,
                                const struct statistics *statistics,
                                const struct schema *schema, const double *released)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_array(&writer, NULL);
    for (size_t i = 0; i < statistics->count; i++) {
        const struct statistic *statistic = &statistics->items[i];
        write_answer(
            &(struct answering){&writer, measurement, statistic, schema, released});
        released += statistic_slots(statistic);
    }
    json_write_array_end(&writer);
    return json_writer_finish(&writer);
}

char *statistics_words_render(const struct statistic *statistic,
                              const struct mechanism *mechanism,
                              const struct word_counts *words)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_array(&writer, NULL);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "kind", statistic_kind_name(statistic->kind));
    json_write_text(&writer, "column", statistic->axes[0].column);
    json_write_real(&writer, "threshold", mechanism->discovery.threshold);
    json_write_array(&writer, "words");
    for (size_t i = 0; i < words->count; i++) {
        json_write_object(&writer, NULL);
        json_write_text(&writer, "word", words->items[i].text);
        json_write_real(&writer, "count", words->items[i].count);
        json_write_object_end(&writer);
    }
    json_write_array_end(&writer);
    json_write_object_end(&writer);
    json_write_array_end(&writer);
    return json_writer_finish(&writer);
}

/* --- a survey --- */

char *survey_render(const struct statistics_row *row, const char *project)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", row->id.text);
    json_write_text(&writer, "state", row->state);
    json_write_text(&writer, "state_reason",
                    row->reason[0] != '\0' ? row->reason : NULL);
    json_write_text(&writer, "dataset", row->dataset);
    json_write_raw(&writer, "statistics", row->spec);
    json_write_raw(&writer, "guarantee", row->guarantee);
    json_write_raw(&writer, "answers", row->answers[0] != '\0' ? row->answers : "null");
    json_write_text(&writer, "project", project);
    json_write_text(&writer, "created_by", row->created_by);
    json_write_time(&writer, "create_time", row->create_ms);
    json_write_time(&writer, "end_time", row->end_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

/* --- an estimate --- */

/* Returns half the width of the confidence interval of a statistic's answers, for a
 * count, a sum or a mean. For a variance and for quantiles it depends on the answer,
 * and for moments on the feature: it is null. */
static double margin_of(const struct survey_estimate *estimate,
                        const struct statistic *statistic)
{
    static const double nothing = 0;
    const struct measurement *measurement = estimate->measurement;
    switch (statistic->kind) {
    case STATISTIC_HISTOGRAM:
    case STATISTIC_TABLE: return interval_margin(measurement);
    case STATISTIC_SUM:
    case STATISTIC_MEAN: {
        struct interval interval = interval_of_number(measurement, statistic, &nothing);
        return interval.high - interval.value;
    }
    case STATISTIC_VARIANCE:
    case STATISTIC_QUANTILES:
    case STATISTIC_WORDS:
    case STATISTIC_MOMENTS: break;
    }
    return NAN;
}

static void write_margins(struct json_writer *writer,
                          const struct survey_estimate *estimate)
{
    json_write_array(writer, "statistics");
    for (size_t i = 0; i < estimate->statistics->count; i++) {
        const struct statistic *statistic = &estimate->statistics->items[i];
        double margin = margin_of(estimate, statistic);
        json_write_object(writer, NULL);
        json_write_text(writer, "kind", statistic_kind_name(statistic->kind));
        json_write_count(writer, "slots", statistic_slots(statistic));
        json_write_real_if(writer, !isnan(margin), "margin", margin);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

char *survey_estimate_render(const struct survey_estimate *estimate)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "fits", ledger_fits_name(estimate->fits));
    write_cost(&writer, estimate->mechanism, &estimate->figure, estimate->delta);
    write_noise(&writer, estimate->measurement);
    write_margins(&writer, estimate);
    json_write_real(&writer, "epsilon_after", estimate->outlook->epsilon_after);
    json_write_count(&writer, "surveys_like_this", estimate->outlook->times);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
