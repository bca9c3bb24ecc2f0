/* Goal: an owner can recompute the budget from the answer. Method: values with
 * seventeen digits rendered, read by jansson and compared bit for bit. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>

#include "api/views/budget_view.h"

static json_t *read_text(char *text)
{
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

static double real_of(const json_t *object, const char *name)
{
    return json_real_value(json_object_get(object, name));
}

static void a_budget_shows_vectors_side_by_side(void **state)
{
    (void)state;
    static const char *const vectors[] = {"orders", "weights", "capacity", "committed",
                                          "held"};
    struct balance balance = {.epsilon = 2,
                              .delta = 1e-5,
                              .epoch = 1,
                              .weighted = {curve_order_index(10), curve_order_index(7)},
                              .weights = {0.75, 0.25},
                              .capacity = {1.0 / 3, 2.0 / 3},
                              .epsilon_spent = 0.1 + 0.2,
                              .epsilon_held = 0.7,
                              .epsilon_remaining = 1.1,
                              .fraction_remaining = 0.5};
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        balance.committed.at[i] = (double)i / 7;
    balance.held.at[CURVE_ORDERS - 1] = INFINITY;
    struct epoch only = {.number = 1, .grant = {.epsilon = 2, .delta = 1e-5}};
    assert_int_equal(filter_of(&only.filter, &only.grant, NULL), ST_OK);
    json_auto_t *root = read_text(budget_render(
        &(struct dataset_id){"mnist"},
        &(struct budget_part){PART_TRAIN, balance, {.items = &only, .count = 1}}, 1));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        assert_int_equal(json_array_size(json_object_get(root, vectors[i])),
                         CURVE_ORDERS);
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        double order =
            json_real_value(json_array_get(json_object_get(root, "orders"), i));
        double weight =
            json_real_value(json_array_get(json_object_get(root, "weights"), i));
        json_t *capacity = json_array_get(json_object_get(root, "capacity"), i);
        json_t *committed = json_array_get(json_object_get(root, "committed"), i);
        assert_true(order == curve_orders[i]);
        assert_true(weight == (order == 10 ? 0.75 : order == 7 ? 0.25 : 0));
        if (weight > 0)
            assert_true(json_real_value(capacity) == (order == 10 ? 1.0 / 3 : 2.0 / 3));
        else
            assert_true(json_is_null(capacity));
        assert_true(json_real_value(committed) == balance.committed.at[i]);
    }
    assert_true(
        json_is_null(json_array_get(json_object_get(root, "held"), CURVE_ORDERS - 1)));
    assert_true(real_of(root, "epsilon_spent") == 0.1 + 0.2);
    assert_true(real_of(root, "epsilon_held") == 0.7);
    assert_true(real_of(root, "epsilon_remaining") == 1.1);
    assert_true(real_of(root, "fraction_remaining") == 0.5);
    const json_t *share = json_object_get(root, "share"),
                 *rooms = json_object_get(root, "rooms");
    struct budget_share most = budget_share_of(&balance);
    assert_true(real_of(share, "order") == most.order);
    assert_true(real_of(share, "spent") == most.spent);
    assert_true(real_of(share, "held") == most.held);
    assert_true(real_of(share, "left") == most.left);
    assert_int_equal(json_array_size(rooms), LEDGER_WEIGHTED);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        const json_t *room = json_array_get(rooms, i);
        assert_true(real_of(room, "order") == (i == 0 ? 10 : 7));
        assert_true(real_of(room, "weight") == balance.weights[i]);
        assert_true(real_of(room, "spent") == budget_share_at(&balance, i).spent);
        assert_true(real_of(room, "held") == budget_share_at(&balance, i).held);
    }
    assert_true(real_of(root, "epsilon") == 2 && real_of(root, "delta") == 1e-5);
    assert_true(real_of(json_object_get(root, "guarantee"), "epsilon") == 2);
    assert_true(real_of(json_object_get(root, "guarantee"), "delta") == 1e-5);
    assert_true(json_is_null(json_object_get(root, "exposure")));
    assert_int_equal(json_array_size(json_object_get(root, "epochs")), 1);
    assert_true(json_is_false(json_object_get(root, "frozen")));
}

/* After a fork the known timelines are named, and the guarantee is conditional. */
static void a_forked_budget_names_its_timelines(void **state)
{
    (void)state;
    struct epoch only = {
        .number = 1, .grant = {.epsilon = 2, .delta = 1e-5}, .frozen = true};
    struct timeline other = {.name = {1}, .epoch = 1, .most = {1.05, .9}, .seen = true};
    struct epochs epochs = {
        .items = &only, .count = 1, .timelines = &other, .timeline_count = 1};
    for (int external = 0; external < 2; external++) {
        struct balance balance = {.epsilon = 2,
                                  .delta = 1e-5,
                                  .epoch = 1,
                                  .frozen = true,
                                  .timelines = 2,
                                  .external = external != 0};
        struct dataset_id id;
        assert_true(dataset_id_parse(&id, "a"));
        char *text = budget_render(
            &id, &(struct budget_part){.balance = balance, .epochs = epochs}, 1);
        json_t *root = json_loads(text, 0, NULL);
        json_t *guarantee = json_object_get(root, "guarantee");
        assert_true(real_of(guarantee, "epsilon") >= 3.05);
        assert_int_equal(json_integer_value(json_object_get(guarantee, "timelines")),
                         2);
        assert_true(json_is_true(json_object_get(root, "conditional")));
        const char *condition = json_string_value(json_object_get(root, "condition"));
        assert_non_null(strstr(condition, "timelines that are known"));
        assert_int_equal(strstr(condition, "elsewhere") != NULL, external);
        json_decref(root);
        free(text);
    }
}

