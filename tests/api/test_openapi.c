/* Goal: openapi.yaml and the code say the same. Method: test_openapi.py writes the
 * parts that follow from tables again, and compares routes, formats and rendered
 * answers with the document, in both directions; the real parsers read the document's
 * example requests. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>
#include <sys/wait.h>

#include "api/views/audit_view.h"
#include "api/views/budget_view.h"
#include "api/views/dataset_view.h"
#include "api/json/fault.h"
#include "api/views/fetch_view.h"
#include "api/requests/job_defaults.h"
#include "api/requests/job_schema.h"
#include "api/views/job_view.h"
#include "api/requests/key_request.h"
#include "api/requests/login_request.h"
#include "api/views/key_view.h"
#include "api/views/model_view.h"
#include "api/views/page_view.h"
#include "api/views/predict_answer.h"
#include "api/requests/predict_request.h"
#include "api/views/problem.h"
#include "engine/data/readers/import_report.h"
#include "api/requests/evaluation_request.h"
#include "api/requests/statistics_request.h"
#include "api/views/evaluation_view.h"
#include "api/views/quality_view.h"
#include "api/views/statistics_view.h"
#include "api/requests/sweep_request.h"
#include "api/views/system_view.h"
#include "api/requests/webhook_event.h"
#include "api/views/webhook_view.h"
#include "tests/api/openapi_tables.h"
#include "tests/api/verdict_fixture.h"
#include "engine/data/readers/reader_registry.h"
#include "engine/dp/algorithms/registry.h"

static char folder[] = "/tmp/epsilond-openapi-XXXXXX";
static char facts_path[64], bodies_path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(facts_path, sizeof facts_path, "%s/facts", folder);
    snprintf(bodies_path, sizeof bodies_path, "%s/bodies", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(facts_path);
    unlink(bodies_path);
    return rmdir(folder);
}

static void take_answer(json_t *answers, const char *schema, char *text)
{
    json_t *list = json_object_get(answers, schema);
    if (list == NULL) {
        list = json_array();
        json_object_set_new(answers, schema, list);
    }
    assert_int_equal(json_array_append_new(list, json_string(text)), 0);
    free(text);
}

static const struct job_id job_id = {"job_01JJZ0000000000000000000AB"};
static const struct model_id model_id = {"mdl_01JJZ0000000000000000000CD"};
static const uint8_t digest[SHA256_SIZE] = {0xab, 0xcd};
static const char mechanism[] =
    "{\"kind\":\"sampled_gaussian\",\"relation\":\"zero_out\","
    "\"runs\":[[0.25,1.5,12]],\"prefixes_priced\":true}";

static const char *const declarations[] = {
    "{\"id\":\"a\",\"format\":\"idx\",\"task\":\"classification\",\"classes\":10,"
    "\"features\":{\"shape\":[28,28],\"scale\":255},\"privacy\":\"public\"}",
    "{\"id\":\"b\",\"format\":\"libsvm\",\"task\":\"regression\","
    "\"features\":{\"count\":8,\"range\":[0,1]},\"target\":{\"range\":[0,5]},"
    "\"privacy\":{\"epsilon\":2,\"delta\":1e-5,\"order\":7.5}}",
    "{\"id\":\"c\",\"format\":\"csv\",\"task\":\"classification\",\"columns\":["
    "{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1],\"default\":0.5},"
    "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"n\",\"y\"]},"
    "{\"name\":\"z\",\"kind\":\"categorical\",\"values\":[\"u\"]},"
    "{\"name\":\"id\",\"kind\":\"ignored\"}],\"privacy\":\"public\"}",
    "{\"id\":\"g\",\"format\":\"csv\",\"task\":\"classification\",\"columns\":["
    "{\"name\":\"x\",\"kind\":\"text\",\"length\":16,\"tokenizer\":{\"kind\":"
    "\"byte_pair\",\"vocabulary\":\"fil_01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"merges\":"
    "\"fil_01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"prefix_space\":true,\"tokens\":300}},"
    "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"n\",\"y\"]}],"
    "\"privacy\":\"public\"}",
    "{\"id\":\"d\",\"format\":\"npy\",\"task\":\"regression\","
    "\"features\":{\"shape\":[8],\"scale\":1},\"target\":{\"range\":[0,5]},"
    "\"privacy\":\"public\"}",
    "{\"id\":\"e\",\"format\":\"cifar10\",\"task\":\"classification\",\"classes\":10,"
    "\"privacy\":\"public\"}",
    "{\"id\":\"f\",\"format\":\"cifar100\",\"task\":\"classification\","
    "\"classes\":100,\"features\":{\"scale\":127.5},\"privacy\":\"public\"}",
    "{\"id\":\"g\",\"format\":\"jsonl\",\"task\":\"regression\",\"columns\":["
    "{\"name\":\"x\",\"kind\":\"boolean\",\"default\":false},"
    "{\"name\":\"y\",\"kind\":\"label\",\"range\":[0,5]}],\"privacy\":\"public\"}",
};

/* A budget that was granted a second time; its filters have the form of any. */
static struct epoch regranted[] = {{.number = 1,
                                    .grant = {.epsilon = 3, .delta = 1e-5},
                                    .filter = {.weighted = {3, 9}},
                                    .frozen = true},
                                   {.number = 2,
                                    .grant = {.epsilon = 2, .delta = 1e-5},
                                    .filter = {.weighted = {3, 9}}}};

