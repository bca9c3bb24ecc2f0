#include "api/requests/evaluation_request.h"

#include <math.h>
#include <string.h>

#include "api/json/json_writer.h"
#include "api/limits.h"
#include "api/requests/dataset_request.h"
#include "engine/quality/quality_plan.h"

static void read_measurement(struct job_measurement *measurement, struct json_node node,
                             double epsilon_max)
{
    struct json_node holdout = json_member(&node, "holdout");
    struct json_node clip = json_member(&node, "error_clip");
    json_read_object(node,
                     (const char *const[]){"holdout", "epsilon", "error_clip", NULL});
    measurement->is_asked = json_read_flag(holdout);
    if (json_present(holdout) && !measurement->is_asked)
        json_refuse(holdout, "must be true, or leave the evaluation out");
    measurement->epsilon =
        json_read_real(json_member(&node, "epsilon"),
                       (struct json_range){0, epsilon_max, true, false});
    if (json_present(clip))
        measurement->error_clip =
            json_read_real(clip, (struct json_range){0, INFINITY, true, true});
}

void evaluation_request_read(struct evaluation_request *request, struct json_node node,
                             double epsilon_max)
{
    if (json_present(node) && json_is_object(node.value)) {
        read_measurement(&request->measurement, node, epsilon_max);
        return;
    }
    request->on_public = true;
    dataset_request_read_id(&request->public, node);
}

static void write_measurement(struct json_writer *writer,
                              const struct job_measurement *measurement)
{
    json_write_object(writer, "evaluation");
    json_write_flag(writer, "holdout", true);
    json_write_real(writer, "epsilon", measurement->epsilon);
    if (measurement->error_clip > 0)
        json_write_real(writer, "error_clip", measurement->error_clip);
    json_write_object_end(writer);
}

void evaluation_request_write(struct json_writer *writer,
                              const struct evaluation_request *request)
{
    if (request->measurement.is_asked)
        write_measurement(writer, &request->measurement);
    else if (request->on_public)
        json_write_text(writer, "evaluation", request->public.text);
}

/* A quarter of the target's range: most errors are smaller, and a smaller clip needs
 * less noise. */
static const double clip_share = 0.25;

_Static_assert((int)LIMIT_QUALITY_CLASSES == (int)QUALITY_CLASSES_MAX, "one limit");

enum status job_measurement_resolve(struct job_measurement *measurement,
                                    const struct schema *schema,
                                    const struct division *division,
                                    struct error *error)
{
    if (!measurement->is_asked)
        return ST_OK;
    if (division_parts(division) == 1)
        return error_set_at(error, ST_INVALID, "/evaluation/holdout",
                            "the dataset was registered without a holdout");
    if (schema->task != TASK_REGRESSION && measurement->error_clip > 0)
        return error_set_at(error, ST_INVALID, "/evaluation/error_clip",
                            "only the evaluation of a regression has one");
    if (schema->classes > LIMIT_QUALITY_CLASSES)
        return error_set_at(error, ST_INVALID, "/evaluation/holdout",
                            "at most %d classes can be measured",
                            LIMIT_QUALITY_CLASSES);
    if (schema->task != TASK_REGRESSION)
        return ST_OK;
    double range = 2 * schema_half_range(schema);
    if (measurement->error_clip == 0)
        measurement->error_clip = clip_share * range;
    if (measurement->error_clip > range)
        return error_set_at(error, ST_INVALID, "/evaluation/error_clip",
                            "must be at most the target's range, %.10g", range);
    return ST_OK;
}

/* --- the evaluation of a model --- */

static void read_body(struct model_evaluation_request *request,
                      const struct json_node *root)
{
    struct json_node dataset = json_member(root, "dataset");
    json_read_object(*root, (const char *const[]){"evaluation", "dataset", NULL});
    evaluation_request_read(&request->evaluation, json_member(root, "evaluation"),
                            LIMIT_EPSILON);
    request->has_dataset = json_present(dataset);
    if (request->has_dataset)
        dataset_request_read_id(&request->dataset, dataset);
    if (request->has_dataset && request->evaluation.on_public)
        json_refuse(dataset, "names whose holdout is measured: leave it out for an "
                             "evaluation on a public dataset");
}

enum status model_evaluation_request_parse(struct model_evaluation_request *request,
                                           struct json_text body, struct error *error)
{
    struct model_evaluation_request read = {0};
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, body, error) == ST_OK)
        read_body(&read, &root);
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *request = read;
    return status;
}

char *model_evaluation_kept_render(const struct model_evaluation_kept *kept)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "model", kept->model.text);
    evaluation_request_write(&writer, &kept->evaluation);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

enum status model_evaluation_kept_parse(struct model_evaluation_kept *kept,
                                        const char *text, struct error *error)
{
    struct model_evaluation_kept read = {0};
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, json_text_of(text), error) == ST_OK) {
        struct json_node model = json_member(&root, "model");
        if (!model_id_parse(&read.model, json_read_text(model)))
            json_refuse(model, "must be the id of a model");
        evaluation_request_read(&read.evaluation, json_member(&root, "evaluation"),
                                (double)INFINITY);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *kept = read;
    return status;
}
