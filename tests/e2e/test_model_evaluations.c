/* Goal: a published model is evaluated after its training: on a public dataset for
 * nothing, and equal to what the job itself saw; on a holdout for a charge of each look
 * to that holdout alone, equal to a job's own charge. Invalid requests are refused with
 * the member at fault and cost nothing; a kill charges, and nothing is measured twice.
 * Method: a real daemon on made-up points. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define DIVIDED "{'epsilon':8,'delta':1e-5},'holdout':0.2,'holdout_seed':5"
#define LOOK    "{'evaluation':{'holdout':true,'epsilon':%g}}"
#define TRAINED                                                                        \
    "{'dataset':'%s',%s'model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"      \
    "'batch_size':200,'steps':40,'privacy':{'noise_multiplier':2}}"

static char model[64]; /* trained on the dataset "points", which has a holdout */

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

static const struct reply *ask(struct client *client, const char *id, const char *body)
{
    char path[160];
    snprintf(path, sizeof path, "/v1/models/%s:evaluate", id);
    return client_create(client, path, "%s", body);
}

static const struct reply *look(struct client *client, double epsilon)
{
    char body[128];
    snprintf(body, sizeof body, LOOK, epsilon);
    return ask(client, model, body);
}

static const struct reply *await_result(struct client *client, const struct reply *made)
{
    char path[64];
    const struct reply *reply;
    assert_status(made, 201);
    snprintf(path, sizeof path, "/v1/evaluations/%s", reply_text(made, "id"));
    while (reply = client_get(client, "%s", path), assert_status(reply, 200),
           strcmp(reply_text(reply, "state"), "RUNNING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    return reply;
}

static double spent(struct client *client, const char *dataset, int part)
{
    char path[64];
    snprintf(path, sizeof path, "parts.%d.epsilon_spent", part);
    const struct reply *budget = client_get(client, "/v1/datasets/%s/budget", dataset);
    assert_status(budget, 200);
    return reply_number(budget, path);
}

static double ledger_length(struct client *client)
{
    return reply_number(client_get(client, "/v1/ledger/head"), "seq");
}

/* The datasets of all tests, and the model. */
static int begin(void **state)
{
    int failed = stage_begin(state);
    struct client *client = client_of(state);
    ready_points(client, "points", 3001, 1, DIVIDED);
    ready_points(client, "open", 700, 2, SAMPLE_PUBLIC);
    const struct reply *job = train(client, TRAINED, "points", "'evaluation':'open',");
    snprintf(model, sizeof model, "%s", reply_text(job, "model"));
    return failed;
}

static void a_public_dataset_costs_nothing_and_shows_what_the_job_saw(void **state)
{
    struct client *client = client_of(state);
    double before = ledger_length(client), train_spent = spent(client, "points", 0);
    for (unsigned again = 0; again < 2; again++) {
        const struct reply *made = ask(client, model, "{'evaluation':'open'}");
        assert_status(made, 201);
        assert_string_equal(reply_text(made, "state"), "RUNNING");
        const struct reply *done = await_result(client, made);
        assert_string_equal(reply_text(done, "state"), "SUCCEEDED");
        assert_string_equal(reply_text(done, "dataset"), "open");
        assert_string_equal(reply_text(done, "evaluation"), "open");
        assert_string_equal(reply_text(done, "model"), model);
        assert_true(json_is_null(reply_at(done, "guarantee")));
        assert_true(json_is_null(reply_at(done, "quality")));
        const struct reply *found = client_get(client, "/v1/models/%s", model);
        const struct reply *job =
            client_get(client, "/v1/jobs/%s", reply_text(found, "job"));
        assert_true(reply_number(done, "scores.accuracy") ==
                    reply_number(job, "metrics.evaluation.accuracy"));
        assert_close(reply_number(done, "scores.loss"),
                     reply_number(job, "metrics.evaluation.loss"), 1e-6);
    }
    assert_true(ledger_length(client) == before);
    assert_true(spent(client, "points", 0) == train_spent);
}

static void each_look_at_a_holdout_is_charged_to_it_alone(void **state)
{
    struct client *client = client_of(state);
    double training = spent(client, "points", 0), charge[2], before = 0;
    json_t *seen[2];
    assert_true(spent(client, "points", 1) == 0);
    for (unsigned i = 0; i < 2; i++) {
        const struct reply *made = look(client, 1);
        assert_status(made, 201);
        assert_string_equal(reply_text(made, "guarantee.part"), "holdout");
        assert_close(reply_number(made, "guarantee.epsilon"), 1, 1e-12);
        const struct reply *done = await_result(client, made);
        assert_string_equal(reply_text(done, "state"), "SUCCEEDED");
        assert_true(json_is_null(reply_at(done, "scores")));
        assert_true(reply_number(done, "quality.accuracy.value") > .8);
        assert_true(reply_number(done, "quality.reserve.seq") ==
                    reply_number(done, "guarantee.reserve.seq"));
        seen[i] = json_deep_copy(reply_at(done, "quality.confusion"));
        charge[i] = spent(client, "points", 1);
        assert_true(charge[i] > before);
        before = charge[i];
        /* An answer that is shown again is free. */
        const struct reply *again = await_result(client, made);
        assert_true(json_equal(reply_at(again, "quality.confusion"), seen[i]));
        assert_true(spent(client, "points", 1) == charge[i]);
    }
    assert_false(json_equal(seen[0], seen[1])); /* noise drawn again is a look */
    assert_true(spent(client, "points", 0) == training);
    json_decref(seen[0]);
    json_decref(seen[1]);
    assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
}

/* The same epsilon costs a job's holdout what it costs a later look. */
static void a_look_costs_what_a_job_pays_for_its_own(void **state)
{
    struct client *client = client_of(state);
    char path[96];
    for (unsigned i = 0; i < 2; i++) {
        ready_points(client, i == 0 ? "own" : "later", 3001, 10 + i, DIVIDED);
        const struct reply *job =
            train(client, TRAINED, i == 0 ? "own" : "later",
                  i == 0 ? "'evaluation':{'holdout':true,'epsilon':0.7}," : "");
        if (i == 0)
            continue;
        snprintf(path, sizeof path, "%s", reply_text(job, "model"));
        await_result(
            client, ask(client, path, "{'evaluation':{'holdout':true,'epsilon':0.7}}"));
    }
    assert_true(spent(client, "own", 1) > 0);
    assert_close(spent(client, "later", 1), spent(client, "own", 1), 1e-9);
}

static void the_holdout_of_another_dataset_pays_for_a_look_at_it(void **state)
{
    struct client *client = client_of(state);
    ready_points(client, "elsewhere", 1000, 20, DIVIDED);
    double before = spent(client, "points", 1);
    const struct reply *done =
        await_result(client, ask(client, model,
                                 "{'dataset':'elsewhere','evaluation':{'holdout':true,"
                                 "'epsilon':1}}"));
    assert_string_equal(reply_text(done, "state"), "SUCCEEDED");
    assert_string_equal(reply_text(done, "dataset"), "elsewhere");
    assert_true(spent(client, "points", 1) == before);
    assert_true(spent(client, "elsewhere", 1) > 0);
    assert_true(spent(client, "elsewhere", 0) == 0);
}

static void the_ledger_and_the_audit_trail_name_the_look(void **state)
{
    struct client *client = client_of(state);
    const struct reply *done = await_result(client, look(client, .5));
    const char *id = reply_text(done, "id");
    const struct reply *page = client_get(
        client, "/v1/datasets/points/ledger?view=summary&page_size=1000&order=desc");
    assert_string_equal(reply_text(page, "entries.0.kind"), "COMMIT");
    assert_string_equal(reply_text(page, "entries.0.job"), id);
    assert_string_equal(reply_text(page, "entries.0.parts.0"), "holdout");
    assert_int_equal(json_array_size(reply_at(page, "entries.0.parts")), 1);
    const struct reply *trail =
        client_get(client, "/v1/audit?order=desc&result=ok&action=model.evaluate");
    assert_string_equal(reply_text(trail, "acts.0.object"), id);
    assert_string_equal(reply_text(trail, "acts.0.detail.dataset"), "points");
    assert_true(reply_number(trail, "acts.0.detail.epsilon") == .5);
}

static void the_same_key_is_the_same_look(void **state)
{
    struct client *client = client_of(state);
    char path[96];
    snprintf(path, sizeof path, "/v1/models/%s:evaluate", model);
    const struct reply *made = client_post(client, path, "k", LOOK, .3);
    await_result(client, made);
    double before = spent(client, "points", 1);
    const struct reply *again = client_post(client, path, "k", LOOK, .3);
    assert_status(again, 201);
    assert_string_equal(reply_text(again, "id"), reply_text(made, "id"));
    assert_problem(client_post(client, path, "k", LOOK, .4), 422,
                   "idempotency_key_reused");
    assert_true(spent(client, "points", 1) == before);
}

static void lists_have_evaluations_and_no_statistics(void **state)
{
    struct client *client = client_of(state);
    char query[160];
    const struct reply *done =
        await_result(client, ask(client, model, "{'evaluation':'open'}"));
    const char *id = reply_text(done, "id");
    const struct reply *asked = client_create(
        client, "/v1/statistics",
        "{'dataset':'points','statistics':[{'kind':'histogram','column':'above'}],"
        "'privacy':{'noise_multiplier':40}}");
    assert_status(asked, 201);
    snprintf(query, sizeof query, "/v1/evaluations?model=%s&order=desc&page_size=1",
             model);
    const struct reply *list = client_get(client, "%s", query);
    assert_status(list, 200);
    assert_string_equal(reply_text(list, "evaluations.0.id"), id);
    assert_true(json_is_null(reply_at(list, "evaluations.0.scores")));
    list = client_get(client, "/v1/evaluations?dataset=open&order=desc");
    assert_string_equal(reply_text(list, "evaluations.0.id"), id);
    list = client_get(client, "/v1/evaluations?model=mdl_01JJZ0000000000000000000AB");
    assert_int_equal(json_array_size(reply_at(list, "evaluations")), 0);
    list = client_get(client, "/v1/statistics?page_size=1000");
    for (size_t i = 0; i < json_array_size(reply_at(list, "statistics")); i++) {
        snprintf(query, sizeof query, "statistics.%zu.id", i);
        assert_memory_equal(reply_text(list, query), "sta_", 4);
    }
    /* Neither is found as the other. */
    assert_problem(client_get(client, "/v1/statistics/%s", id), 404, "not_found");
    assert_problem(client_get(client, "/v1/evaluations/%s", reply_text(asked, "id")),
                   404, "not_found");
    assert_problem(client_get(client, "/v1/evaluations?model=x"), 400,
                   "invalid_argument");
    assert_problem(client_get(client, "/v1/evaluations?dataset=NO"), 400,
                   "invalid_argument");
}

static void what_is_bad_is_refused_at_its_place(void **state)
{
    struct client *client = client_of(state);
    static const struct {
        const char *body, *pointer;
    } bad[] = {
        {"{}", "/evaluation"},
        {"{'evaluation':7}", "/evaluation"},
        {"{'evaluation':'NO'}", "/evaluation"},
        {"{'evaluation':'open','epsilon':1}", "/epsilon"},
        {"{'evaluation':'open','dataset':'points'}", "/dataset"},
        {"{'evaluation':{'holdout':false,'epsilon':1}}", "/evaluation/holdout"},
        {"{'evaluation':{'holdout':true}}", "/evaluation/epsilon"},
        {"{'evaluation':{'holdout':true,'epsilon':31}}", "/evaluation/epsilon"},
        {"{'evaluation':{'holdout':true,'epsilon':1e-9}}", "/evaluation/epsilon"},
        {"{'evaluation':{'holdout':true,'epsilon':1,'error_clip':1}}",
         "/evaluation/error_clip"},
        {"{'evaluation':{'holdout':true,'epsilon':1},'dataset':'whole'}",
         "/evaluation/holdout"},
        {"{'evaluation':{'holdout':true,'epsilon':1},'dataset':'wide'}", "/dataset"},
        {"{'evaluation':'digits'}", "/evaluation"},
    };
    ready_points(client, "whole", 300, 30, SAMPLE_BUDGET(4));
    ready_digits(client, "wide", SAMPLE_TRAIN, DIVIDED);
    ready_digits(client, "digits", SAMPLE_TEST, SAMPLE_PUBLIC);
    double before = ledger_length(client);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_invalid_at(ask(client, model, bad[i].body), bad[i].pointer);
    static const struct {
        const char *body;
        int status;
        const char *code;
    } refused[] = {
        {"{'evaluation':'points'}", 409, "dataset_private"},
        {"{'evaluation':'nowhere'}", 404, "not_found"},
        {"{'evaluation':{'holdout':true,'epsilon':1},'dataset':'nowhere'}", 404,
         "not_found"},
        {"{'evaluation':{'holdout':true,'epsilon':1},'dataset':'open'}", 409,
         "dataset_public"},
        {"{'evaluation':{'holdout':true,'epsilon':20}}", 409, "budget_exhausted"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_problem(ask(client, model, refused[i].body), refused[i].status,
                       refused[i].code);
    assert_problem(
        ask(client, "mdl_01JJZ0000000000000000000AB", "{'evaluation':'open'}"), 404,
        "not_found");
    assert_true(ledger_length(client) == before);
}

/* The operator may have lowered the limit since the training. */
static void an_evaluation_beyond_the_memory_of_a_job_is_refused(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon,
                 (const char *const[]){"--job-memory-max", "999", NULL});
    double before = ledger_length(client), part = spent(client, "points", 1);
    static const char *const bodies[] = {
        "{'evaluation':'open'}", "{'evaluation':{'holdout':true,'epsilon':0.1}}"};
    for (size_t i = 0; i < 2; i++) {
        const struct reply *reply = ask(client, model, bodies[i]);
        assert_problem(reply, 400, "job_too_large");
        assert_non_null(strstr(reply_text(reply, "detail"), "999 are allowed"));
    }
    assert_true(ledger_length(client) == before && spent(client, "points", 1) == part);
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon, NULL);
    await_result(client, ask(client, model, bodies[0]));
}

static void a_deleted_model_is_not_evaluated(void **state)
{
    struct client *client = client_of(state);
    char other[64], path[96];
    const struct reply *job = train(client, TRAINED, "points", "");
    snprintf(other, sizeof other, "%s", reply_text(job, "model"));
    snprintf(path, sizeof path, "/v1/models/%s", other);
    const struct reply *done =
        await_result(client, ask(client, other, "{'evaluation':'open'}"));
    assert_true(client_delete(client, path)->status == 204);
    assert_problem(ask(client, other, "{'evaluation':'open'}"), 404, "not_found");
    /* What was shown stays on record. */
    const struct reply *kept =
        client_get(client, "/v1/evaluations/%s", reply_text(done, "id"));
    assert_status(kept, 200);
    assert_string_equal(reply_text(kept, "model"), other);
}

/* At whatever moment the kill comes, a look is charged if it was authorised, the only
 * answer is the one that was written together with its charge, and after the start
 * nothing more is measured or charged. */
static void a_kill_charges_and_measures_nothing_twice(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    double before = spent(client, "points", 1);
    for (unsigned i = 0; i < 3; i++) {
        const struct reply *made = look(client, .2);
        const struct reply *open = ask(client, model, "{'evaluation':'open'}");
        assert_status(made, 201);
        assert_status(open, 201);
        daemon_stop(&stage->daemon, SIGKILL);
        assert_int_equal(daemon_verify(&stage->daemon), 0);
        daemon_start(&stage->daemon, NULL);
        const struct reply *after =
            client_get(client, "/v1/evaluations/%s", reply_text(made, "id"));
        assert_status(after, 200);
        bool answered = json_is_object(reply_at(after, "quality"));
        assert_string_equal(reply_text(after, "state"),
                            answered ? "SUCCEEDED" : "FAILED");
        double now = spent(client, "points", 1);
        assert_true(now >= before && (!answered || now > before));
        before = now;
        assert_true(reply_number(client_get(client, "/v1/datasets/points/budget"),
                                 "parts.1.epsilon_held") == 0);
        after = client_get(client, "/v1/evaluations/%s", reply_text(open, "id"));
        assert_string_equal(reply_text(after, "state"),
                            json_is_object(reply_at(after, "scores")) ? "SUCCEEDED"
                                                                      : "FAILED");
        const struct reply *next = await_result(client, look(client, .2));
        assert_string_equal(reply_text(next, "state"), "SUCCEEDED");
        before = spent(client, "points", 1);
    }
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void a_job_without_an_evaluation_warns_before_it_is_charged(void **state)
{
    struct client *client = client_of(state);
    static const struct {
        const char *evaluation;
        bool warns;
    } jobs[] = {{"", true},
                {"'evaluation':'open',", false},
                {"'evaluation':{'holdout':true,'epsilon':0.1},", false}};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const struct reply *replies[] = {
            client_post(client, "/v1/jobs:estimate", NULL, TRAINED, "points",
                        jobs[i].evaluation),
            client_create(client, "/v1/jobs", TRAINED, "points", jobs[i].evaluation)};
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(replies[k]->status, k == 0 ? 200 : 201);
            const json_t *warnings = json_object_get(replies[k]->json, "warnings");
            assert_int_equal(json_array_size(warnings), jobs[i].warns);
            if (jobs[i].warns)
                assert_string_equal(reply_text(replies[k], "warnings.0.code"),
                                    "no_evaluation");
        }
    }
    const struct reply *open =
        client_post(client, "/v1/jobs:estimate", NULL,
                    "{'dataset':'open','model':{'preset':'linear'},"
                    "'algorithm':{'name':'sgd'},'steps':5}");
    assert_status(open, 200);
    assert_null(json_object_get(open->json, "warnings"));
}

/* Compares the score that an object of a list shows with a figure of an evaluation. */
static void assert_score(const struct reply *shown, const char *path, json_t *figure,
                         const char *evaluation)
{
    const json_t *score = reply_at(shown, path);
    if (!json_is_object(score))
        fail_msg("%s has no score", path);
    static const char *const members[] = {"value", "low", "high"};
    for (size_t i = 0; i < 3; i++)
        assert_true(json_real_value(json_object_get(score, members[i])) ==
                    json_real_value(json_object_get(figure, members[i])));
    const json_t *from = json_object_get(score, "evaluation");
    assert_true(evaluation != NULL ? strcmp(json_string_value(from), evaluation) == 0
                                   : json_is_null(from));
}

/* Every place that shows a score shows this one. */
static void assert_scores(struct client *client, const char *job, const char *trained,
                          json_t *figure, const char *evaluation)
{
    const struct reply *reply = client_get(client, "/v1/jobs/%s", job);
    assert_score(reply, "metrics.holdout", figure, evaluation);
    reply = client_get(client, "/v1/jobs?view=summary&dataset=scored&page_size=1");
    assert_score(reply, "jobs.0.metrics.holdout", figure, evaluation);
    reply = client_get(client, "/v1/models/%s", trained);
    assert_score(reply, "metrics.holdout", figure, evaluation);
    reply = client_get(client, "/v1/models?dataset=scored&page_size=1");
    assert_score(reply, "models.0.metrics.holdout", figure, evaluation);
}

static char *tag_of(struct client *client, const char *path)
{
    char tag[256];
    const struct reply *reply = client_get(client, "%s", path);
    assert_status(reply, 200);
    assert_true(reply_header(reply, "ETag", tag));
    return strdup(tag);
}

/* A job shows its own measurement until a later look at the same holdout is released;
 * looks at other holdouts and public datasets do not count, nor do looks at a model
 * that was deleted. A restart changes nothing. */
static void the_newest_look_is_the_score_that_every_list_shows(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const char *const lists[] = {"/v1/jobs?dataset=scored",
                                        "/v1/models?dataset=scored"};
    char job[64], trained[64], id[64], path[96];
    ready_points(client, "scored", 2000, 40, DIVIDED);
    const struct reply *reply = train(client, TRAINED, "scored",
                                      "'evaluation':{'holdout':true,'epsilon':0.5},");
    snprintf(job, sizeof job, "%s", reply_text(reply, "id"));
    snprintf(trained, sizeof trained, "%s", reply_text(reply, "model"));
    json_t *own = json_deep_copy(reply_at(reply, "quality.accuracy"));
    assert_scores(client, job, trained, own, NULL);
    await_result(client, ask(client, trained, "{'evaluation':'open'}"));
    await_result(client, ask(client, trained,
                             "{'dataset':'points','evaluation':{'holdout':true,"
                             "'epsilon':0.1}}"));
    assert_scores(client, job, trained, own, NULL);
    char *tags[] = {tag_of(client, lists[0]), tag_of(client, lists[1])};
    for (unsigned i = 0; i < 2; i++) {
        reply =
            await_result(client, ask(client, trained,
                                     "{'evaluation':{'holdout':true,'epsilon':0.5}}"));
        snprintf(id, sizeof id, "%s", reply_text(reply, "id"));
        json_t *figure = json_deep_copy(reply_at(reply, "quality.accuracy"));
        assert_false(json_equal(figure, own));
        assert_scores(client, job, trained, figure, id);
        if (i == 1) {
            daemon_stop(&stage->daemon, SIGTERM);
            daemon_start(&stage->daemon, NULL);
            assert_scores(client, job, trained, figure, id);
        }
        json_decref(figure);
        for (unsigned k = 0; k < 2; k++) { /* the lists have new versions */
            char *tag = tag_of(client, lists[k]);
            assert_string_not_equal(tag, tags[k]);
            free(tags[k]);
            tags[k] = tag;
        }
    }
    free(tags[0]);
    free(tags[1]);
    snprintf(path, sizeof path, "/v1/models/%s", trained);
    assert_true(client_delete(client, path)->status == 204);
    assert_score(client_get(client, "/v1/jobs/%s", job), "metrics.holdout", own, NULL);
    json_decref(own);
}

/* Reads all pages of one item, and checks that the figures are in order. Returns how
 * many there were. */
static size_t read_by_quality(struct client *client, const char *list, bool ascending,
                              char ids[][64])
{
    char path[256] = "", token[64] = "", at[96];
    double last = ascending ? -INFINITY : INFINITY;
    size_t count = 0;
    do {
        snprintf(path, sizeof path,
                 "/v1/%s?order_by=quality&order=%s&dataset=ranked&page_size=1%s%s",
                 list, ascending ? "asc" : "desc",
                 token[0] != '\0' ? "&page_token=" : "", token);
        const struct reply *page = client_get(client, "%s", path);
        assert_status(page, 200);
        snprintf(at, sizeof at, "%s.0.metrics.holdout", list);
        bool measured = json_is_object(reply_at(page, at));
        snprintf(at, sizeof at, "%s.0.metrics.%s", list,
                 measured ? "holdout.value" : "evaluation.accuracy");
        double figure = reply_number(page, at);
        assert_true(ascending ? figure >= last : figure <= last);
        last = figure;
        snprintf(at, sizeof at, "%s.0.id", list);
        snprintf(ids[count++], 64, "%s", reply_text(page, at));
        const char *next = json_string_value(reply_at(page, "next_page_token"));
        snprintf(token, sizeof token, "%s", next != NULL ? next : "");
    } while (token[0] != '\0');
    return count;
}

/* A job without a figure is not in the order. */
static void lists_are_ordered_by_the_score_page_by_page(void **state)
{
    struct client *client = client_of(state);
    static const char *const evaluations[] = {
        "'evaluation':{'holdout':true,'epsilon':0.3},", "'evaluation':'open',", "",
        "'evaluation':{'holdout':true,'epsilon':0.2},", "'evaluation':'open',", "",
    };
    char down[6][64], up[6][64], unlooked[64] = "";
    ready_points(client, "ranked", 2000, 41, DIVIDED);
    for (size_t i = 0; i < 6; i++) {
        const struct reply *job = train(client, TRAINED, "ranked", evaluations[i]);
        snprintf(unlooked, sizeof unlooked, "%s", reply_text(job, "model"));
    }
    static const char *const lists[] = {"jobs", "models"};
    for (size_t l = 0; l < 2; l++) {
        assert_int_equal(read_by_quality(client, lists[l], false, down), 4);
        assert_int_equal(read_by_quality(client, lists[l], true, up), 4);
        for (size_t i = 0; i < 4; i++) /* also if figures are equal */
            assert_string_equal(down[i], up[3 - i]);
    }
    /* A look puts a job into the order. */
    await_result(
        client, ask(client, unlooked, "{'evaluation':{'holdout':true,'epsilon':0.2}}"));
    for (size_t l = 0; l < 2; l++)
        assert_int_equal(read_by_quality(client, lists[l], false, down), 5);
    assert_problem(client_get(client, "/v1/models?order_by=epsilon"), 400,
                   "invalid_argument");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_public_dataset_costs_nothing_and_shows_what_the_job_saw),
        cmocka_unit_test(each_look_at_a_holdout_is_charged_to_it_alone),
        cmocka_unit_test(a_look_costs_what_a_job_pays_for_its_own),
        cmocka_unit_test(the_holdout_of_another_dataset_pays_for_a_look_at_it),
        cmocka_unit_test(the_ledger_and_the_audit_trail_name_the_look),
        cmocka_unit_test(the_same_key_is_the_same_look),
        cmocka_unit_test(lists_have_evaluations_and_no_statistics),
        cmocka_unit_test(the_newest_look_is_the_score_that_every_list_shows),
        cmocka_unit_test(lists_are_ordered_by_the_score_page_by_page),
        cmocka_unit_test(what_is_bad_is_refused_at_its_place),
        cmocka_unit_test(a_job_without_an_evaluation_warns_before_it_is_charged),
        cmocka_unit_test(an_evaluation_beyond_the_memory_of_a_job_is_refused),
        cmocka_unit_test(a_deleted_model_is_not_evaluated),
        cmocka_unit_test(a_kill_charges_and_measures_nothing_twice),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