static void open_dataset(struct dataset_spec *spec, const char *text)
{
    struct error error = {0};
    assert_taken(dataset_spec_parse(spec, json_text_of(text), &error), text, &error);
}

/* An evaluation on a public dataset and one on a holdout, in each state. */
static void answer_evaluations(json_t *answers)
{
    const struct ledger_entry_name reserve = {.seq = 7};
    const struct quality_plan quality = {
        .classes = 2, .records = 100, .noise_multiplier = 3};
    double released[4 + 2 * QUALITY_BINS] = {40, 3, 2, 55};
    struct mechanism m = {0};
    struct model_evaluation_kept kept = {
        .model = {"mdl_01JJZ0000000000000000000AB"},
        .evaluation = {.on_public = true, .public = {"open"}}};
    mechanism_init_release(&m, RELATION_ZERO_OUT, 3);
    char *canonical = mechanism_render(&m);
    const struct evaluation_guarantee guarantee = {&m, &quality, .5, 1e-5, &reserve};
    const struct quality_view view = {.plan = &quality,
                                      .released = released,
                                      .epsilon = .5,
                                      .delta = 1e-5,
                                      .mechanism = canonical,
                                      .reserve = reserve,
                                      .half_range = 1};
    const struct evaluation seen = {.loss = .25, .accuracy = .9, .rmse = .5};
    char *texts[] = {evaluation_scores_render(&seen, 0),
                     evaluation_scores_render(&seen, 12), quality_render(&view)};
    char *cost = evaluation_guarantee_render(&guarantee);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bool on_holdout = i == 2;
        if (on_holdout)
            kept.evaluation = (struct evaluation_request){
                .measurement = {.is_asked = true, .epsilon = .5, .error_clip = 3}};
        char *spec = model_evaluation_kept_render(&kept);
        struct statistics_row row = {.id = {"mev_01JJZ0000000000000000000AB"},
                                     .dataset = "c",
                                     .state = "SUCCEEDED",
                                     .reason = "",
                                     .spec = spec,
                                     .guarantee = on_holdout ? cost : "",
                                     .answers = texts[i],
                                     .create_ms = 1700000000000,
                                     .end_ms = 1700000001000,
                                     .created_by = "ana"};
        take_answer(answers, "Evaluation", evaluation_render(&row, "default"));
        row.state = "FAILED";
        row.reason = "model_corrupt";
        row.answers = "";
        take_answer(answers, "Evaluation", evaluation_render(&row, "default"));
        free(spec);
        free(texts[i]);
    }
    free(cost);
    free(canonical);
    mechanism_fini(&m);
}

/* One of each kind of statistic, as answered, stored and estimated. */
static void answer_statistics(json_t *answers)
{
    static const char body[] =
        "{\"dataset\":\"c\",\"statistics\":[{\"kind\":\"histogram\",\"column\":\"z\"},"
        "{\"kind\":\"table\",\"columns\":[{\"column\":\"y\"},{\"column\":\"x\","
        "\"bins\":[0,0.5,1]}]},{\"kind\":\"mean\",\"column\":\"x\"},"
        "{\"kind\":\"variance\",\"column\":\"x\",\"range\":[0,0.5]},"
        "{\"kind\":\"quantiles\",\"column\":\"x\",\"probabilities\":[0.5],\"bins\":4}],"
        "\"privacy\":{\"epsilon\":1}}";
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 3.5, 1000, 0, 0};
    const struct ledger_entry_name reserve = {.seq = 7};
    struct dataset_spec spec;
    struct statistics_request request;
    struct measurement measurement;
    struct mechanism m;
    struct outlook outlook = {.fits = FITS_YES, .times = 3, .epsilon_after = 2};
    double released[12] = {0};
    open_dataset(&spec, declarations[2]);
    assert_int_equal(statistics_request_parse(&request, json_text_of(body), NULL),
                     ST_OK);
    char *asked = statistics_render(&request.statistics);
    assert_int_equal(statistics_resolve(&request.statistics, &spec.schema, NULL),
                     ST_OK);
    assert_int_equal(statistics_slots(&request.statistics), 12);
    assert_int_equal(measurement_plan(&measurement, &request.statistics, &terms, NULL),
                     ST_OK);
    measurement_mechanism(&m, &terms);
    const struct survey_guarantee guarantee = {
        &m, &measurement, {1.25, 0}, 1e-5, &reserve};
    char *cost = survey_guarantee_render(&guarantee);
    char *text = statistics_answers_render(&measurement, &request.statistics,
                                           &spec.schema, released);
    struct statistics_row row = {.id = {"sta_01JJZ0000000000000000000AB"},
                                 .dataset = "c",
                                 .state = "SUCCEEDED",
                                 .reason = "",
                                 .spec = asked,
                                 .guarantee = cost,
                                 .answers = text,
                                 .create_ms = 1700000000000,
                                 .end_ms = 1700000001000,
                                 .created_by = "ana"};
    take_answer(answers, "Statistics", survey_render(&row, "default"));
    row.state = "FAILED";
    row.reason = "worker_lost";
    row.answers = "";
    take_answer(answers, "Statistics", survey_render(&row, "default"));
    const struct survey_estimate estimate = {
        FITS_YES, &outlook, &m, &measurement, &request.statistics, {1.25, 9.5}, 1e-5};
    take_answer(answers, "StatisticsEstimate", survey_estimate_render(&estimate));
    free(text);
    free(cost);
    free(asked);
    mechanism_fini(&m);
    statistics_request_fini(&request);
    dataset_spec_fini(&spec);
}

