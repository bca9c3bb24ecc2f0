/* Goal: discoveries use no more of delta than the grant sets aside, and everything else
 * pays for what is set aside: the capacities are those of the rest. Method: lives in
 * a file and on a real PostgreSQL, with restarts and seals, and `verify` at each end;
 * capacities by the formula. */
#include "accountant/audit/verify.h"

#include <math.h>

#include "accountant/ledger/ledger_seal.h"
#include "accountant/pricing/odometer.h"
#include "tests/expect.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/accountant/discovery_fixture.h"
#include "tests/store/place_fixture.h"
#include "tests/store/postgres_store_fixture.h"

static const double set_aside = 3e-6;

static struct postgres_server server; /* without a folder: none is installed */

struct scene {
    struct place place;
    struct kit kit;
};

static struct scene make_scene(bool on_server)
{
    struct scene scene = {.place = place_make()};
    const struct postgres_database database =
        on_server ? postgres_schema(&server) : (struct postgres_database){0};
    scene.kit =
        on_server ? kit_take(postgres_store(&database)) : kit_open(scene.place.path);
    assert_int_equal(discovery_grant(&scene.kit, "a", &discovery_granted), ST_OK);
    return scene;
}

static void expect_verified(struct scene *scene)
{
    struct verify_report report;
    struct error error = {0};
    if (verify_store(scene->kit.store, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
}

static void end_scene(struct scene *scene)
{
    expect_verified(scene);
    kit_close(&scene->kit);
    place_remove(&scene->place);
}

static void capacities_are_those_of_the_rest_of_delta(void **state)
{
    (void)state;
    struct filter filter, rest;
    struct grant other = discovery_granted;
    assert_int_equal(filter_of(&filter, &discovery_granted, NULL), ST_OK);
    other.discovery_delta = 0;
    other.delta = discovery_granted.delta - set_aside;
    assert_int_equal(filter_of(&rest, &other, NULL), ST_OK);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        double a = curve_orders[filter.weighted[i]];
        double c = pow(1 - 1 / a, a - 1) / a;
        double b = 4 - log(c / (filter.weights[i] * (7e-6 - 0x1p-40))) / (a - 1);
        assert_close(filter.capacity[i], b, 1e-9);
        assert_close(filter.capacity[i], rest.capacity[i], 1e-9);
    }
    assert_true(filter.delta_capacity <= set_aside &&
                filter.delta_capacity > set_aside - 0x1p-52);
    assert_true(rest.delta_capacity == 0);
}

static void a_grant_must_leave_some_of_delta(void **state)
{
    (void)state;
    static const double bad[] = {-1e-9, 1e-5, 2e-5, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct filter filter;
        struct error error = {0};
        struct grant grant = discovery_granted;
        grant.discovery_delta = bad[i];
        assert_int_equal(filter_of(&filter, &grant, &error), ST_INVALID);
        assert_string_equal(error.pointer, "/privacy/discovery_delta");
    }
}

static void without_a_share_of_delta_there_is_no_discovery(void **state)
{
    (void)state;
    struct scene scene = make_scene(false);
    assert_int_equal(kit_grant(&scene.kit, "b", 4, 1e-5, 0), ST_OK);
    struct mechanism m = discovery_of(40, 1e-9);
    struct dataset_id dataset = kit_dataset("b");
    struct job_id job = kit_job(1);
    const struct ledger_claim claim = {&dataset,         &job,          &m,
                                       &principal_local, PARTS_UNNAMED, NULL};
    struct ledger_entry_name entry;
    struct error error = {0};
    struct store_tx *tx = kit_begin(&scene.kit);
    assert_int_equal(ledger_reserve(scene.kit.ledger, tx, &claim, &entry, &error),
                     ST_INVALID);
    assert_non_null(strstr(error.text, "discovery_delta"));
    store_rollback(tx);
    mechanism_fini(&m);
    /* One that needs more than all that is set aside can never fit. */
    assert_int_equal(discovery_reserve(&scene.kit, "a", 2, 40, 4e-6), ST_INVALID);
    assert_true(kit_balance(&scene.kit, "b").held.delta == 0);
    end_scene(&scene);
}

static void check_sums(struct scene scene)
{
    struct dataset_id dataset = kit_dataset("a");
    struct mechanism third = discovery_of(100, 1e-6);
    struct outlook outlook;
    assert_int_equal(outlook_of(&scene.kit, &dataset, &third, 100, &outlook), ST_OK);
    assert_true(outlook.fits == FITS_YES && outlook.times == 3);
    assert_close(outlook.charge.delta, 1e-6, 1e-9);
    for (unsigned job = 1; job <= 3; job++)
        assert_int_equal(discovery_reserve(&scene.kit, "a", job, 100, 1e-6), ST_OK);
    /* What the first holds is in the way until it ends without having begun. */
    assert_int_equal(discovery_reserve(&scene.kit, "a", 4, 100, 1e-6), ST_BUDGET_HELD);
    assert_int_equal(kit_settle(&scene.kit, 1), ST_OK);
    assert_int_equal(discovery_reserve(&scene.kit, "a", 5, 100, 1e-6), ST_OK);
    for (unsigned job = 2; job <= 5; job += job == 3 ? 2 : 1) {
        assert_int_equal(kit_authorise(&scene.kit, job, 1), ST_OK);
        assert_int_equal(kit_settle(&scene.kit, job), ST_OK);
    }
    assert_int_equal(discovery_reserve(&scene.kit, "a", 6, 100, 1e-6),
                     ST_BUDGET_EXHAUSTED);
    assert_int_equal(outlook_of(&scene.kit, &dataset, &third, 100, &outlook), ST_OK);
    assert_true(outlook.fits == FITS_NO && outlook.times == 0);
    /* Everything else has its own share of delta, and still fits. */
    assert_int_equal(kit_reserve(&scene.kit, "a", 7, 23.85, 10), ST_OK);
    mechanism_fini(&third);
    end_scene(&scene);
}

static void deltas_add_up_to_what_is_set_aside_and_no_further(void **state)
{
    (void)state;
    check_sums(make_scene(false));
    if (server.folder[0] != '\0')
        check_sums(make_scene(true));
}

/* The sum is exact: three thirds of a whole number of units fill it to the last bit. */
static void the_last_bit_of_the_share_can_be_used(void **state)
{
    (void)state;
    struct grant whole = discovery_granted;
    whole.discovery_delta = 3 * 0x1p-20;
    struct scene scene = {.place = place_make()};
    scene.kit = kit_open(scene.place.path);
    assert_int_equal(discovery_grant(&scene.kit, "a", &whole), ST_OK);
    for (unsigned job = 1; job <= 3; job++)
        assert_int_equal(discovery_reserve(&scene.kit, "a", job, 100, 0x1p-20), ST_OK);
    assert_true(kit_balance(&scene.kit, "a").held.delta == 3 * 0x1p-20);
    assert_int_equal(discovery_reserve(&scene.kit, "a", 4, 100, 0x1p-53),
                     ST_BUDGET_HELD);
    end_scene(&scene);
}

/* A restart, and accounts of which only sums are left, have the same deltas. */
static void check_restarts(struct scene scene)
{
    assert_int_equal(discovery_reserve(&scene.kit, "a", 1, 100, 1e-6), ST_OK);
    assert_int_equal(kit_authorise(&scene.kit, 1, 1), ST_OK);
    assert_int_equal(discovery_reserve(&scene.kit, "a", 2, 100, 5e-7), ST_OK);
    kit_reopen_ledger(&scene.kit);
    discovery_expect(&scene.kit, "a", 0, 1.5e-6);
    assert_int_equal(kit_settle(&scene.kit, 1), ST_OK);
    kit_reopen_ledger(&scene.kit);
    discovery_expect(&scene.kit, "a", 1e-6, 5e-7);
    const struct balance before = kit_balance(&scene.kit, "a");
    struct place archive = place_make();
    struct seal seal;
    bool any = false;
    assert_int_equal(ledger_seal(scene.kit.ledger, archive.folder, &seal, &any, NULL),
                     ST_OK);
    assert_true(any);
    expect_verified(&scene);
    kit_reopen_ledger(&scene.kit);
    const struct balance after = kit_balance(&scene.kit, "a");
    assert_same_balance(&before, &after);
    assert_int_equal(kit_authorise(&scene.kit, 2, 1), ST_OK);
    assert_int_equal(kit_settle(&scene.kit, 2), ST_OK);
    discovery_expect(&scene.kit, "a", 1.5e-6, 0);
    assert_int_equal(discovery_reserve(&scene.kit, "a", 3, 100, 2e-6),
                     ST_BUDGET_EXHAUSTED);
    place_remove(&archive);
    end_scene(&scene);
}

static void deltas_survive_restarts_and_seals(void **state)
{
    (void)state;
    check_restarts(make_scene(false));
    if (server.folder[0] != '\0')
        check_restarts(make_scene(true));
}

/* Epochs that are joined share the delta of their curves; each adds what it has set
 * aside. A timeline may have used all of it. */
static void epochs_add_what_they_set_aside(void **state)
{
    (void)state;
    struct epoch epoch = {.number = 1, .grant = discovery_granted};
    struct epochs epochs = {0};
    assert_int_equal(filter_of(&epoch.filter, &epoch.grant, NULL), ST_OK);
    epochs_append(&epochs, &epoch);
    assert_true(odometer_guarantee(&epochs).delta == 1e-5);
    epochs.items[0].frozen = true;
    epoch.number = 2;
    epochs_append(&epochs, &epoch);
    assert_close(odometer_guarantee(&epochs).delta, 1e-5 + set_aside, 1e-9);
    const struct timeline timeline = {.epoch = 1, .name = {7}, .seen = true};
    epochs_add_timeline(&epochs, &timeline);
    assert_close(odometer_guarantee(&epochs).delta, 1e-5 + 2 * set_aside, 1e-9);
    /* One that sets another part aside is not joined: all of its delta counts. */
    epoch.grant.discovery_delta = 1e-6;
    assert_int_equal(filter_of(&epoch.filter, &epoch.grant, NULL), ST_OK);
    epochs.items[1] = epoch;
    epochs.items[1].number = 2;
    assert_close(odometer_guarantee(&epochs).delta, 2e-5 + set_aside, 1e-9);
    epochs_fini(&epochs);
}

static struct ledger_row row_of(const char *kind, const uint8_t *bytes, size_t size,
                                const char *meta)
{
    return (struct ledger_row){
        .job = "", .kind = kind, .curve = bytes, .curve_size = size, .meta = meta};
}

/* A GRANT that sets nothing aside has the bytes that it always had. */
static void an_entry_has_a_delta_only_if_it_is_used(void **state)
{
    (void)state;
    for (int sets_aside = 0; sets_aside <= 1; sets_aside++) {
        uint8_t bytes[ENTRY_COST_SIZE] = {0};
        struct filter filter, read;
        struct curve capacity;
        struct grant given = discovery_granted, back;
        given.discovery_delta = sets_aside ? 3e-6 : 0;
        assert_int_equal(filter_of(&filter, &given, NULL), ST_OK);
        entry_capacity(&capacity, &filter);
        size_t size = entry_cost_encode(bytes, &capacity, sets_aside);
        assert_int_equal(size, sets_aside ? 408 : 400);
        char *meta = entry_grant_render(&given, &filter, NULL, 0);
        assert_true((strstr(meta, "\"discovery_delta\":") != NULL) == sets_aside);
        struct ledger_row row = row_of("GRANT", bytes, size, meta);
        assert_true(entry_grant_parse(&back, &read, NULL, &row));
        assert_true(grant_same(&back, &given));
        assert_true(read.delta_capacity == filter.delta_capacity);
        row.curve_size = sets_aside ? 400 : 408;
        assert_false(entry_grant_parse(&back, &read, NULL, &row));
        free(meta);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacities_are_those_of_the_rest_of_delta),
        cmocka_unit_test(a_grant_must_leave_some_of_delta),
        cmocka_unit_test(without_a_share_of_delta_there_is_no_discovery),
        cmocka_unit_test(deltas_add_up_to_what_is_set_aside_and_no_further),
        cmocka_unit_test(the_last_bit_of_the_share_can_be_used),
        cmocka_unit_test(deltas_survive_restarts_and_seals),
        cmocka_unit_test(epochs_add_what_they_set_aside),
        cmocka_unit_test(an_entry_has_a_delta_only_if_it_is_used),
    };
    postgres_make_for_stores(&server, true);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