/* Epoch 2 has spent nothing and promises 0.5; epoch 1, which a backup closed, had 3. */
static void a_budget_granted_anew_shows_all_that_was_promised(void **state)
{
    (void)state;
    struct balance balance = {.epsilon = 0.5, .delta = 1e-6, .epoch = 2};
    struct epoch all[2] = {
        {.number = 1, .grant = {.epsilon = 3, .delta = 1e-5}, .frozen = true},
        {.number = 2, .grant = {.epsilon = 0.5, .delta = 1e-6}}};
    for (int e = 0; e < 2; e++)
        assert_int_equal(filter_of(&all[e].filter, &all[e].grant, NULL), ST_OK);
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        all[0].committed.at[i] = balance.held.at[i] = 1e-4 * curve_orders[i];
    json_auto_t *root = read_text(budget_render(
        &(struct dataset_id){"mnist"},
        &(struct budget_part){PART_TRAIN, balance, {.items = all, .count = 2}}, 1));
    const json_t *guarantee = json_object_get(root, "guarantee"),
                 *exposure = json_object_get(root, "exposure"),
                 *epochs = json_object_get(root, "epochs");
    assert_true(real_of(guarantee, "epsilon") == 3.5);
    assert_close(real_of(guarantee, "delta"), 1.1e-5, 1e-15);
    assert_true(real_of(exposure, "epsilon_spent") == 3);
    assert_true(real_of(exposure, "epsilon_held") > 0);
    assert_true(real_of(exposure, "epsilon_held") <= 0.5);
    assert_true(real_of(exposure, "delta") == real_of(guarantee, "delta"));
    assert_true(real_of(json_array_get(epochs, 0), "epsilon") == 3);
    assert_true(real_of(json_array_get(epochs, 0), "epsilon_spent") > 0);
    assert_true(json_is_true(json_object_get(json_array_get(epochs, 0), "frozen")));
    assert_true(real_of(json_array_get(epochs, 1), "epsilon") == 0.5);
    assert_true(real_of(json_array_get(epochs, 1), "epsilon_spent") == 0);
}

static const char meta[] = "{\"grid\":\"g1\",\"steps\":3,\"mechanism\":{\"runs\":"
                           "[[0.017066666666666667,1.4850000000000001,3]]}}";

static struct ledger_row entry(const double *curve)
{
    struct ledger_row row = {.seq = 17,
                             .dataset = "mnist",
                             .epoch = 1,
                             .job = "job_01J00000000000000000000000",
                             .kind = "RESERVE",
                             .curve = (const uint8_t *)curve,
                             .curve_size = CURVE_ORDERS * sizeof *curve,
                             .meta = meta,
                             .actor = "local",
                             .time_ms = 1767225600999,
                             .hash = {0xab}};
    return row;
}