/* Words, as answered and estimated, and as they wait for a second person. */
static void answer_words(json_t *answers)
{
    static const char body[] =
        "{\"dataset\":\"c\",\"statistics\":[{\"kind\":\"words\",\"column\":\"z\"}],"
        "\"privacy\":{\"epsilon\":1,\"discovery_delta\":1e-6}}";
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 3.5, 1000, 18, 1};
    const struct ledger_entry_name reserve = {.seq = 7};
    struct word_count found[] = {{"north", 41.5}, {"south", 99}};
    const struct word_counts words = {.count = 2, .items = found};
    struct dataset_spec spec;
    struct statistics_request request;
    struct measurement measurement;
    struct mechanism m;
    struct outlook outlook = {.fits = FITS_YES, .times = 3, .epsilon_after = 2};
    struct proposal proposal = proposal_make("ana", 1700000000000);
    assert_int_equal(statistics_request_parse(&request, json_text_of(body), NULL),
                     ST_OK);
    char *asked = statistics_render(&request.statistics);
    assert_int_equal(measurement_plan(&measurement, &request.statistics, &terms, NULL),
                     ST_OK);
    measurement_mechanism(&m, &terms);
    const struct survey_guarantee guarantee = {
        &m, &measurement, {1.25, 0}, 1e-5, &reserve};
    char *cost = survey_guarantee_render(&guarantee);
    char *text = statistics_words_render(&request.statistics.items[0], &m, &words);
    const struct statistics_row row = {.id = {"sta_01JJZ0000000000000000000AB"},
                                       .dataset = "c",
                                       .state = "SUCCEEDED",
                                       .reason = "",
                                       .spec = asked,
                                       .guarantee = cost,
                                       .answers = text,
                                       .create_ms = 1700000000000,
                                       .end_ms = 1700000001000,
                                       .created_by = "ana"};
    take_answer(answers, "Statistics", survey_render(&row, "default"));
    const struct survey_estimate estimate = {
        FITS_YES, &outlook, &m, &measurement, &request.statistics, {1.25, 9.5}, 1e-5};
    take_answer(answers, "StatisticsEstimate", survey_estimate_render(&estimate));
    open_dataset(&spec, declarations[2]);
    proposal.words = (struct proposed_words){0, 18, 3.5, 6e-7, {""}};
    take_answer(answers, "Grant",
                proposal_render(&proposal, &spec, NULL, ACKNOWLEDGED_NOTHING, 0));
    proposal.words.statistics = row.id;
    take_answer(answers, "Grant",
                proposal_render(&proposal, &spec, NULL, ACKNOWLEDGED_NOTHING, 0));
    dataset_spec_fini(&spec);
    free(text);
    free(cost);
    free(asked);
    mechanism_fini(&m);
    statistics_request_fini(&request);
}

static void answer_keys(json_t *answers)
{
    static const char made[] =
        "dpk_k7QdAbC1_0123456789012345678901234567890123456789012";
    const struct key_policy none = {0};
    struct key_policy policy = {.max_epsilon_per_job = 1,
                                .min_noise_multiplier = 0.5,
                                .algorithm_count = 1,
                                .algorithms = {algorithm_find("dpsgd")},
                                .max_open_jobs = 3,
                                .max_share = 0.2,
                                .share_days = 30};
    const struct principal ana = {.name = "ana",
                                  .project = "fraud",
                                  .role = ROLE_ANALYST,
                                  .scopes = SCOPE_BIT(SCOPE_BUDGETS_AUDIT)};
    struct key_view view = {.id = "k7QdAbC1",
                            .principal = &ana,
                            .policy = &none,
                            .create_ms = 1000,
                            .expire_ms = 9000,
                            .now_ms = 2000};
    take_answer(answers, "Key", key_render(&view));
    view.secret = made;
    view.policy = &policy;
    take_answer(answers, "KeyMade", key_render(&view));
    view.secret = NULL;
    view.revoke_ms = 3000;
    view.used_day = 20000;
    char *items[] = {key_render(&view)};
    take_answer(answers, "KeyPage", page_render("keys", items, 1, NULL));
    take_answer(answers, "Key", items[0]);
}

static void answer_uploads(json_t *answers)
{
    const struct upload_view views[] = {
        {"a", "data", false, false, 0, 0},
        {"a", "features", false, true, 5, 7},
        {"a", "labels", true, false, 0, 0},
    };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        take_answer(answers, "Upload", upload_render(&views[i]));
}

/* A refused import with faults of each sort. */
static void answer_report(json_t *answers, struct dataset_view *view)
{
    struct import_report *report = import_report_create(&view->spec->schema);
    assert_non_null(report);
    const struct cell_fault fault = {0, 2, 1, {"teal", 4}, true, "no value"};
    import_report_add_cell(report, &fault);
    import_report_add_line(report, 3, 0, (struct cell){"x", 1}, "too long");
    view->report = report;
    take_answer(answers, "Import", import_render(view));
    const struct error error = {.status = ST_IMPORT_FAILED, .text = "no value"};
    const struct problem refused = {.failure = &view->failure, .report = report};
    take_answer(answers, "Problem", problem_render(&error, &refused));
    view->report = NULL;
    import_report_destroy(report);
}

