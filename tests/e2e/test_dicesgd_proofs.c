/* Goal: DiceSGD through HTTP: each sound accountant trains the digits and is charged
 * what was planned; a case without a proof is refused with advice on what to do
 * instead; the error that the algorithm keeps never leaves it. */
#include <string.h>
#include <sys/types.h>
#include <fts.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static const struct reply *train_dicesgd(struct client *client, const char *algorithm,
                                         const char *noise)
{
    const struct reply *job = train(
        client,
        "{'dataset':'digits','evaluation':'digits-test','model':{'preset':'linear'},"
        "'algorithm':%s,'optimizer':{'name':'sgd','learning_rate':1.0},"
        "'batch_size':256,'epochs':10,'privacy':%s}",
        algorithm, noise);
    assert_true(reply_number(job, "privacy.epsilon_spent") ==
                reply_number(job, "privacy.epsilon_planned"));
    return job;
}

static void each_sound_accountant_trains_and_is_charged(void **state)
{
    static const char *const asked[] = {
        "{'name':'dicesgd'}",
        "{'name':'dicesgd','accountant':'m2','pre_clip_norm':1.5}",
        "{'name':'dicesgd','accountant':'m3','batches':'poisson'}"};
    struct client *client = &((struct stage *)*state)->client;
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        const struct reply *job =
            train_dicesgd(client, asked[k], "{'noise_multiplier':10}");
        assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.5);
    }
    /* m1 charges for the largest error possible: it allows little error and needs much
     * noise. */
    train_dicesgd(client,
                  "{'name':'dicesgd','accountant':'m1','pre_clip_norm':0,"
                  "'error_clip_norm':0.004}",
                  "{'noise_multiplier':30}");
}

static void the_defaults_meet_a_target_epsilon(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_dicesgd(client, "{'name':'dicesgd'}", "{'epsilon':4}");
    assert_true(reply_number(job, "privacy.epsilon_spent") <= 4);
    assert_true(reply_number(job, "privacy.epsilon_spent") > 3.99);
    assert_string_equal(reply_text(job, "algorithm.accountant"), "m2r");
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.5);
}

static void the_paper_s_noise_is_shown_as_a_claim(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *asked =
        client_post(client, "/v1/jobs:estimate", NULL,
                    "{'dataset':'digits','model':{'preset':'linear'},'algorithm':{'"
                    "name':'dicesgd'},"
                    "'batch_size':256,'epochs':10,'privacy':{'noise_multiplier':10}}");
    assert_status(asked, 200);
    assert_true(reply_number(asked, "paper_claim") > 0);
    assert_true(reply_number(asked, "noise_multiplier") == 10);
}

static void assert_refused(struct client *client, const char *algorithm,
                           const char *pointer, const char *advice)
{
    const struct reply *reply =
        client_create(client, "/v1/jobs",
                      "{'dataset':'digits','model':{'preset':'linear'},'algorithm':%s,"
                      "'batch_size':256,'steps':10,"
                      "'privacy':{'noise_multiplier':20}}",
                      algorithm);
    assert_invalid_at(reply, pointer);
    assert_non_null(strstr(reply_text(reply, "detail"), advice));
}

static void what_has_no_proof_is_refused_with_what_to_do(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_refused(client, "{'name':'dicesgd','accountant':'paper_claim'}",
                   "/algorithm/accountant", "choose m2r");
    assert_refused(client, "{'name':'dicesgd','accountant':'m2','batches':'poisson'}",
                   "/algorithm/batches", "partition");
    assert_refused(client, "{'name':'dicesgd','accountant':'m3'}", "/algorithm/batches",
                   "poisson");
    assert_refused(client, "{'name':'dicesgd','pre_clip_norm':0.5}",
                   "/algorithm/pre_clip_norm", "above clip_norm");
    assert_refused(client, "{'name':'dicesgd','clip_norm':0}", "/algorithm/clip_norm",
                   "");
}

static const struct reply *cancel_early(struct client *client, const char *accountant,
                                        const char *batches)
{
    const char *job = submit(client,
                             "{'dataset':'digits','model':{'preset':'mlp','hidden':"
                             "[256]},'algorithm':{'name':'dicesgd','accountant':'%s',"
                             "'batches':'%s'},'batch_size':1000,'steps':4000,"
                             "'privacy':{'noise_multiplier':1000}}",
                             accountant, batches);
    await_training(client, job);
    cancel(client, job);
    const struct reply *end = await_end(client, job);
    assert_string_equal(reply_text(end, "state"), "CANCELLED");
    return end;
}

/* m2r holds for every prefix, counted in begun epochs; m3 only for the whole run. */
static void a_cancelled_job_pays_what_its_proof_covers(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *end = cancel_early(client, "m2r", "partition");
    double spent = reply_number(end, "privacy.epsilon_spent");
    assert_true(spent > 0);
    assert_true(spent < 0.9 * reply_number(end, "privacy.epsilon_planned"));
    end = cancel_early(client, "m3", "poisson");
    assert_true(reply_number(end, "privacy.epsilon_spent") ==
                reply_number(end, "privacy.epsilon_planned"));
}

