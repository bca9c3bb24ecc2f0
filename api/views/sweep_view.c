#include "api/views/sweep_view.h"

#include "api/json/json_writer.h"

const char *sweep_state_name(bool ended)
{
    return ended ? "ENDED" : "ACTIVE";
}

/* Writes how good the run's model is: on public data, and on the holdout. */
static void write_scores(struct json_writer *writer, const struct sweep_line *line,
                         bool regression)
{
    if (line->evaluated)
        evaluation_point_write(writer, "evaluation", regression, &line->evaluation);
    else
        json_write_null(writer, "evaluation");
    holdout_score_write(writer, "holdout", regression, &line->holdout);
}

static void write_line(struct json_writer *writer, const struct sweep_line *line,
                       bool is_private, bool regression)
{
    bool is_job = line->job != NULL;
    json_write_object(writer, NULL);
    json_write_count(writer, "run", line->run->run);
    json_write_raw(writer, "settings", line->run->settings);
    if (is_job) {
        json_write_text(writer, "job", line->job->text);
        json_write_text(writer, "state", line->state);
        json_write_count(writer, "step", line->step);
    }
    json_write_count(writer, "steps", line->steps);
    json_write_real_if(writer, is_private, "epsilon_planned", line->epsilon_planned);
    json_write_real_if(writer, is_private, "noise_multiplier", line->noise_multiplier);
    if (is_job) {
        json_write_real_if(writer, is_private, "epsilon_spent", line->epsilon_spent);
        write_scores(writer, line, regression);
        json_write_real_if(writer, line->holdout.score.is_known, "measured",
                           line->holdout.score.value);
        json_write_text(writer, "model", line->has_model ? line->model.text : NULL);
    }
    json_write_object_end(writer);
}

static void write_states(struct json_writer *writer, const struct sweep_view *view)
{
    json_write_object(writer, "states");
    for (size_t i = 0; i < view->state_count; i++)
        json_write_count(writer, view->state_names[i], view->by_state[i]);
    json_write_object_end(writer);
}

char *sweep_render(const struct sweep_view *view, enum sweep_extent extent)
{
    bool whole = extent == SWEEP_WHOLE;
    const struct sweep_line *winner = view->winner;
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", view->id->text);
    json_write_text(&writer, "dataset", view->dataset);
    json_write_text(&writer, "evaluation", view->evaluation);
    json_write_text(&writer, "state", sweep_state_name(view->ended));
    write_states(&writer, view);
    json_write_real_if(&writer, view->is_private, "epsilon", view->epsilon);
    if (whole) {
        json_write_real(&writer, "epsilon_spent", view->epsilon_spent);
        json_write_real(&writer, "delta", view->delta);
    }
    json_write_text(&writer, "metric", view->regression ? "rmse" : "accuracy");
    json_write_text(&writer, "winner", winner != NULL ? winner->job->text : NULL);
    json_write_text(&writer, "winner_model",
                    winner != NULL ? winner->model.text : NULL);
    if (winner != NULL) {
        json_write_object(&writer, "winner_metrics");
        write_scores(&writer, winner, view->regression);
        json_write_object_end(&writer);
    } else {
        json_write_null(&writer, "winner_metrics");
    }
    json_write_count(&writer, "run_count", view->runs);
    if (whole) {
        json_write_array(&writer, "runs");
        for (size_t i = 0; i < view->line_count; i++)
            write_line(&writer, &view->lines[i], view->is_private, view->regression);
        json_write_array_end(&writer);
    }
    json_write_text(&writer, "project", view->project);
    json_write_text(&writer, "created_by", view->created_by);
    json_write_time(&writer, "create_time", view->create_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *sweep_estimate_render(const struct sweep_estimate *estimate)
{
    struct json_writer writer;
    bool is_private = estimate->is_private;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "fits", estimate->fits);
    json_write_real_if(&writer, is_private, "epsilon", estimate->epsilon);
    json_write_real_if(&writer, is_private, "epsilon_after", estimate->epsilon_after);
    json_write_real_if(&writer, estimate->epsilon_holdout > 0, "epsilon_holdout",
                       estimate->epsilon_holdout);
    json_write_real_if(&writer, is_private, "delta", estimate->delta);
    json_write_count(&writer, "run_count", estimate->line_count);
    json_write_array(&writer, "runs");
    for (size_t i = 0; i < estimate->line_count; i++)
        write_line(&writer, &estimate->lines[i], is_private, false);
    json_write_array_end(&writer);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *sweep_act_render(const char *dataset, size_t runs, double epsilon)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", dataset);
    json_write_count(&writer, "runs", runs);
    json_write_real_if(&writer, epsilon > 0, "epsilon", epsilon);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
