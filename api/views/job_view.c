#include "api/views/job_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/views/job_warnings.h"
#include "base/check.h"

static void write_progress(struct json_writer *writer, const struct job_view *view)
{
    json_write_object(writer, "progress");
    json_write_count(writer, "step", view->step);
    json_write_count(writer, "steps", view->steps);
    json_write_count_if(writer, view->queue_position > 0, "queue_position",
                        view->queue_position);
    json_write_count_if(writer, view->seconds_left > 0, "seconds_left",
                        view->seconds_left);
    json_write_object_end(writer);
}

static void write_privacy(struct json_writer *writer, const struct job_view *view)
{
    const struct job_request *request = view->request;
    if (!view->is_private) {
        json_write_null(writer, "privacy");
        return;
    }
    json_write_object(writer, "privacy");
    json_write_text(writer, "relation", relation_name(request->train.relation));
    json_write_text(writer, "unit", privacy_unit_name(request->train.unit));
    writer->digits = JSON_EXACT;
    json_write_real_if(writer, request->target == TARGET_EPSILON, "epsilon",
                       request->target_value);
    if (request->target == TARGET_BUDGET_FRACTION)
        json_write_real(writer, "budget_fraction", request->target_value);
    json_write_real(writer, "delta", request->delta);
    writer->digits = JSON_SHOWN;
    json_write_text(writer, "accountant", job_accountant_names[request->accountant]);
    json_write_real(writer, "noise_multiplier", view->noise_multiplier);
    json_write_real(writer, "sampling_rate", view->sampling_rate);
    json_write_count(writer, "authorised_steps", view->authorised_steps);
    json_write_real(writer, "epsilon_planned", view->epsilon_planned);
    json_write_real(writer, "epsilon_spent", view->epsilon_spent);
    json_write_count_if(writer, view->ledger_seq > 0, "ledger_seq", view->ledger_seq);
    json_write_object_end(writer);
}

void evaluation_point_write(struct json_writer *writer, const char *name,
                            bool regression, const struct evaluation_point *point)
{
    json_write_object(writer, name);
    json_write_count(writer, "step", point->step);
    json_write_real(writer, regression ? "rmse" : "accuracy", point->quality);
    json_write_real(writer, "loss", point->loss);
    json_write_object_end(writer);
}

static void write_course(struct json_writer *writer, const struct job_view *view)
{
    json_write_array(writer, "history");
    for (size_t i = 0; i < view->point_count; i++)
        evaluation_point_write(writer, NULL, view->regression, &view->points[i]);
    json_write_array_end(writer);
    released_write(writer, "released", view->released, view->released_count);
}

static void write_metrics(struct json_writer *writer, const struct job_view *view,
                          bool whole)
{
    json_write_object(writer, "metrics");
    if (view->point_count > 0)
        evaluation_point_write(writer, "evaluation", view->regression,
                               &view->points[view->point_count - 1]);
    else
        json_write_null(writer, "evaluation");
    holdout_score_write(writer, "holdout", view->regression, view->holdout);
    if (whole)
        write_course(writer, view);
    json_write_object_end(writer);
}

static void write_trace(struct json_writer *writer, const struct job_view *view)
{
    bool traced = view->traceparent != NULL && view->traceparent[0] != '\0';
    json_write_text(writer, "traceparent", traced ? view->traceparent : NULL);
}

/* Writes the cost of a job's measurement on a holdout and, once the job has succeeded,
 * its result. */
static void write_quality(struct json_writer *writer, const struct job_view *view,
                          bool whole)
{
    if (!view->request->measurement.is_asked)
        return;
    json_write_object(writer, "measurement");
    json_write_real(writer, "noise_multiplier", view->measurement_noise);
    json_write_count(writer, "ledger_seq", view->measurement_seq);
    json_write_object_end(writer);
    if (whole)
        json_write_raw(writer, "quality",
                       view->quality != NULL ? view->quality : "null");
}

