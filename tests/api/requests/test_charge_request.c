/* Goal: a declaration of external work is parsed as it is meant and stored as it was
 * parsed, and its steps are divided into blocks. Method: bodies and their canonical
 * texts; the pointers of refusals are in tests/e2e/test_charges.c. */
#include "api/requests/charge_request.h"

#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "tests/expect.h"

static struct charge_request read_body(const char *body)
{
    struct charge_request request;
    struct error error = {0};
    if (charge_request_parse(&request, json_text_of(body), &error) != ST_OK)
        fail_msg("%s: %s", error.pointer, error.text);
    return request;
}

#define GAUSSIAN                                                                       \
    "{\"kind\":\"gaussian\",\"neighbour\":\"add_remove\",\"noise_multiplier\":2,"      \
    "\"steps\":7}"
#define BODY(mechanism, rest)                                                          \
    "{\"dataset\":\"mnist\",\"engine\":\"opacus 1.5\",\"unit\":\"record\",\"mechanism" \
    "\":" mechanism rest "}"

static void a_text_that_was_rendered_reads_back_to_itself(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        BODY(GAUSSIAN, ""),
        BODY("[" GAUSSIAN "]", ",\"parts\":[\"holdout\"],\"records\":17"),
        BODY("[{\"kind\":\"sampled_gaussian\",\"sampler\":\"poisson\",\"neighbour\":"
             "\"zero_out\",\"sampling_rate\":0.017,\"noise_multiplier\":1.1,\"steps\":"
             "100},{\"kind\":\"zcdp\",\"rho\":0.125,\"steps\":1,\"neighbour\":"
             "\"replace_one\"}]",
             ",\"lease_s\":60,\"block_steps\":3"),
        BODY(
            "{\"kind\":\"fixed_subset\",\"sampler\":\"without_replacement\","
            "\"neighbour\":\"add_remove\",\"sampling_rate\":0.5,\"noise_multiplier\":9,"
            "\"steps\":2}",
            ""),
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct charge_request request = read_body(bodies[i]);
        char *text = charge_request_render(&request);
        struct charge_request again = read_body(text);
        char *twice = charge_request_render(&again);
        assert_string_equal(text, twice);
        assert_int_equal(again.parts, request.parts);
        assert_int_equal(again.records, request.records);
        free(twice);
        free(text);
        charge_request_fini(&again);
        charge_request_fini(&request);
    }
}

static void what_is_left_open_has_its_default(void **state)
{
    (void)state;
    struct charge_request request = read_body(BODY(GAUSSIAN, ""));
    assert_int_equal(request.unit, PRIVACY_UNIT_RECORD);
    assert_int_equal(request.parts, PARTS_UNNAMED);
    assert_int_equal(request.lease_s, LIMIT_LEASE_S_DEFAULT);
    assert_int_equal(request.block_steps, 1);
    assert_string_equal(request.works[0].sampler, "none");
    assert_false(request.is_list);
    charge_request_fini(&request);
}

static void blocks_cut_all_steps_and_the_last_is_shorter(void **state)
{
    (void)state;
    struct charge_request request =
        read_body(BODY("[" GAUSSIAN "," GAUSSIAN "]", ",\"block_steps\":4"));
    assert_int_equal(charge_request_steps(&request), 14);
    assert_int_equal(charge_request_blocks(&request), 4);
    static const uint64_t steps[] = {0, 4, 8, 12, 14};
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(charge_request_steps_of(&request, i), steps[i]);
    charge_request_fini(&request);
}

static void the_mechanism_is_of_the_unit_and_the_relation(void **state)
{
    (void)state;
    struct mechanism m;
    struct charge_request request = read_body(
        "{\"dataset\":\"people\",\"engine\":\"sql\",\"unit\":\"person\",\"mechanism\":"
        "[" GAUSSIAN "]}");
    assert_int_equal(charge_request_mechanism(&m, &request, RELATION_REPLACE_ONE, NULL),
                     ST_OK);
    assert_int_equal(m.unit, PRIVACY_UNIT_PERSON);
    assert_int_equal(m.relation, RELATION_REPLACE_ONE);
    assert_int_equal(mechanism_steps(&m), 7);
    mechanism_fini(&m);
    charge_request_fini(&request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_that_was_rendered_reads_back_to_itself),
        cmocka_unit_test(what_is_left_open_has_its_default),
        cmocka_unit_test(blocks_cut_all_steps_and_the_last_is_shorter),
        cmocka_unit_test(the_mechanism_is_of_the_unit_and_the_relation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