static void answer_datasets(json_t *answers)
{
    const struct epochs epochs = {.items = regranted, .count = 2};
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        struct dataset_spec spec;
        open_dataset(&spec, declarations[i]);
        take_answer(answers, "DatasetRequest", dataset_spec_render(&spec));
        struct dataset_view view = {.spec = &spec,
                                    .state = "CREATED",
                                    .create_ms = 1,
                                    .project = "default",
                                    .created_by = "local"};
        take_answer(answers, "Dataset", dataset_render(&view));
        view.state = "READY";
        view.records = view.size = 7;
        view.sha256 = digest;
        view.import_ms = 1000;
        view.epochs = spec.is_public ? NULL : &epochs;
        take_answer(answers, "Dataset", dataset_render(&view));
        char *items[] = {dataset_render(&view)};
        take_answer(answers, "DatasetPage", page_render("datasets", items, 1, "p1"));
        free(items[0]);
        struct balance balance = {.epsilon = 2, .delta = 1e-5, .capacity = {8, 4}};
        view.balance = spec.is_public ? NULL : &balance;
        view.evaluations = &spec.id;
        view.evaluation_count = 1;
        take_answer(answers, "Dataset", dataset_render(&view));
        take_answer(answers, "DatasetSummary", dataset_summary_render(&view));
        take_answer(answers, "Import", import_render(&view));
        view.state = "FAILED";
        view.failure = (struct import_failure){ST_INTERNAL, "", 0, 0, "no"};
        take_answer(answers, "Dataset", dataset_render(&view));
        take_answer(answers, "Import", import_render(&view));
        view.failure = (struct import_failure){ST_IMPORT_FAILED, "data", 3, 0, "no"};
        take_answer(answers, "Dataset", dataset_render(&view));
        take_answer(answers, "Import", import_render(&view));
        if (schema_has_columns(&spec.schema))
            answer_report(answers, &view);
        dataset_spec_fini(&spec);
    }
}

static const char *const requests[] = {
    "{\"dataset\":\"b\",\"evaluation\":\"e\",\"model\":{\"preset\":\"mlp\"},"
    "\"algorithm\":{\"name\":\"dpsgd\"},\"privacy\":{\"epsilon\":2}}",
    "{\"dataset\":\"b\",\"model\":{\"preset\":\"linear\"},"
    "\"algorithm\":{\"name\":\"dpsgd\"},\"optimizer\":{\"name\":\"adam\"},\"steps\":9,"
    "\"privacy\":{\"budget_fraction\":0.5}}",
    "{\"dataset\":\"b\",\"model\":{\"layers\":[{\"type\":\"dense\",\"out\":3},"
    "{\"type\":\"tanh\"},{\"type\":\"dense\",\"out\":1}]},"
    "\"algorithm\":{\"name\":\"dpsgd\"},\"optimizer\":{\"name\":\"sgd\","
    "\"learning_rate\":{\"initial\":2,\"final\":0}},\"privacy\":{\"noise_multiplier\":"
    "2}}",
    "{\"dataset\":\"b\",\"model\":{\"preset\":\"linear\"},"
    "\"algorithm\":{\"name\":\"sgd\"}}",
    "{\"dataset\":\"b\",\"model\":{\"input\":{\"shape\":[2,4,1]},\"layers\":["
    "{\"type\":\"conv2d\",\"out\":4,\"kernel\":1},{\"type\":\"group_norm\",\"groups\":"
    "2},"
    "{\"type\":\"residual\",\"body\":[{\"type\":\"gelu\"},{\"type\":\"conv2d\","
    "\"out\":4,\"kernel\":3,\"padding\":1}],\"shortcut\":[{\"type\":\"dropout\","
    "\"rate\":0.5}]},{\"type\":\"softplus\"},{\"type\":\"flatten\"},{\"type\":"
    "\"dense\",\"out\":1}],\"loss\":{\"huber\":{\"delta\":0.25}}},"
    "\"algorithm\":{\"name\":\"dpsgd\"},\"privacy\":{\"noise_multiplier\":2}}",
    "{\"dataset\":\"b\",\"model\":{\"preset\":\"resnet18_gn\",\"groups\":16,"
    "\"input\":{\"shape\":[4,2,1]}},\"algorithm\":{\"name\":\"sgd\"}}",
};

static void answer_model(json_t *answers, const struct dataset_spec *dataset,
                         const struct job_request *request, bool is_private)
{
    struct noise_certificate noise = {.kernel = "SkylakeX", .gemm_kernel = "avx512"};
    struct ledger_entry_name reserve = {.seq = 3};
    struct epochs epochs = {.items = regranted, .count = 2};
    char *noise_text = noise_render(&noise);
    struct model_view view = {.id = &model_id,
                              .job = &job_id,
                              .dataset = dataset,
                              .request = request,
                              .mechanism = is_private ? mechanism : NULL,
                              .noise_multiplier = 1.5,
                              .sampling_rate = 0.25,
                              .epsilon = 2,
                              .order = 7.25,
                              .steps = 12,
                              .reserve = is_private ? &reserve : NULL,
                              .epochs = is_private ? &epochs : NULL,
                              .noise = is_private ? noise_text : NULL,
                              .version = "0"};
    char *card = certificate_render(&view);
    struct model_row row = {.id = model_id, .job = job_id, .size = 4096, .card = card};
    row.create_ms = 1000;
    struct evaluation_point point = {3, 0.5, 0.25};
    struct model_course course = {.dataset = "b", .algorithm = "dpsgd"};
    take_answer(answers, "Model", model_render(&row, &course));
    course.evaluation = &point;
    char *items[] = {model_render(&row, &course)};
    take_answer(answers, "ModelPage", page_render("models", items, 1, NULL));
    free(items[0]);
    take_answer(answers, "Certificate", card);
    free(noise_text);
}