static char *render(const struct job_view *view, bool whole)
{
    const struct job_request *request = view->request;
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", view->id->text);
    caption_write(&writer, view->caption);
    json_write_text(&writer, "state", view->state);
    json_write_text(&writer, "state_reason", view->state_reason);
    json_write_count(&writer, "attempt", view->attempt);
    json_write_text(&writer, "dataset", request->dataset.text);
    writer.digits = JSON_EXACT;
    if (request->has_evaluation || request->measurement.is_asked)
        job_evaluation_write(&writer, request);
    else
        json_write_null(&writer, "evaluation");
    model_request_write(&writer, "model_spec", &request->train.model);
    job_request_write_run(&writer, request);
    writer.digits = JSON_SHOWN;
    write_progress(&writer, view);
    write_privacy(&writer, view);
    write_metrics(&writer, view, whole);
    write_quality(&writer, view, whole);
    job_warnings_write(&writer, request, view->is_private);
    bool has_model = view->model != NULL && !view->model_is_gone;
    json_write_text(&writer, "model", has_model ? view->model->text : NULL);
    write_trace(&writer, view);
    bool of_sweep = view->sweep != NULL && view->sweep->runs > 0;
    json_write_text(&writer, "sweep", of_sweep ? view->sweep->id.text : NULL);
    json_write_text(&writer, "project", view->project);
    json_write_text(&writer, "created_by", view->created_by);
    json_write_time(&writer, "create_time", view->create_ms);
    json_write_time(&writer, "start_time", view->start_ms);
    json_write_time(&writer, "end_time", view->end_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *job_render(const struct job_view *view)
{
    return render(view, true);
}

char *job_summary_render(const struct job_view *view)
{
    return render(view, false);
}

char *job_detail_render(const struct job_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "state_reason", view->state_reason);
    json_write_count(&writer, "step", view->step);
    json_write_count(&writer, "authorised_steps", view->authorised_steps);
    json_write_count(&writer, "ledger_seq", view->ledger_seq);
    json_write_real(&writer, "noise_multiplier", view->noise_multiplier);
    json_write_real(&writer, "sampling_rate", view->sampling_rate);
    json_write_real(&writer, "epsilon_planned", view->epsilon_planned);
    json_write_real(&writer, "epsilon_spent", view->epsilon_spent);
    if (view->request->measurement.is_asked) {
        json_write_real(&writer, "measurement_noise", view->measurement_noise);
        json_write_count(&writer, "measurement_seq", view->measurement_seq);
    }
    if (view->quality != NULL)
        json_write_text(&writer, "quality", view->quality); /* already rendered */
    json_write_array(&writer, "points");
    for (size_t i = 0; i < view->point_count; i++) {
        json_write_array(&writer, NULL);
        json_write_count(&writer, NULL, view->points[i].step);
        json_write_real(&writer, NULL, view->points[i].loss);
        json_write_real(&writer, NULL, view->points[i].quality);
        json_write_array_end(&writer);
    }
    json_write_array_end(&writer);
    released_write_detail(&writer, "released", view->released, view->released_count);
    json_write_text(&writer, "model", view->model != NULL ? view->model->text : NULL);
    if (view->model_is_gone)
        json_write_flag(&writer, "model_is_gone", true);
    json_write_text(&writer, "model_drawn",
                    view->drawn != NULL ? view->drawn->text : NULL);
    write_trace(&writer, view);
    if (view->sweep != NULL && view->sweep->runs > 0)
        sweep_run_write(&writer, "sweep", view->sweep);
    if (view->log != NULL)
        job_log_write(&writer, "log", view->log);
    json_write_count(&writer, "start_ms", (uint64_t)view->start_ms);
    json_write_count(&writer, "cancel_ms", (uint64_t)view->cancel_ms);
    json_write_count(&writer, "end_ms", (uint64_t)view->end_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

/* Reads a figure. null means that it was not finite, as json_write_real writes it. */
static double read_figure(struct json_node node)
{
    if (json_present(node) && json_is_null(node.value))
        return INFINITY;
    return json_read_real(node, (struct json_range){-INFINITY, INFINITY, 0, 0});
}

static void read_points(struct job_detail *detail, struct json_node points)
{
    size_t count = json_read_array(points, 0, LIMIT_HISTORY);
    for (size_t i = 0; i < count; i++) {
        struct json_node point = json_element(&points, i);
        json_read_array(point, 3, 3);
        detail->points[i].step = json_read_count(json_element(&point, 0), 0, INT64_MAX);
        detail->points[i].loss = read_figure(json_element(&point, 1));
        detail->points[i].quality = read_figure(json_element(&point, 2));
    }
    detail->point_count = count;
}

/* Returns false, and leaves id untouched, if the member is null or absent. */
static bool read_model_id(struct model_id *id, struct json_node member)
{
    if (!json_present(member) || json_is_null(member.value))
        return false;
    if (!model_id_parse(id, json_read_text(member)))
        json_refuse(member, "must be the id of a model");
    return true;
}

static void read_trace(struct trace_context *trace, struct json_node member)
{
    if (json_present(member) && !json_is_null(member.value) &&
        !trace_context_parse(trace, json_read_text(member)))
        json_refuse(member, "must be a traceparent");
}

static void read_optional_texts(struct job_detail *detail, const struct json_node *root)
{
    struct json_node reason = json_member(root, "state_reason");
    if (json_present(reason) && !json_is_null(reason.value))
        snprintf(detail->state_reason, sizeof detail->state_reason, "%s",
                 json_read_text(reason));
    read_trace(&detail->trace, json_member(root, "traceparent"));
    detail->has_model = read_model_id(&detail->model, json_member(root, "model"));
    struct json_node gone = json_member(root, "model_is_gone");
    detail->model_is_gone = json_present(gone) && json_read_flag(gone);
    detail->has_drawn = read_model_id(&detail->drawn, json_member(root, "model_drawn"));
}

static void read_measurement(struct job_detail *detail, const struct json_node *root)
{
    struct json_node noise = json_member(root, "measurement_noise");
    struct json_node quality = json_member(root, "quality");
    if (json_present(noise)) {
        detail->measurement_noise = read_figure(noise);
        detail->measurement_seq =
            json_read_count(json_member(root, "measurement_seq"), 0, INT64_MAX);
    }
    if (!json_present(quality))
        return;
    if (!json_is_string(quality.value)) {
        json_refuse(quality, "must be a text");
        return;
    }
    detail->quality = strdup(json_string_value(quality.value));
    CHECK(detail->quality != NULL);
}

static void read_detail(struct job_detail *detail, const struct json_node *root)
{
    read_optional_texts(detail, root);
    detail->step = json_read_count(json_member(root, "step"), 0, INT64_MAX);
    detail->authorised_steps =
        json_read_count(json_member(root, "authorised_steps"), 0, INT64_MAX);
    detail->ledger_seq = json_read_count(json_member(root, "ledger_seq"), 0, INT64_MAX);
    detail->noise_multiplier = read_figure(json_member(root, "noise_multiplier"));
    detail->sampling_rate = read_figure(json_member(root, "sampling_rate"));
    detail->epsilon_planned = read_figure(json_member(root, "epsilon_planned"));
    detail->epsilon_spent = read_figure(json_member(root, "epsilon_spent"));
    read_measurement(detail, root);
    read_points(detail, json_member(root, "points"));
    detail->released = released_read(json_member(root, "released"));
    job_log_read(&detail->log, json_member(root, "log"));
    sweep_run_read(&detail->sweep, json_member(root, "sweep"));
    struct json_node cancel = json_member(root, "cancel_ms");
    if (json_present(cancel))
        detail->cancel_ms = (int64_t)json_read_count(cancel, 0, INT64_MAX);
    detail->start_ms =
        (int64_t)json_read_count(json_member(root, "start_ms"), 0, INT64_MAX);
    detail->end_ms =
        (int64_t)json_read_count(json_member(root, "end_ms"), 0, INT64_MAX);
}

enum status job_detail_parse(struct job_detail *detail, const char *text,
                             struct error *error)
{
    struct job_detail read = {0};
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, json_text_of(text), error) == ST_OK)
        read_detail(&read, &root);
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *detail = read;
    else {
        free(read.released);
        free(read.quality);
        job_log_fini(&read.log);
        sweep_run_fini(&read.sweep);
    }
    return status;
}