static void an_entry_keeps_its_bits_and_its_canonical_text(void **state)
{
    (void)state;
    double curve[CURVE_ORDERS];
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        curve[i] = (double)i / 11;
    curve[7] = INFINITY;
    struct ledger_row row = entry(curve);
    char *text = ledger_entry_render(&row);
    assert_non_null(strstr(text, meta));
    json_auto_t *root = read_text(text);
    json_t *shown = json_object_get(root, "curve");
    assert_int_equal(json_array_size(shown), CURVE_ORDERS);
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        json_t *value = json_array_get(shown, i);
        assert_true(i == 7 ? json_is_null(value) : json_real_value(value) == curve[i]);
    }
    assert_true(json_is_null(json_object_get(root, "released")));
    assert_int_equal(json_integer_value(json_object_get(root, "seq")), 17);
    assert_memory_equal(json_string_value(json_object_get(root, "hash")), "ab0000", 6);
    assert_string_equal(json_string_value(json_object_get(root, "time")),
                        "2026-01-01T00:00:00Z");
}

static void a_grant_has_no_job_and_a_commit_its_released_part(void **state)
{
    (void)state;
    double curve[CURVE_ORDERS] = {0.5};
    struct ledger_row row = entry(curve);
    row.job = "";
    row.released = row.curve;
    json_auto_t *root = read_text(ledger_entry_render(&row));
    assert_true(json_is_null(json_object_get(root, "job")));
    json_t *first = json_array_get(json_object_get(root, "released"), 0);
    assert_true(json_real_value(first) == 0.5);
}

/* The figures of a summary: a grant shows its own epsilon, and a charge what it
 * converts to by itself. */
static void a_summary_has_figures_and_no_vectors(void **state)
{
    (void)state;
    struct epoch all[2] = {{.number = 1, .grant = {.epsilon = 3, .delta = 1e-5}},
                           {.number = 2, .grant = {.epsilon = 0.5, .delta = 1e-6}}};
    const struct epochs epochs = {.items = all, .count = 2};
    struct curve curve = {0};
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        curve.at[i] = 0.01 * curve_orders[i];
    struct ledger_row row = entry(curve.at);
    row.epoch = 2;
    char *text = ledger_summary_render(&row, &epochs);
    assert_null(strstr(text, "curve"));
    assert_null(strstr(text, "meta"));
    json_auto_t *reserve = read_text(text);
    assert_int_equal(json_object_size(reserve), 9);
    assert_true(json_is_null(json_object_get(reserve, "external")));
    assert_int_equal(json_integer_value(json_object_get(reserve, "seq")), 17);
    assert_string_equal(json_string_value(json_object_get(reserve, "job")), row.job);
    double least = INFINITY;
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        double a = curve_orders[i];
        least = fmin(least, 0.01 * a + log(1 - 1 / a) - (log(1e-6) + log(a)) / (a - 1));
    }
    assert_close(real_of(reserve, "epsilon"), least, 1e-6);
    row.epoch = 3;
    json_auto_t *unknown = read_text(ledger_summary_render(&row, &epochs));
    assert_true(json_is_null(json_object_get(unknown, "epsilon")));
}

/* The grant may have been replaced since: the summary shows the grant's figure, not the
 * epoch's. */
static void the_summary_of_a_grant_is_of_that_grant(void **state)
{
    (void)state;
    struct epoch last = {.number = 1, .grant = {.epsilon = 3, .delta = 1e-5}};
    const struct epochs epochs = {.items = &last, .count = 1};
    const struct grant granted = {RELATION_ZERO_OUT,   1.25, 1e-5, 0, {0, 0},
                                  PRIVACY_UNIT_RECORD, 0};
    struct filter filter;
    struct curve capacity = {0};
    assert_int_equal(filter_of(&filter, &granted, NULL), ST_OK);
    entry_capacity(&capacity, &filter);
    for (uint64_t replaces = 0; replaces <= 12; replaces += 12) {
        struct ledger_row row = entry(capacity.at);
        char *text = entry_grant_render(&granted, &filter, NULL, replaces);
        row.kind = "GRANT";
        row.job = "";
        row.meta = text;
        json_auto_t *grant = read_text(ledger_summary_render(&row, &epochs));
        assert_true(real_of(grant, "epsilon") == 1.25);
        assert_true(json_is_null(json_object_get(grant, "job")));
        const json_t *named = json_object_get(grant, "replaces");
        assert_int_equal(named != NULL, replaces != 0);
        assert_int_equal(json_integer_value(named), replaces);
        row.meta = "{}";
        json_auto_t *damaged = read_text(ledger_summary_render(&row, &epochs));
        assert_true(json_is_null(json_object_get(damaged, "epsilon")));
        free(text);
    }
}

