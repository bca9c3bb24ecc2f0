/* Goal: a dataset's line in a list is always current, though lines are cached: a charge
 * to its budget, an import or a new name makes a new line. Method: a service on its own
 * directory. */
#include "service/datasets/dataset_json.h"

#include "service/jobs/job_plan.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static void expect_line(struct scene *scene, const struct dataset *dataset,
                        const char *part, const char *before, char **line)
{
    char *text = dataset_summary_text(&scene->context, dataset);
    char *again = dataset_summary_text(&scene->context, dataset);
    assert_string_equal(text, again);
    if (strstr(text, part) == NULL)
        fail_msg("no %s in %s", part, text);
    if (before != NULL)
        assert_string_not_equal(text, before);
    free(again);
    free(*line);
    *line = text;
}

static void a_line_follows_its_dataset_and_its_budget(void **state)
{
    (void)state;
    struct scene scene;
    char *line = NULL;
    scene_open(&scene);
    struct dataset *points =
        scene_declare(&scene, "points", "{\"epsilon\":8,\"delta\":1e-5}");
    expect_line(&scene, points, "\"state\":\"CREATED\"", NULL, &line);
    scene_import(&scene, points, "0.5");
    expect_line(&scene, points, "\"state\":\"READY\"", line, &line);
    expect_line(&scene, points, "\"held\":0.0,", NULL, &line);
    struct job_plan plan = scene_plan(
        &scene, "\"name\":\"dpsgd\"",
        "\"batch_size\":50,\"steps\":10,\"privacy\":{\"noise_multiplier\":100}");
    char *before = strdup(line);
    scene_submit(&scene, &plan, &plan.mechanism);
    expect_line(&scene, points, "\"budget\":{", before, &line);
    assert_null(strstr(line, "\"held\":0.0,"));
    struct dataset *other = scene_declare(&scene, "other", "\"public\"");
    expect_line(&scene, other, "\"budget\":null", NULL, &before);
    free(before);
    free(line);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_follows_its_dataset_and_its_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