static void answer_job(json_t *answers, const struct dataset_spec *dataset,
                       const char *text)
{
    struct job_request request;
    struct job_dataset known = {&dataset->schema,  1000, 0, {0, 0}, false,
                                RELATION_ZERO_OUT, 1e-5};
    struct evaluation_point points[] = {{3, 0.5, 0.25}, {6, INFINITY, NAN}};
    assert_int_equal(job_request_parse(&request, json_text_of(text), NULL), ST_OK);
    known.is_public = !request.train.algorithm.algorithm->is_private;
    assert_int_equal(job_defaults_fill(&request, &known, NULL), ST_OK);
    take_answer(answers, "JobRequest", job_request_render(&request));
    const struct job_schema_view schema = {&dataset->id, known, 1.5, 4};
    take_answer(answers, "JobSchema", job_schema_render(&schema));
    struct job_view view = {.id = &job_id,
                            .state = "QUEUED",
                            .request = &request,
                            .steps = request.train.steps,
                            .is_private = !known.is_public,
                            .project = "default",
                            .created_by = "local",
                            .create_ms = 1};
    take_answer(answers, "Job", job_render(&view));
    view.state = "FAILED";
    view.state_reason = "worker_lost";
    view.ledger_seq = 2;
    view.epsilon_planned = INFINITY;
    view.points = points;
    view.point_count = 2;
    view.regression = true;
    view.model = &model_id;
    view.start_ms = view.end_ms = 1000;
    take_answer(answers, "Job", job_render(&view));
    view.queue_position = view.seconds_left = 3;
    view.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    take_answer(answers, "Job", job_summary_render(&view));
    char *items[] = {job_render(&view)};
    take_answer(answers, "JobPage", page_render("jobs", items, 1, NULL));
    free(items[0]);
    answer_model(answers, dataset, &request, !known.is_public);
    job_request_fini(&request);
}

static void answer_ledger(json_t *answers)
{
    struct balance balance = {
        .epsilon = 2, .delta = 1e-5, .epoch = 1, .weighted = {3, 9}, .capacity = {1}};
    double curve[CURVE_ORDERS] = {0.5, INFINITY};
    struct ledger_row row = {.seq = 1,
                             .dataset = "b",
                             .epoch = 1,
                             .job = "",
                             .kind = "GRANT",
                             .curve = (const uint8_t *)curve,
                             .curve_size = sizeof curve,
                             .meta = "{}",
                             .actor = "local",
                             .time_ms = 1000};
    struct epochs epochs = {.items = regranted, .count = 1};
    struct budget_part parts[] = {{PART_TRAIN, balance, epochs},
                                  {PART_HOLDOUT, balance, epochs}};
    take_answer(answers, "Budget", budget_render(&(struct dataset_id){"b"}, parts, 1));
    parts[0].epochs.count = parts[1].epochs.count = epochs.count = 2;
    take_answer(answers, "Budget", budget_render(&(struct dataset_id){"b"}, parts, 2));
    take_answer(answers, "LedgerEntry", ledger_entry_render(&row));
    char *summaries[] = {ledger_summary_render(&row, &epochs)};
    take_answer(answers, "LedgerPage", page_render("entries", summaries, 1, NULL));
    take_answer(answers, "LedgerSummary", summaries[0]);
    struct budget_point points[2] = {
        {.seq = 1, .epoch = 1, .time_ms = 1000, .kind = "GRANT"},
        {.seq = 2,
         .epoch = 2,
         .epochs = 2,
         .time_ms = 1000,
         .kind = "COMMIT",
         .job = job_id}};
    take_answer(answers, "BudgetHistory",
                budget_history_render(&(struct dataset_id){"b"},
                                      &(struct budget_history){2, 2, points}));
    row.kind = "COMMIT";
    row.job = job_id.text;
    row.released = row.curve;
    char *items[] = {ledger_entry_render(&row)};
    take_answer(answers, "LedgerPage", page_render("entries", items, 1, "p2"));
    free(items[0]);
    take_answer(answers, "LedgerHead",
                ledger_head_render(&(struct ledger_entry_name){0}));
    for (int is_private = 0; is_private < 2; is_private++) {
        struct outlook outlook = {.balance = balance, .charge = {{1, INFINITY}}};
        outlook.balance.closed = (size_t)is_private;
        struct estimate_view view = {.fits = FITS_HELD,
                                     .is_private = is_private == 1,
                                     .outlook = is_private ? &outlook : NULL,
                                     .order = 7.25,
                                     .largest_epsilon = INFINITY};
        take_answer(answers, "Estimate", estimate_render(&view));
    }
}

