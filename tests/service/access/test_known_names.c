/* Goal: a name is known once anything was created in it, regardless of the case of its
 * letters; a key that the API creates is in its creator's name or in a name that is not
 * known. Method: a service on its own directory, with one object of each kind. */
#include "api/requests/charge_request.h"
#include "api/requests/dataset_request.h"
#include "api/requests/key_request.h"
#include "base/principal.h"
#include "service/identity/access_keys.h"
#include "service/jobs/charges.h"
#include "service/datasets/datasets.h"
#include "service/access/known_names.h"
#include "service/datasets/dataset_write.h"

#include <string.h>

#include "service/models/weight_files.h"
#include "store/rows/weights_rows.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static struct scene scene;

static int begin(void **state)
{
    (void)state;
    scene = (struct scene){0};
    scene_open(&scene);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static void add_key(const char *owner)
{
    struct access_key_made made;
    struct key_request request = {.principal = {.project = "ads", .role = ROLE_ANALYST},
                                  .days = 1};
    struct store_tx *tx = scene_begin(&scene);
    snprintf(request.principal.name, sizeof request.principal.name, "%s", owner);
    scene_commit(tx, access_keys_add(scene.context.keys, tx, &request, &made, NULL));
}

static void add_dataset(const char *owner)
{
    struct dataset *dataset;
    struct dataset_spec spec;
    struct principal principal = {.project = "ads"};
    static const char text[] =
        "{\"id\":\"points\",\"format\":\"csv\",\"task\":\"classification\",\"columns\":"
        "["
        "{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1]},"
        "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"a\",\"b\"]}],"
        "\"privacy\":\"public\"}";
    snprintf(principal.name, sizeof principal.name, "%s", owner);
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(text), NULL), ST_OK);
    const struct dataset_addition addition = {&spec, &principal, false};
    struct store_tx *tx = scene_begin(&scene);
    scene_commit(tx,
                 datasets_add(scene.context.datasets, tx, &addition, &dataset, NULL));
}

static void add_file(const char *owner)
{
    struct weights_row row = {.project = "ads",
                              .created_by = owner,
                              .kind = "weights",
                              .note = "",
                              .create_ms = 1,
                              .size = 1};
    struct store_tx *tx = scene_begin(&scene);
    file_id_make(&row.id);
    scene_commit(tx, weight_files_add(scene.context.weight_files, tx, &row, NULL));
}

static void add_charge(const char *owner)
{
    struct charge *charge;
    struct charge_request request;
    struct principal principal = {.project = "ads"};
    static const char text[] =
        "{\"dataset\":\"points\",\"engine\":\"sql\",\"unit\":\"record\","
        "\"mechanism\":{\"kind\":\"gaussian\",\"noise_multiplier\":9,\"steps\":1,"
        "\"neighbour\":\"add_remove\"}}";
    snprintf(principal.name, sizeof principal.name, "%s", owner);
    assert_int_equal(charge_request_parse(&request, json_text_of(text), NULL), ST_OK);
    struct charge_addition addition = {.request_take = &request,
                                       .owner = &principal,
                                       .create_s = 1,
                                       /* in the year 2100 */ .info.lease_end_s =
                                           4102444800};
    struct store_tx *tx = scene_begin(&scene);
    charge_id_make(&addition.id);
    scene_commit(tx, charges_add(scene.context.charges, tx, &addition, &charge, NULL));
}

static void a_name_is_known_once_anything_was_made_in_it(void **state)
{
    (void)state;
    static const struct {
        const char *name, *capitals;
        void (*add)(const char *owner);
    } cases[] = {{"keyed", "KEYED", add_key},
                 {"owner", "Owner", add_dataset},
                 {"filer", "fiLer", add_file},
                 {"charger", "CHARGER", add_charge}};
    const struct principal maker = {.name = "ana", .project = "fraud"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        assert_false(known_names_have(&scene.context, cases[i].name));
        assert_int_equal(
            known_names_check_new(&scene.context, &maker, cases[i].name, &error),
            ST_OK);
        cases[i].add(cases[i].name);
        assert_true(known_names_have(&scene.context, cases[i].name));
        assert_true(known_names_have(&scene.context, cases[i].capitals));
        assert_int_equal(
            known_names_check_new(&scene.context, &maker, cases[i].capitals, &error),
            ST_FORBIDDEN);
        assert_string_equal(error.pointer, "/owner");
    }
    add_key("ana");
    assert_int_equal(known_names_check_new(&scene.context, &maker, "ANA", NULL), ST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_name_is_known_once_anything_was_made_in_it,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
