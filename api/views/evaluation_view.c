#include "api/views/evaluation_view.h"

#include <stdlib.h>

#include "api/json/json_writer.h"
#include "api/requests/evaluation_request.h"
#include "api/views/budget_view.h"
#include "base/check.h"
#include "base/part.h"

char *evaluation_guarantee_render(const struct evaluation_guarantee *guarantee)
{
    struct json_writer writer;
    const struct mechanism *m = guarantee->mechanism;
    char *text = mechanism_render(m);
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "part", part_name(PART_HOLDOUT));
    json_write_count(&writer, "records", guarantee->quality->records);
    json_write_text(&writer, "relation", relation_name(m->relation));
    json_write_text(&writer, "unit", privacy_unit_name(m->unit));
    json_write_real(&writer, "epsilon", guarantee->epsilon);
    json_write_real(&writer, "delta", guarantee->delta);
    json_write_raw(&writer, "mechanism", text);
    json_write_real(&writer, "noise_multiplier", guarantee->quality->noise_multiplier);
    json_write_real(&writer, "deviation", quality_deviation(guarantee->quality));
    json_write_object(&writer, "reserve");
    json_write_count(&writer, "seq", guarantee->reserve->seq);
    json_write_digest(&writer, "hash", guarantee->reserve->hash);
    json_write_object_end(&writer);
    json_write_text(&writer, "version", EPSILOND_VERSION);
    json_write_object_end(&writer);
    free(text);
    return json_writer_close(&writer);
}

char *evaluation_estimate_render(const struct evaluation_estimate *estimate)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", estimate->dataset->text);
    if (estimate->outlook != NULL)
        measurement_estimate_write(&writer, estimate->quality, estimate->epsilon,
                                   estimate->outlook);
    else
        json_write_null(&writer, "measurement");
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *evaluation_scores_render(const struct evaluation *evaluation, double half_range)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_real(&writer, "loss", evaluation->loss);
    if (half_range > 0)
        json_write_real(&writer, "rmse", evaluation->rmse * half_range);
    else
        json_write_real(&writer, "accuracy", evaluation->accuracy);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *evaluation_render(const struct statistics_row *row, const char *project)
{
    struct json_writer writer;
    struct model_evaluation_kept kept = {0};
    bool is_free = row->guarantee[0] == '\0';
    const char *result = row->answers[0] != '\0' ? row->answers : "null";
    CHECK(model_evaluation_kept_parse(&kept, row->spec, NULL) == ST_OK);
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", row->id.text);
    json_write_text(&writer, "state", row->state);
    json_write_text(&writer, "state_reason",
                    row->reason[0] != '\0' ? row->reason : NULL);
    json_write_text(&writer, "model", kept.model.text);
    json_write_text(&writer, "dataset", row->dataset);
    evaluation_request_write(&writer, &kept.evaluation);
    json_write_raw(&writer, "guarantee", is_free ? "null" : row->guarantee);
    json_write_raw(&writer, "scores", is_free ? result : "null");
    json_write_raw(&writer, "quality", is_free ? "null" : result);
    json_write_text(&writer, "project", project);
    json_write_text(&writer, "created_by", row->created_by);
    json_write_time(&writer, "create_time", row->create_ms);
    json_write_time(&writer, "end_time", row->end_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
