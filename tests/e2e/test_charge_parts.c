/* Goal: every answer about a budget concerns the parts that are read: estimates,
 * refusals and the shares of keys, for charges, jobs and statistics. Method: datasets
 * of two parts, one of which is full. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/access_fixture.h"
#include "tests/e2e/sample_fixture.h"

#define DIVIDED SAMPLE_BUDGET(4) ",'holdout':0.5,'holdout_seed':1"

#define OF_PARTS                                                                       \
    "{'dataset':'%s','engine':'sql','unit':'record'%s,'mechanism':{'kind':'gaussian'," \
    "'noise_multiplier':%g,'steps':1,'neighbour':'add_remove'}}"

enum { OF_TRAIN = 1, OF_HOLDOUT = 2, OF_BOTH = 3 };

static const struct {
    const char *member;
    unsigned parts;
} named[] = {{",'parts':['train']", OF_TRAIN},
             {",'parts':['holdout']", OF_HOLDOUT},
             {",'parts':['train','holdout']", OF_BOTH},
             {",'parts':['holdout','train']", OF_BOTH},
             {"", OF_BOTH}};
enum { NAMED = sizeof named / sizeof *named };

/* Asks for a charge on the parts. It gives the number of records, because none may be
 * imported. */
static const struct reply *charge_parts(struct client *client, const char *path,
                                        const char *dataset, const char *parts,
                                        double noise)
{
    char members[96];
    snprintf(members, sizeof members, ",'records':300%s", parts);
    return client_create(client, path, OF_PARTS, dataset, members, noise);
}

/* The amount that the refusal says is left at an order is that of the budget of this
 * part. */
static void expect_left_of(struct client *client, const struct reply *refused,
                           const char *dataset, unsigned part, double noise)
{
    char member[64];
    snprintf(member, sizeof member, "parts.%u.share.left", part);
    double left =
        reply_number(client_get(client, "/v1/datasets/%s/budget", dataset), member);
    const json_t *available = reply_at(refused, "available");
    const json_t *needed = reply_at(refused, "needed");
    double most = 0;
    for (size_t i = 0; i < json_array_size(available); i++)
        most = fmax(most, json_number_value(json_array_get(available, i)) /
                              json_number_value(json_array_get(needed, i)));
    const struct reply *whole =
        charge_parts(client, "/v1/charges:estimate", dataset,
                     part == 0 ? ",'parts':['train']" : ",'parts':['holdout']", noise);
    double share = reply_number(whole, "share.asked");
    assert_true(fabs(most * share - left) < 0.05 * fmax(left, 0.01));
}

/* Jobs read the training part, their evaluations the holdout, statistics both. */
static void expect_others_fit(struct client *client, const char *dataset, unsigned full)
{
    static const char job[] =
        "{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
        "'batch_size':50,'steps':3,'privacy':{'noise_multiplier':%g}%s}";
    static const char statistics[] =
        "{'dataset':'%s','statistics':[{'kind':'histogram','column':'above'}],"
        "'privacy':{'noise_multiplier':1.2}}";
    const struct reply *trained =
        client_post(client, "/v1/jobs:estimate", NULL, job, dataset, 2.0, "");
    const struct reply *measured =
        client_post(client, "/v1/jobs:estimate", NULL, job, dataset, 90.0,
                    ",'evaluation':{'holdout':true,'epsilon':2.5}");
    const struct reply *counted =
        client_post(client, "/v1/statistics:estimate", NULL, statistics, dataset);
    const struct reply *refused =
        client_create(client, "/v1/statistics", statistics, dataset);
    assert_string_equal(reply_text(trained, "fits"), full == OF_TRAIN ? "held" : "yes");
    assert_string_equal(reply_text(measured, "fits"),
                        full == OF_HOLDOUT ? "held" : "yes");
    assert_string_equal(reply_text(counted, "fits"), "held");
    assert_problem(refused, 409, "budget_held");
    expect_left_of(client, refused, dataset, full - 1, 1.2);
}

static void estimates_and_refusals_are_of_the_parts_that_a_charge_reads(void **state)
{
    static const struct {
        const char *id, *spent;
        unsigned full;
    } cases[] = {{"full-holdout", ",'parts':['holdout']", OF_HOLDOUT},
                 {"full-train", ",'parts':['train']", OF_TRAIN}};
    (void)state;
    struct client *client = access_client();
    access_show(access_scene.own.owner);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *id = cases[i].id;
        ready_points(client, id, 300, 70 + (unsigned)i, DIVIDED);
        assert_status(charge_parts(client, "/v1/charges", id, cases[i].spent, 1.2),
                      201);
        for (size_t n = 0; n < NAMED; n++) {
            bool fits = (named[n].parts & cases[i].full) == 0;
            const struct reply *estimate =
                charge_parts(client, "/v1/charges:estimate", id, named[n].member, 1.2);
            assert_status(estimate, 200);
            assert_string_equal(reply_text(estimate, "fits"), fits ? "yes" : "held");
            assert_true((reply_number(estimate, "jobs_like_this") > 0) == fits);
        }
        for (size_t n = 0; n < NAMED; n++) {
            if ((named[n].parts & cases[i].full) == 0)
                continue;
            const struct reply *refused =
                charge_parts(client, "/v1/charges", id, named[n].member, 1.2);
            assert_problem(refused, 409, "budget_held");
            expect_left_of(client, refused, id, cases[i].full - 1, 1.2);
        }
        expect_others_fit(client, id, cases[i].full);
        assert_status(charge_parts(client, "/v1/charges", id,
                                   cases[i].full == OF_TRAIN ? ",'parts':['holdout']"
                                                             : ",'parts':['train']",
                                   1.2),
                      201);
    }
}

/* A share of one part allows nothing of the other. */
static void a_keys_share_is_of_the_parts_that_its_charges_read(void **state)
{
    (void)state;
    struct client *client = access_client();
    access_show(access_scene.own.owner);
    assert_status(declare_points(client, "shared", DIVIDED), 201);
    const struct reply *key =
        client_post(client, "/v1/keys", NULL,
                    "{'owner':'wim','project':'fraud','role':'analyst','policy':"
                    "{'max_share':{'share':0.5,'period':'P30D'}}}");
    assert_status(key, 201);
    access_show(reply_text(key, "key"));
    static const struct {
        const char *parts;
        long status;
    } charges[] = {{",'parts':['holdout']", 201},
                   {",'parts':['holdout']", 403},
                   {"", 403},
                   {",'parts':['train']", 201},
                   {",'parts':['train']", 403}};
    for (size_t i = 0; i < sizeof charges / sizeof *charges; i++) {
        const struct reply *reply =
            charge_parts(client, "/v1/charges", "shared", charges[i].parts, 2.2);
        assert_status(reply, charges[i].status);
        if (reply->status == 403)
            assert_string_equal(reply_text(reply, "policy"), "max_share");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_and_refusals_are_of_the_parts_that_a_charge_reads),
        cmocka_unit_test(a_keys_share_is_of_the_parts_that_its_charges_read),
    };
    return cmocka_run_group_tests(tests, access_begin_keys, stage_end);
}