static void answer_grants(json_t *answers, const struct dataset_spec *spec)
{
    struct proposal proposal = {.state = PROPOSAL_PENDING,
                                .id = {"grt_01JJZ0000000000000000000AB"},
                                .proposed_by = "ana",
                                .propose_ms = 1000};
    struct dataset_view view = {.spec = spec,
                                .state = "CREATED",
                                .create_ms = 1,
                                .proposal = &proposal,
                                .project = "p",
                                .created_by = "ana"};
    take_answer(answers, "Dataset", dataset_render(&view));
    take_answer(answers, "DatasetSummary", dataset_summary_render(&view));
    take_answer(
        answers, "Grant",
        proposal_render(&proposal, spec, &spec->grant, ACKNOWLEDGED_EPSILON, 2000));
    proposal.state = PROPOSAL_APPROVED;
    proposal.decision = (struct grant_approval){"bob", "looked at it"};
    proposal.decide_ms = 5000;
    char *items[] = {
        proposal_render(&proposal, spec, NULL, ACKNOWLEDGED_NOTHING, 6000)};
    take_answer(answers, "GrantPage", page_render("grants", items, 1, NULL));
    free(items[0]);
}

static void answer_audit(json_t *answers)
{
    struct audit_row act = {.seq = 7,
                            .second = 1753000000,
                            .actor = "ana",
                            .key = "",
                            .project = "",
                            .via = "bearer",
                            .address = "",
                            .action = "job.create",
                            .object = job_id.text,
                            .result = "ok",
                            .code = "",
                            .request = "r1",
                            .detail = "{}"};
    take_answer(answers, "AuditRow", audit_row_render(&act));
    char *acts[] = {audit_row_render(&act)};
    take_answer(answers, "AuditPage", page_render("acts", acts, 1, NULL));
    free(acts[0]);
}

static void answer_problems(json_t *answers)
{
    static const enum status statuses[] = {
#define X(symbol, wire, advice) ST_##symbol,
        STATUS_LIST(X)
#undef X
    };
    const struct import_failure failure = {ST_IMPORT_FAILED, "data", 3, 0, "no"};
    struct curve needed = {{1, INFINITY}, 0};
    double available[] = {0.5, -0.5}, orders[] = {6, 4.5};
    struct problem whole = {"req_1", &failure,  true,   INFINITY,    true, 4,
                            &needed, available, orders, "max_share", 0.2,  NULL};
    for (size_t i = 1; i < sizeof statuses / sizeof *statuses; i++) {
        struct faults faults = {
            2,
            {{.kind = FAULT_UNKNOWN, .pointer = "/a", .text = "a"},
             {.pointer = "?b", .text = "b", .line = 3, .column = 2}}};
        struct error error = {.status = statuses[i], .pointer = "/a"};
        take_answer(answers, "Problem", problem_render(&error, NULL));
        error.faults = &faults;
        take_answer(answers, "Problem", problem_render(&error, &whole));
    }
}

static char *predict_text(const struct schema *schema, const double *outputs,
                          size_t rows)
{
    struct predict_answer answer;
    predict_answer_open(&answer, schema);
    assert_int_equal(predict_answer_add(&answer, outputs, rows, NULL), ST_OK);
    return predict_answer_finish(&answer);
}

static char *status_of_nothing(void)
{
    static const char *const states[] = {"QUEUED",    "RUNNING", "CANCELLING",
                                         "SUCCEEDED", "FAILED",  "CANCELLED"};
    const size_t jobs[6] = {0, 1, 0, 0, 7};
    const struct status_view view = {.version = "0",
                                     .state_count = 6,
                                     .states = states,
                                     .jobs = jobs,
                                     .workers = 1,
                                     .queue_length_max = 1,
                                     .head = &(struct ledger_entry_name){0},
                                     .start_ms = 1000};
    return status_render(&view);
}

static char *delivery_text(const struct delivery_row *row)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    delivery_write(&writer, NULL, row);
    return json_writer_close(&writer);
}

static void answer_webhooks(json_t *answers)
{
    struct webhook_row row = {.id = {"whk_01JJZ0000000000000000000AB"},
                              .url = "https://example.com/",
                              .events = "job.failed budget.low",
                              .dataset = "",
                              .state = "ACTIVE",
                              .reason = "",
                              .create_ms = 1000};
    struct delivery_row delivery = {.id = {"msg_01JJZ0000000000000000000AB"},
                                    .type = "webhook.test",
                                    .state = "WAITING",
                                    .result = "",
                                    .next_ms = 1000,
                                    .create_ms = 1000};
    take_answer(answers, "Webhook", webhook_render(&row, NULL));
    take_answer(answers, "WebhookSecret", webhook_render(&row, digest));
    take_answer(answers, "Delivery", delivery_text(&delivery));
    row.dataset = "a";
    row.state = "DISABLED";
    row.reason = "gone";
    row.failing_ms = 1000;
    take_answer(answers, "Webhook", webhook_render(&row, NULL));
    delivery.state = "FAILED";
    delivery.result = "answered";
    delivery.http_status = 410;
    delivery.attempts = 1;
    delivery.update_ms = 2000;
    take_answer(answers, "Delivery", delivery_text(&delivery));
    for (unsigned type = 0; type < WEBHOOK_EVENT_TYPES; type++) {
        const struct webhook_event event = {
            (enum webhook_event_type)type,      "a", "READY",
            type == EVENT_BUDGET_LOW ? 0.5 : 0, 1,   NULL};
        take_answer(answers, "WebhookMessage", webhook_event_render(&event));
    }
}