static void a_history_is_its_points(void **state)
{
    (void)state;
    struct budget_point points[2] = {
        {.seq = 3, .epoch = 1, .time_ms = 1767225600000, .kind = "GRANT"},
        {.seq = 9,
         .epoch = 2,
         .epochs = 2,
         .kind = "COMMIT",
         .job = {"job_01J00000000000000000000000"},
         .epsilon_spent = 0.1 + 0.2,
         .exposure = {2.25, 1e-5},
         .share = {10, 0.75, 0.5, 0.125, 0.375}}};
    json_auto_t *root = read_text(budget_history_render(
        &(struct dataset_id){"mnist"}, &(struct budget_history){12, 2, points}));
    assert_string_equal(json_string_value(json_object_get(root, "dataset")), "mnist");
    assert_int_equal(json_integer_value(json_object_get(root, "entries")), 12);
    const json_t *first = json_array_get(json_object_get(root, "points"), 0),
                 *second = json_array_get(json_object_get(root, "points"), 1);
    assert_true(json_is_null(json_object_get(first, "job")));
    assert_true(json_is_null(json_object_get(first, "exposure")));
    assert_string_equal(json_string_value(json_object_get(first, "time")),
                        "2026-01-01T00:00:00Z");
    assert_string_equal(json_string_value(json_object_get(second, "job")),
                        points[1].job.text);
    assert_true(real_of(second, "epsilon_spent") == 0.1 + 0.2);
    assert_true(real_of(json_object_get(second, "exposure"), "epsilon_spent") == 2.25);
    const json_t *share = json_object_get(second, "share");
    assert_true(real_of(share, "order") == 10 && real_of(share, "left") == 0.375);
}

static void the_head_is_seq_and_hash(void **state)
{
    (void)state;
    struct ledger_entry_name head = {.seq = 3, .hash = {1, 2}};
    char *text = ledger_head_render(&head);
    assert_string_equal(text,
                        "{\"seq\":3,\"hash\":\"0102000000000000000000000000000000000"
                        "000000000000000000000000000\"}");
    free(text);
}

static void an_estimate_answers_in_words(void **state)
{
    (void)state;
    static const char *const words[] = {
        [FITS_YES] = "yes", [FITS_HELD] = "held", [FITS_NO] = "no"};
    for (int fits = FITS_YES; fits <= FITS_NO; fits++) {
        struct estimate_view view = {.fits = (enum ledger_fits)fits,
                                     .is_private = true,
                                     .epsilon_planned = 1.0 / 3,
                                     .order = 7.25,
                                     .delta = 1e-5,
                                     .noise_multiplier = 1.5,
                                     .sampling_rate = 0.25,
                                     .steps = 12,
                                     .batch_size = 4,
                                     .parameters = 100,
                                     .memory = 4096,
                                     .paper_claim = 0.125,
                                     .largest_epsilon = INFINITY,
                                     .has_most_steps = true,
                                     .most_steps = 99};
        json_auto_t *root = read_text(estimate_render(&view));
        assert_string_equal(json_string_value(json_object_get(root, "fits")),
                            words[fits]);
        assert_true(real_of(root, "epsilon_planned") == 1.0 / 3);
        assert_true(real_of(root, "order") == 7.25);
        assert_true(real_of(root, "paper_claim") == 0.125);
        assert_true(json_is_null(json_object_get(root, "seconds")));
        assert_true(json_is_null(json_object_get(root, "largest_epsilon")));
        assert_int_equal(json_integer_value(json_object_get(root, "most_steps")), 99);
    }
}

/* The charge is half of what is left at order 10, and more than what is left at order
 * 7. */
static struct outlook outlook_of(void)
{
    struct outlook outlook = {
        .fits = FITS_YES,
        .times = 2,
        .balance = {.epoch = 1,
                    .weighted = {curve_order_index(10), curve_order_index(7)},
                    .weights = {0.75, 0.25},
                    .capacity = {1, 2}},
        .epsilon_after = 0.1 + 0.2,
        .exposure_after = {2.5, 1.5e-5}};
    outlook.balance.committed.at[curve_order_index(10)] = 0.25;
    outlook.balance.held.at[curve_order_index(10)] = 0.25;
    outlook.balance.committed.at[curve_order_index(7)] = 1.5;
    outlook.charge.at[curve_order_index(10)] = 0.25;
    outlook.charge.at[curve_order_index(7)] = 0.75;
    return outlook;
}

