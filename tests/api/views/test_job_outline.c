/* Goal: the outline of a job equals what reading the whole job gives, or there is none.
 * Method: texts as this program writes them, with every possible member; each cut off
 * at every place, and with each of its bytes changed, compared with the strict
 * reader. */
#include "api/views/job_outline.h"

#include <math.h>
#include <stdlib.h>

#include "api/json/json_scan.h"
#include "tests/expect.h"
#include "tests/api/job_fixture.h"

static const struct job_id id = {"job_01J00000000000000000000000"};
static const struct model_id model = {"mdl_01J00000000000000000000000"};
static const struct model_id drawn = {"mdl_01J11111111111111111111111"};
static const struct evaluation_point points[] = {
    {413, 0.3125, 0.912}, {826, 1e-300, 0.9375}, {900, INFINITY, 0}};
static const char asked[] =
    "{\"dataset\":\"mnist\",\"evaluation\":{\"holdout\":true,\"epsilon\":0.5},"
    "\"model\":{\"preset\":\"linear\"},\"algorithm\":{\"name\":\"dpsgd\"},"
    "\"privacy\":{\"epsilon\":2}}";

static const char measured[] =
    "{\"part\":\"]\\\\\",\"accuracy\":{\"value\":0.5,\"low\":0.375,\"high\":0.625},"
    "\"rmse\":null,\"q\":\"}\"}";

static struct job_request request;
static struct sweep_run sweep = {
    .id = {"swp_01J00000000000000000000000"}, .run = 2, .runs = 5, .epsilon = 1.5};

static struct job_view ended(void)
{
    return (struct job_view){.id = &id,
                             .state = "SUCCEEDED",
                             .request = &request,
                             .step = 420,
                             .steps = 1172,
                             .is_private = true,
                             .noise_multiplier = 1.485,
                             .sampling_rate = 1024.0 / 60000,
                             .epsilon_planned = 1.99999,
                             .epsilon_spent = 1.0 / 3,
                             .authorised_steps = 444,
                             .ledger_seq = 17,
                             .points = points,
                             .drawn = &drawn,
                             .start_ms = 1767225601500,
                             .cancel_ms = 1767225601700,
                             .end_ms = 1767225602500};
}

static void same(const struct job_outline *a, const struct job_outline *b)
{
    assert_string_equal(a->dataset.text, b->dataset.text);
    assert_ptr_equal(a->algorithm, b->algorithm);
    assert_int_equal(a->is_measured, b->is_measured);
    assert_string_equal(a->state_reason, b->state_reason);
    assert_int_equal(a->step, b->step);
    assert_int_equal(a->authorised_steps, b->authorised_steps);
    assert_int_equal(a->ledger_seq, b->ledger_seq);
    assert_int_equal(a->measurement_seq, b->measurement_seq);
    assert_true(a->epsilon_planned == b->epsilon_planned);
    assert_true(a->epsilon_spent == b->epsilon_spent);
    assert_int_equal(a->point_count, b->point_count);
    assert_int_equal(a->released_count, b->released_count);
    assert_int_equal(a->last.step, b->last.step);
    assert_int_equal(a->score.is_known, b->score.is_known);
    assert_true(a->score.value == b->score.value && a->score.low == b->score.low &&
                a->score.high == b->score.high);
    assert_true(a->last.loss == b->last.loss && a->last.quality == b->last.quality);
    assert_int_equal(a->has_model, b->has_model);
    assert_int_equal(a->has_drawn, b->has_drawn);
    assert_int_equal(a->model_is_gone, b->model_is_gone);
    assert_string_equal(a->model.text, b->model.text);
    assert_string_equal(a->drawn.text, b->drawn.text);
    assert_int_equal(a->is_run, b->is_run);
    assert_string_equal(a->sweep.text, b->sweep.text);
    assert_int_equal(a->start_ms, b->start_ms);
    assert_int_equal(a->cancel_ms, b->cancel_ms);
    assert_int_equal(a->end_ms, b->end_ms);
}