static json_t *answers(void)
{
    json_t *all = json_object();
    struct dataset_spec dataset;
    const struct schema classes = {
        .reader = &idx_reader, .task = TASK_CLASSIFICATION, .classes = 2};
    double outputs[] = {0.25, 0.75};
    answer_datasets(all);
    answer_uploads(all);
    answer_webhooks(all);
    answer_statistics(all);
    answer_words(all);
    answer_evaluations(all);
    answer_keys(all);
    const struct fetch_view fetches[] = {
        {.dataset = "a", .file = "data", .state = "WAITING", .create_ms = 1000},
        {"a", "labels", "FAILED", "refused", 403, 7, 9, 1000, 2000}};
    take_answer(all, "Fetch", fetch_render(&fetches[0]));
    take_answer(all, "Fetch", fetch_render(&fetches[1]));
    open_dataset(&dataset, declarations[1]);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        answer_job(all, &dataset, requests[i]);
    answer_ledger(all);
    answer_grants(all, &dataset);
    answer_audit(all);
    answer_problems(all);
    take_answer(all, "PredictAnswer", predict_text(&classes, outputs, 1));
    take_answer(all, "PredictAnswer", predict_text(&dataset.schema, outputs, 2));
    take_answer(all, "AlgorithmList", algorithms_render());
    take_answer(all, "Status", status_of_nothing());
    take_answer(all, "Version", version_render("0", "SkylakeX"));
    dataset_spec_fini(&dataset);
    return all;
}

/* Adds base with one member replaced, a body that the parser refuses from its text. */
static void take_refused(json_t *list, const char *base, const char *from,
                         const char *to)
{
    char text[1000];
    const char *at = strstr(base, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - base), base, to,
             at + strlen(from));
    json_array_append_new(list, json_string(text));
}

static json_t *refused(void)
{
    static const struct {
        const char *from, *to;
    } jobs[] = {{"\"b\"", "\"B\""},
                {"\"mlp\"", "\"cnn\""},
                {"\"mlp\"", "\"linear\",\"hidden\":[3]"},
                {"\"mlp\"", "\"mlp\",\"hidden\":[0]"},
                {"\"mlp\"", "\"mlp\",\"init_seed\":9007199254740992"},
                {"\"dpsgd\"", "\"dpsgd\",\"clip_norm\":0"},
                {"\"dpsgd\"", "\"dpsgd\",\"clipnorm\":1"},
                {"\"dpsgd\"", "\"sgd\""},
                {",\"privacy\":{\"epsilon\":2}", ""},
                {"\"epsilon\":2", "\"epsilon\":0"},
                {"\"epsilon\":2", "\"epsilon\":1001"},
                {"\"epsilon\":2", "\"noise_multiplier\":0.04"},
                {"\"epsilon\":2", "\"noise_multipler\":1"},
                {"\"epsilon\":2", "\"epsilon\":2,\"noise_multiplier\":1"},
                {"\"epsilon\":2", "\"delta\":1e-5"},
                {"\"epsilon\":2", "\"epsilon\":2,\"delta\":1"},
                {"\"dataset\"", "\"epochs\":2,\"steps\":2,\"dataset\""},
                {"\"dataset\"", "\"batch_size\":2147483648,\"dataset\""},
                {"\"dataset\"", "\"steps\":10000001,\"dataset\""},
                {"\"dataset\"", "\"optimizer\":{\"name\":\"adam\",\"momentum\":0},"
                                "\"dataset\""}},
      datasets[] = {{"\"b\"", "\"-b\""},
                    {"\"target\":{\"range\":[0,5]},", ""},
                    {"\"target\"", "\"classes\":2,\"target\""},
                    {"\"target\"", "\"columns\":[],\"target\""},
                    {"8", "1048577"},
                    {"8", "8,\"shape\":[8]"},
                    {"[0,5]", "[0]"},
                    {"7.5", "7.25"},
                    {"\"delta\":1e-5,", ""},
                    {"\"epsilon\":2", "\"epsilon\":-2"},
                    {"1e-5", "1e-12"}},
      tables[] = {{"\"label\"", "\"categorical\""},
                  {"\"ignored\"", "\"label\",\"values\":[\"a\",\"b\"]"},
                  {"\"values\":[\"n\",\"y\"]", "\"range\":[0,1]"},
                  {"classification", "regression"},
                  {"\"x\"", "\"\\u0000\""},
                  {"\"x\"", "\"x\\t\""}};
    json_t *job_list = json_array(), *dataset_list = json_array();
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        take_refused(job_list, requests[0], jobs[i].from, jobs[i].to);
    for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++)
        take_refused(dataset_list, declarations[1], datasets[i].from, datasets[i].to);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        take_refused(dataset_list, declarations[2], tables[i].from, tables[i].to);
    return json_pack("{s:o,s:o}", "JobRequest", job_list, "DatasetRequest",
                     dataset_list);
}

