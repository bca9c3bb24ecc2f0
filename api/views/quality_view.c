#include "api/views/quality_view.h"

#include "api/json/json_scan.h"
#include "api/json/json_writer.h"
#include "base/part.h"
#include "engine/quality/quality_figures.h"

/* Writes an interval in units of scale. */
static void write_interval(struct json_writer *writer, const char *name,
                           const struct quality_interval *interval, double scale)
{
    if (!interval->is_known) {
        json_write_null(writer, name);
        return;
    }
    json_write_object(writer, name);
    json_write_real(writer, "value", interval->value * scale);
    json_write_real(writer, "low", interval->low * scale);
    json_write_real(writer, "high", interval->high * scale);
    json_write_object_end(writer);
}

static void write_mechanism(struct json_writer *writer, const struct quality_view *view)
{
    json_write_text(writer, "part", part_name(PART_HOLDOUT));
    json_write_count(writer, "records", view->plan->records);
    json_write_real(writer, "epsilon", view->epsilon);
    json_write_real(writer, "delta", view->delta);
    json_write_text(writer, "relation", relation_name(view->plan->relation));
    json_write_text(writer, "unit", privacy_unit_name(view->unit));
    json_write_raw(writer, "mechanism", view->mechanism);
    json_write_object(writer, "reserve");
    json_write_count(writer, "seq", view->reserve.seq);
    json_write_digest(writer, "hash", view->reserve.hash);
    json_write_object_end(writer);
    json_write_real(writer, "deviation", quality_deviation(view->plan));
}

static void write_classes(struct json_writer *writer, const struct quality_view *view,
                          const struct quality_figures *figures)
{
    json_write_array(writer, "classes");
    for (size_t k = 0; k < view->plan->classes; k++) {
        json_write_object(writer, NULL);
        write_interval(writer, "precision", &figures->of_class[k].precision, 1);
        write_interval(writer, "recall", &figures->of_class[k].recall, 1);
        write_interval(writer, "f1", &figures->of_class[k].f1, 1);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

static void write_ends(struct json_writer *writer, size_t bin, double low, double high)
{
    json_write_real(writer, "from", low + (high - low) * (double)bin / QUALITY_BINS);
    json_write_real(writer, "to",
                    low + (high - low) * (double)(bin + 1) / QUALITY_BINS);
}

static void write_calibration(struct json_writer *writer,
                              const struct quality_view *view,
                              const struct quality_figures *figures)
{
    json_write_array(writer, "calibration");
    for (size_t b = 0; view->plan->classes > 0 && b < QUALITY_BINS; b++) {
        json_write_object(writer, NULL);
        write_ends(writer, b, 0, 1);
        json_write_real(writer, "count", figures->bins[b].count);
        write_interval(writer, "share", &figures->bins[b].share, 1);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

static void write_thresholds(struct json_writer *writer,
                             const struct quality_view *view,
                             const struct quality_figures *figures)
{
    json_write_array(writer, "thresholds");
    for (size_t b = 0; view->plan->classes > 0 && b < QUALITY_BINS; b++) {
        json_write_object(writer, NULL);
        json_write_real(writer, "threshold", (double)b / QUALITY_BINS);
        write_interval(writer, "precision", &figures->thresholds[b].precision, 1);
        write_interval(writer, "recall", &figures->thresholds[b].recall, 1);
        write_interval(writer, "selected", &figures->thresholds[b].selected, 1);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

static void write_confusion(struct json_writer *writer, const struct quality_view *view)
{
    size_t classes = view->plan->classes;
    json_write_array(writer, "confusion");
    for (size_t k = 0; k < classes; k++)
        json_write_reals(writer, NULL, view->released + k * classes, classes);
    json_write_array_end(writer);
}

static void write_residuals(struct json_writer *writer, const struct quality_view *view)
{
    double clip = view->plan->error_clip * view->half_range;
    json_write_real_if(writer, view->plan->classes == 0, "error_clip", clip);
    json_write_array(writer, "residuals");
    for (size_t b = 0; view->plan->classes == 0 && b < QUALITY_BINS; b++) {
        json_write_object(writer, NULL);
        write_ends(writer, b, -clip, clip);
        json_write_real(writer, "count", view->released[QUALITY_MOMENTS + b]);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

char *quality_render(const struct quality_view *view)
{
    struct quality_figures figures;
    struct json_writer writer;
    quality_figures_of(&figures, view->plan, view->released);
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    write_mechanism(&writer, view);
    write_interval(&writer, "accuracy", &figures.accuracy, 1);
    write_interval(&writer, "auc", &figures.auc, 1);
    write_interval(&writer, "rmse", &figures.rmse, view->half_range);
    write_interval(&writer, "r_squared", &figures.r_squared, 1);
    write_classes(&writer, view, &figures);
    write_calibration(&writer, view, &figures);
    write_thresholds(&writer, view, &figures);
    write_confusion(&writer, view);
    write_residuals(&writer, view);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

/* Reads "value", "low" and "high" of a figure. */
static bool read_interval(struct quality_score *score, struct json_span figure)
{
    static const char *const names[] = {"value", "low", "high"};
    struct json_span found[3];
    return figure.at != NULL && json_scan(found, names, 3, figure) &&
           json_span_real(&score->value, found[0]) &&
           json_span_real(&score->low, found[1]) &&
           json_span_real(&score->high, found[2]);
}

struct quality_score quality_score_read(const char *text)
{
    static const char *const names[] = {"accuracy", "rmse"};
    struct json_span found[2];
    struct quality_score score = {.is_known = true};
    if (json_scan(found, names, 2, json_span_of(text)) &&
        (read_interval(&score, found[0]) || read_interval(&score, found[1])))
        return score;
    return (struct quality_score){.is_known = false};
}

void holdout_score_write(struct json_writer *writer, const char *name, bool regression,
                         const struct holdout_score *score)
{
    if (score == NULL || !score->score.is_known) {
        json_write_null(writer, name);
        return;
    }
    json_write_object(writer, name);
    json_write_text(writer, "metric", regression ? "rmse" : "accuracy");
    json_write_real(writer, "value", score->score.value);
    json_write_real(writer, "low", score->score.low);
    json_write_real(writer, "high", score->score.high);
    bool is_later = score->evaluation.text[0] != '\0';
    json_write_text(writer, "evaluation", is_later ? score->evaluation.text : NULL);
    json_write_object_end(writer);
}