/* --- where the error's bytes must not be --- */

enum { ALIKE = 64, TELLING = 60 }; /* 50 numbers of a ledger's curve may be equal */

/* Records whose 64 features all have the same value, as text of four bytes a feature.
 * The gradient of a linear model then has 64 equal coordinates, and so has the error.
 * The daemon keeps the error as 64-bit integers, so it is one such integer 64 times. */
static void ready_alike(struct client *client)
{
    enum { ROWS = 200 };
    char columns[ALIKE * 64], *end = columns;
    for (unsigned i = 0; i < ALIKE; i++)
        end += sprintf(end, "{'name':'p%u','kind':'numeric','range':[-1,1]},", i);
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'alike','format':'csv','task':'classification',"
                      "'classes':2,'header':false,'columns':[%s{'name':'is',"
                      "'kind':'label','values':['no','yes']}],'privacy':" SAMPLE_BUDGET(
                          30) SAMPLE_CONFIRMED "}",
                      columns),
        201);
    char *text = calloc(ROWS, ALIKE * 4 + 8);
    assert_non_null(text);
    end = text;
    for (unsigned row = 0; row < ROWS; row++) {
        for (unsigned i = 0; i < ALIKE; i++)
            end += sprintf(end, "0.%u,", 1 + row % 9);
        end += sprintf(end, row % 3 == 0 ? "no\n" : "yes\n");
    }
    assert_status(
        client_put(client, "/v1/datasets/alike/files/data", text, strlen(text)), 204);
    free(text);
    assert_status(client_act(client, "/v1/datasets/alike:import"), 200);
}

/* Returns whether a file contains one 64-bit number TELLING times in a row. Its halves
 * must differ: a 32-bit number that repeats belongs to the data. */
static bool tells(const char *path)
{
    FILE *file = fopen(path, "rb");
    unsigned char last[8] = {0}; /* the eight bytes before, by position */
    size_t same = 0;
    bool found = false;
    if (file == NULL) /* it may have been deleted since it was listed */
        return false;
    for (size_t at = 0; !found; at++) {
        int byte = getc(file);
        if (byte == EOF)
            break;
        same = byte == last[at % 8] ? same + 1 : 0;
        last[at % 8] = (unsigned char)byte;
        found = same >= 8 * (TELLING - 1) && memcmp(last, last + 4, 4) != 0;
    }
    fclose(file);
    return found;
}

static void search(char *directory, unsigned expected)
{
    char *roots[] = {directory, NULL};
    unsigned files = 0, telling = 0;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    assert_non_null(tree);
    for (FTSENT *entry = fts_read(tree); entry != NULL; entry = fts_read(tree))
        if (entry->fts_info == FTS_F) {
            files++;
            telling += tells(entry->fts_path);
        }
    fts_close(tree);
    assert_true(files > 3);
    assert_int_equal(telling, expected);
}

#define ALIKE_JOB                                                                      \
    "{'dataset':'alike','model':{'preset':'linear'},'algorithm':{'name':'dicesgd',"    \
    "'accountant':'%s','clip_norm':0.1,'pre_clip_norm':0.2},'batch_size':50,"          \
    "'steps':%d,'privacy':{'noise_multiplier':%g}}"

/* Searches the database, its log, blobs and models while a job runs and after it ended,
 * and checks that the search would find the error if it were there. */
static void no_file_holds_the_error(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char *directory = stage->daemon.directory;
    ready_alike(client);
    const char *job = submit(client, ALIKE_JOB, "m2r", 20000, 1e4);
    await_step(client, job, 5000);
    search(directory, 0);
    cancel(client, job);
    await_end(client, job);
    const struct reply *done = train(client, ALIKE_JOB, "m2", 500, 1e3);
    search(directory, 0);
    const struct reply *model =
        client_get(client, "/v1/models/%s/content", reply_text(done, "model"));
    assert_status(model, 200);
    char path[160];
    snprintf(path, sizeof path, "%s/planted", directory);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("odd", file); /* shifts the position */
    for (unsigned i = 0; i < ALIKE; i++)
        fwrite(&(int64_t){-987654321012}, 8, 1, file);
    fclose(file);
    search(directory, 1);
}

static int begin(void **state)
{
    return stage_begin_digits(state, SAMPLE_BUDGET(30) SAMPLE_CONFIRMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sound_accountant_trains_and_is_charged),
        cmocka_unit_test(the_defaults_meet_a_target_epsilon),
        cmocka_unit_test(the_paper_s_noise_is_shown_as_a_claim),
        cmocka_unit_test(what_has_no_proof_is_refused_with_what_to_do),
        cmocka_unit_test(a_cancelled_job_pays_what_its_proof_covers),
        cmocka_unit_test(no_file_holds_the_error),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