static void what_is_listed_as_refused_is(void **state)
{
    (void)state;
    json_auto_t *all = refused();
    size_t i;
    json_t *text;
    json_array_foreach(json_object_get(all, "JobRequest"), i, text)
    {
        struct job_request request;
        const char *body = json_string_value(text);
        if (job_request_parse(&request, json_text_of(body), NULL) != ST_INVALID)
            fail_msg("accepted: %s", body);
    }
    json_array_foreach(json_object_get(all, "DatasetRequest"), i, text)
    {
        struct dataset_spec spec;
        const char *body = json_string_value(text);
        if (dataset_spec_parse(&spec, json_text_of(body), NULL) != ST_INVALID)
            fail_msg("accepted: %s", body);
    }
}

static void document_and_code_say_the_same(void **state)
{
    (void)state;
    char command[300];
    if (system("python3 -c 'import yaml, jsonschema' 2>/dev/null") != 0)
        skip_because("python3-yaml or -jsonschema is absent");
    json_auto_t *facts = openapi_tables();
    json_object_set_new(facts, "version", json_string(EPSILOND_VERSION));
    json_object_set_new(facts, "answers", answers());
    json_object_set_new(facts, "refused", refused());
    assert_int_equal(json_dump_file(facts, facts_path, 0), 0);
    snprintf(command, sizeof command,
             "python3 tests/api/test_openapi.py openapi.yaml api/limits.h %s %s",
             facts_path, bodies_path);
    int outcome = system(command);
    assert_true(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
}

static void parse_predict(const char *body)
{
    static const struct schema three = {.reader = &libsvm_reader,
                                        .task = TASK_CLASSIFICATION,
                                        .classes = 2,
                                        .feature_count = 3};
    struct predict_request *request = NULL;
    float features[8 * 3];
    struct predict_block block = {.features = features, .stride = 3, .max = 8};
    struct dataset_spec table;
    bool is_table = strstr(body, "Private") != NULL;
    open_dataset(&table,
                 "{\"id\":\"t\",\"format\":\"csv\",\"task\":\"classification\","
                 "\"columns\":[{\"name\":\"age\",\"kind\":\"numeric\",\"range\":"
                 "[17,90],\"default\":40},{\"name\":\"work\",\"kind\":"
                 "\"categorical\",\"values\":[\"Private\",\"?\"]},{\"name\":\"y\","
                 "\"kind\":\"label\",\"values\":[\"a\",\"b\"]}],"
                 "\"privacy\":\"public\"}");
    const struct predict_body whole = {body, strlen(body),
                                       is_table ? &table.schema : &three, NULL, 1};
    assert_int_equal(predict_request_open(&request, &whole, NULL), ST_OK);
    do
        assert_int_equal(predict_request_next(request, &block, NULL), ST_OK);
    while (block.rows > 0);
    predict_request_close(request);
    dataset_spec_fini(&table);
}

static void parse_body(const char *operation, const char *body)
{
    struct error error = {0};
    enum status status = ST_OK;
    if (strcmp(operation, "dataset_create") == 0) {
        struct dataset_spec spec;
        open_dataset(&spec, body);
        dataset_spec_fini(&spec);
    } else if (strstr(operation, "_patch") != NULL) {
        struct caption before = {0}, after = {0};
        status = caption_merge(&after, &before, json_text_of(body), &error);
        caption_fini(&after);
    } else if (strncmp(operation, "job_", 4) == 0 && strcmp(body, "{}") != 0) {
        struct job_request request;
        status = job_request_parse(&request, json_text_of(body), &error);
        if (status == ST_OK)
            job_request_fini(&request);
    } else if (strncmp(operation, "sweep_", 6) == 0 && strcmp(body, "{}") != 0) {
        struct sweep_request request;
        status = sweep_request_parse(&request, json_text_of(body), &error);
        if (status == ST_OK)
            sweep_request_fini(&request);
    } else if (strncmp(operation, "statistics_", 11) == 0) {
        struct statistics_request request;
        status = statistics_request_parse(&request, json_text_of(body), &error);
        if (status == ST_OK)
            statistics_request_fini(&request);
    } else if (strcmp(operation, "model_evaluate") == 0 ||
               strcmp(operation, "model_estimate") == 0) {
        struct model_evaluation_request request;
        status = model_evaluation_request_parse(&request, json_text_of(body), &error);
    } else if (strcmp(operation, "key_create") == 0) {
        struct key_request request;
        status = key_request_parse(&request, json_text_of(body), &error);
    } else if (strcmp(operation, "login_create") == 0) {
        char key[LOGIN_KEY_SIZE];
        status = login_request_parse(key, json_text_of(body), &error);
    } else if (strcmp(operation, "model_predict") == 0) {
        parse_predict(body);
    }
    assert_taken(status, body, &error);
}

static void examples_are_accepted_by_the_parsers(void **state)
{
    (void)state;
    json_auto_t *bodies = json_load_file(bodies_path, 0, NULL);
    const char *operation;
    json_t *list, *body;
    size_t i, count = 0;
    if (bodies == NULL)
        skip_because("document_and_code_say_the_same has made no list of bodies");
    json_object_foreach(bodies, operation, list)
    {
        json_array_foreach(list, i, body)
        {
            parse_body(operation, json_string_value(body));
            count++;
        }
    }
    assert_true(count >= 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_listed_as_refused_is),
        cmocka_unit_test(document_and_code_say_the_same),
        cmocka_unit_test(examples_are_accepted_by_the_parsers),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