static void an_estimate_says_whether_ranks_pay(void **state)
{
    (void)state;
    static const double shares[] = {0.93, 0.5, 0.49};
    struct estimate_view view = {.fits = FITS_YES};
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
        view.ranks = (struct ranks_view){4, shares[k]};
        json_auto_t *root = read_text(estimate_render(&view));
        json_t *ranks = json_object_get(root, "ranks");
        assert_int_equal(json_integer_value(json_object_get(ranks, "count")), 4);
        assert_true(json_real_value(json_object_get(ranks, "efficiency")) == shares[k]);
        assert_true(json_is_true(json_object_get(ranks, "pays")) == (k < 2));
    }
    view.ranks = (struct ranks_view){1, 1};
    json_auto_t *alone = read_text(estimate_render(&view));
    assert_true(json_is_null(json_object_get(alone, "ranks")));
}

static void an_estimate_shows_the_budget_beside_the_job_and_after_it(void **state)
{
    (void)state;
    struct outlook outlook = outlook_of();
    struct estimate_view view = {
        .fits = FITS_YES, .is_private = true, .outlook = &outlook};
    json_auto_t *root = read_text(estimate_render(&view));
    const json_t *share = json_object_get(root, "share"),
                 *room = json_array_get(json_object_get(root, "rooms"), 1);
    assert_true(real_of(share, "order") == 10 && real_of(share, "spent") == 0.25);
    assert_true(real_of(share, "held") == 0.25 && real_of(share, "left") == 0.5);
    assert_true(real_of(share, "asked") == 0.25);
    assert_true(json_is_true(json_object_get(share, "fits")));
    assert_true(real_of(room, "order") == 7 && real_of(room, "weight") == 0.25);
    assert_true(real_of(room, "spent") == 0.75 && real_of(room, "held") == 0);
    assert_true(real_of(room, "asked") == 0.375);
    assert_true(real_of(root, "epsilon_after") == 0.1 + 0.2);
    assert_true(json_is_null(json_object_get(root, "exposure_after")));
    assert_int_equal(json_integer_value(json_object_get(root, "jobs_like_this")), 2);
}

static void an_estimate_of_a_budget_granted_anew_is_over_all_epochs(void **state)
{
    (void)state;
    struct outlook outlook = outlook_of();
    struct estimate_view view = {.is_private = true, .outlook = &outlook};
    outlook.balance.closed = 1;
    json_auto_t *taken = read_text(estimate_render(&view));
    const json_t *exposure = json_object_get(taken, "exposure_after");
    assert_true(real_of(exposure, "epsilon") == 2.5);
    assert_true(real_of(exposure, "delta") == 1.5e-5);
    outlook.fits = FITS_HELD;
    json_auto_t *refused = read_text(estimate_render(&view));
    assert_true(json_is_null(json_object_get(refused, "exposure_after")));
}

static void an_estimate_of_public_training_has_no_figures_of_privacy(void **state)
{
    (void)state;
    struct estimate_view view = {.fits = FITS_YES, .steps = 12, .batch_size = 4};
    json_auto_t *root = read_text(estimate_render(&view));
    static const char *const names[] = {
        "epsilon_planned", "delta",         "order",          "noise_multiplier",
        "largest_epsilon", "most_steps",    "paper_claim",    "share",
        "rooms",           "epsilon_after", "exposure_after", "jobs_like_this"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(json_is_null(json_object_get(root, names[i])));
    assert_int_equal(json_integer_value(json_object_get(root, "steps")), 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_budget_shows_vectors_side_by_side),
        cmocka_unit_test(a_budget_granted_anew_shows_all_that_was_promised),
        cmocka_unit_test(a_forked_budget_names_its_timelines),
        cmocka_unit_test(an_entry_keeps_its_bits_and_its_canonical_text),
        cmocka_unit_test(a_grant_has_no_job_and_a_commit_its_released_part),
        cmocka_unit_test(a_summary_has_figures_and_no_vectors),
        cmocka_unit_test(the_summary_of_a_grant_is_of_that_grant),
        cmocka_unit_test(a_history_is_its_points),
        cmocka_unit_test(the_head_is_seq_and_hash),
        cmocka_unit_test(an_estimate_answers_in_words),
        cmocka_unit_test(an_estimate_says_whether_ranks_pay),
        cmocka_unit_test(an_estimate_shows_the_budget_beside_the_job_and_after_it),
        cmocka_unit_test(an_estimate_of_a_budget_granted_anew_is_over_all_epochs),
        cmocka_unit_test(an_estimate_of_public_training_has_no_figures_of_privacy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