/* Reads both texts with the strict reader. Returns false if it refuses one. */
static bool read_whole(struct job_outline *outline, const char *spec,
                       const char *detail)
{
    struct job_request read_request = {0};
    struct job_detail read = {0};
    if (job_request_restore(&read_request, spec, NULL) != ST_OK)
        return false;
    bool good = job_detail_parse(&read, detail, NULL) == ST_OK;
    if (good)
        *outline = job_outline_of(&read_request, &read);
    free(read.released);
    free(read.quality);
    job_log_fini(&read.log);
    sweep_run_fini(&read.sweep);
    job_request_fini(&read_request);
    return good;
}

static struct job_view ended_variant(int variant,
                                     const struct released_history *released)
{
    static const struct trace_context trace = {
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
    struct job_view view = ended();
    view.point_count = (size_t)variant % 4;
    view.state_reason = variant % 3 == 1 ? "user_cancel" : NULL;
    view.model = variant % 2 == 1 ? &model : NULL;
    view.model_is_gone = variant % 4 == 3;
    view.drawn = variant == 5 ? NULL : &drawn;
    view.sweep = variant >= 4 ? &sweep : NULL;
    view.released = variant == 6 ? released : NULL;
    view.released_count = variant == 6 ? 2 : 0;
    view.traceparent = variant == 7 ? trace.parent : "";
    view.quality = variant == 7 ? measured : NULL;
    view.measurement_noise = 7.5;
    view.measurement_seq = 18;
    if (variant == 2)
        view.epsilon_planned = HUGE_VAL;
    return view;
}

static void each(void (*visit)(const char *spec, const char *detail))
{
    static char settings[] = "{\"/optimizer/learning_rate\":0.5,\"/x\":\"]}\\\"\"}";
    const double norm = 0.25;
    const struct released_value value = {
        .name = "clip_norm", .numbers = &norm, .count = 1};
    struct released_history *released = released_create(&value, 1);
    released_append(released, 1, &value);
    released_append(released, 2, &value);
    sweep.settings = settings;
    for (int variant = 0; variant < 8; variant++) {
        struct job_dataset data = private_data(&images, 60000);
        data.held_out = 6000;
        data.division = (struct division){1, 9};
        must_resolve(&request, variant < 3 ? JOB : variant == 7 ? asked : SHORT, data);
        struct job_view view = ended_variant(variant, released);
        char *spec = job_request_render(&request), *detail = job_detail_render(&view);
        visit(spec, detail);
        free(detail);
        free(spec);
        job_request_fini(&request);
    }
    free(released);
}

static void is_the_same(const char *spec, const char *detail)
{
    struct job_outline whole, glance;
    assert_true(read_whole(&whole, spec, detail));
    if (!job_outline_read(&glance, spec, detail))
        fail_msg("no outline of %s and %s", spec, detail);
    same(&glance, &whole);
}

static void an_outline_is_what_reading_all_gives(void **state)
{
    (void)state;
    each(is_the_same);
}

static void the_score_is_that_of_what_was_measured(void **state)
{
    (void)state;
    struct quality_score score = quality_score_read(measured);
    assert_true(score.is_known && score.value == 0.5 && score.low == 0.375 &&
                score.high == 0.625);
    static const char *const without[] = {
        "{}", "{\"accuracy\":null,\"rmse\":null}", "",
        "{\"accuracy\":{\"value\":null,\"low\":0,\"high\":1}}",
        "{\"accuracy\":{\"value\":0.5,\"low\":0.375}}"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        assert_false(quality_score_read(without[i]).is_known);
    score = quality_score_read(
        "{\"accuracy\":null,\"rmse\":{\"value\":3,\"low\":2,\"high\":4.5}}");
    assert_true(score.is_known && score.value == 3 && score.high == 4.5);
}

static void has_none_cut_off(const char *spec, const char *detail)
{
    struct job_outline outline;
    for (size_t size = 0; size < strlen(detail); size++) {
        char *part = strndup(detail, size);
        assert_false(job_outline_read(&outline, spec, part));
        free(part);
    }
    for (size_t size = 0; size < strlen(spec); size++) {
        char *part = strndup(spec, size);
        assert_false(job_outline_read(&outline, part, detail));
        free(part);
    }
}

static void a_text_that_is_cut_off_has_no_outline(void **state)
{
    (void)state;
    each(has_none_cut_off);
}

/* If the strict reader accepts the text too, it must have read the same. */
static void is_never_another(const char *spec, const char *detail)
{
    static const char others[] = "\"\\{}[],:0159ae.- ";
    struct job_outline whole, glance;
    char *changed = strdup(detail);
    for (size_t at = 0; at < strlen(detail); at++)
        for (size_t k = 0; k < sizeof others - 1; k += 1 + at % 2) {
            changed[at] = others[k];
            if (job_outline_read(&glance, spec, changed) &&
                read_whole(&whole, spec, changed))
                same(&glance, &whole);
            changed[at] = detail[at];
        }
    free(changed);
}

static void a_changed_text_has_no_other_outline_than_it_says(void **state)
{
    (void)state;
    each(is_never_another);
}

static bool glances(const char *text)
{
    static const char *const names[] = {"a", "b"};
    struct json_span found[2];
    return json_scan(found, names, 2, json_span_of(text));
}

static void what_is_not_written_so_is_not_understood(void **state)
{
    (void)state;
    assert_true(glances("{}"));
    assert_true(glances("{\"b\":[{\"a\":\"]\\\"\"}],\"c\":null,\"a\":-1.5e+3}"));
    static const char *const not [] = {"",
                                       "{",
                                       "}",
                                       "[]",
                                       "{}}",
                                       "{\"a\":1",
                                       "{\"a\":}",
                                       "{\"a\" :1}",
                                       "{\"a\": 1}",
                                       "{\"a\":1,}",
                                       "{a:1}",
                                       "{\"a\"}",
                                       "{\"a\":1}x",
                                       "{,}",
                                       "{\"a\":1 }",
                                       "{\"a\":\"",
                                       "{\"a\":[}",
                                       "{\"a\":1,\"a\":2}",
                                       "{\"a\":\"\\\"}"};
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (glances(not [i]))
            fail_msg("understood: %s", not [i]);
}

/* Checks {"a":"xxx\"xxx","b":1} with `before` of that byte before the escape and
 * `behind` after it. */
static void check_string(size_t before, size_t behind, char byte, char escaped)
{
    static const char *const names[] = {"b"};
    char text[64], *exact;
    struct json_span found;
    size_t size = 6;
    memcpy(text, "{\"a\":\"", size);
    memset(text + size, byte, before);
    size += before;
    text[size++] = '\\';
    text[size++] = escaped;
    memset(text + size, byte, behind);
    size += behind;
    memcpy(text + size, "\",\"b\":1}", 8);
    size += 8;
    assert_true(json_scan(&found, names, 1, (struct json_span){text, size}));
    assert_ptr_equal(found.at, text + size - 2);
    assert_int_equal(found.size, 1);
    for (size_t cut = 0; cut < size; cut++) { /* no byte after it is read */
        exact = malloc(cut + 1);
        memcpy(exact, text, cut);
        assert_false(json_scan(&found, names, 1, (struct json_span){exact, cut}));
        free(exact);
    }
}

static void a_string_ends_at_its_first_quote_that_is_not_escaped(void **state)
{
    (void)state;
    static const char bytes[] = {'x',    '!',    '#',    '[',   ']',
                                 '\x01', '\xa2', '\xdc', '\xff'};
    for (size_t before = 0; before <= 17; before++)
        for (size_t behind = 0; behind <= 17; behind++)
            for (size_t i = 0; i < sizeof bytes; i++) {
                check_string(before, behind, bytes[i], '"');
                check_string(before, behind, bytes[i], '\\');
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_string_ends_at_its_first_quote_that_is_not_escaped),
        cmocka_unit_test(an_outline_is_what_reading_all_gives),
        cmocka_unit_test(the_score_is_that_of_what_was_measured),
        cmocka_unit_test(a_text_that_is_cut_off_has_no_outline),
        cmocka_unit_test(a_changed_text_has_no_other_outline_than_it_says),
        cmocka_unit_test(what_is_not_written_so_is_not_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
