/* Goal: a sweep is expanded into exactly the jobs that it describes; a body that cannot
 * be a sweep is refused at the place at fault. Method: bodies and the jobs made of
 * them, as JSON. */
#include "tests/expect.h"

#include <string.h>

#include "api/limits.h"
#include "api/requests/sweep_request.h"

#define JOB "{'dataset':'d','optimizer':{'name':'sgd'},'model':{'hidden':[3,4]}}"

/* Returns text with " for '. The caller frees it. */
static char *quoted(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *at = copy; (at = strchr(at, '\'')) != NULL;)
        *at = '"';
    return copy;
}

static struct sweep_request parsed(const char *text)
{
    char *body = quoted(text);
    struct sweep_request request;
    struct error error = {0};
    if (sweep_request_parse(&request, json_text_of(body), &error) != ST_OK)
        fail_msg("%s: %s", error.pointer, error.text);
    free(body);
    return request;
}

static void is_refused(const char *text, const char *pointer, const char *why)
{
    char *body = quoted(text);
    struct sweep_request request;
    struct error error = {0};
    assert_int_equal(sweep_request_parse(&request, json_text_of(body), &error),
                     ST_INVALID);
    assert_string_equal(error.pointer, pointer);
    if (strstr(error.text, why) == NULL)
        fail_msg("%s: %s", pointer, error.text);
    assert_int_equal(request.count, 0);
    free(body);
}

static void run_is(const struct sweep_request *request, size_t run, const char *job,
                   const char *settings)
{
    char *body, *own = sweep_request_settings(request, run);
    assert_int_equal(sweep_request_body(&body, request, run, NULL), ST_OK);
    char *job_text = quoted(job), *settings_text = quoted(settings);
    assert_string_equal(body, job_text);
    assert_string_equal(own, settings_text);
    free(settings_text);
    free(job_text);
    free(own);
    free(body);
}

static void a_list_is_its_settings_put_into_the_job(void **state)
{
    (void)state;
    struct sweep_request request =
        parsed("{'job':" JOB ",'runs':[{'/epochs':2},{'/model/hidden/1':9,"
               "'/privacy/epsilon':0.5},{'/optimizer':{'name':'adam'}}]}");
    assert_int_equal(request.count, 3);
    run_is(&request, 0,
           "{'dataset':'d','optimizer':{'name':'sgd'},'model':{'hidden':[3,4]},"
           "'epochs':2}",
           "{'/epochs':2}");
    run_is(&request, 1,
           "{'dataset':'d','optimizer':{'name':'sgd'},'model':{'hidden':[3,9]},"
           "'privacy':{'epsilon':0.5}}",
           "{'/model/hidden/1':9,'/privacy/epsilon':0.5}");
    run_is(&request, 2,
           "{'dataset':'d','optimizer':{'name':'adam'},'model':{'hidden':[3,4]}}",
           "{'/optimizer':{'name':'adam'}}");
    sweep_request_fini(&request);
    sweep_request_fini(&request);
}

static void a_grid_is_every_combination_the_last_fastest(void **state)
{
    static const char *const expected[] = {"{'/a':1,'/b':'x'}", "{'/a':1,'/b':'y'}",
                                           "{'/a':1,'/b':'z'}", "{'/a':2,'/b':'x'}",
                                           "{'/a':2,'/b':'y'}", "{'/a':2,'/b':'z'}"};
    (void)state;
    struct sweep_request request =
        parsed("{'job':{},'grid':{'/a':[1,2],'/b':['x','y','z']}}");
    assert_int_equal(request.count, 6);
    for (size_t i = 0; i < 6; i++) {
        char *own = sweep_request_settings(&request, i), *text = quoted(expected[i]);
        assert_string_equal(own, text);
        free(text);
        free(own);
    }
    sweep_request_fini(&request);
}

static double drawn(const struct sweep_request *request, size_t run, const char *name)
{
    return json_number_value(json_object_get(request->settings[run], name));
}

#define DRAWS(seed)                                                                    \
    "{'job':{},'random':{'count':100,'seed':" seed ",'settings':{"                     \
    "'/log':{'low':0.01,'high':100,'scale':'log'},'/flat':{'low':-1,'high':3},"        \
    "'/whole':{'low':2,'high':5,'whole':true},'/pick':{'values':[7,8]},"               \
    "'/only':{'low':0.2,'high':1.9,'whole':true}}}}"

static void draws_follow_from_the_seed_and_stay_in_their_range(void **state)
{
    size_t below = 0, picked = 0, least = 0, most = 0;
    (void)state;
    struct sweep_request one = parsed(DRAWS("1")), again = parsed(DRAWS("1")),
                         other = parsed(DRAWS("2"));
    assert_int_equal(one.count, 100);
    for (size_t i = 0; i < 100; i++) {
        double value = drawn(&one, i, "/log"), whole = drawn(&one, i, "/whole");
        assert_true(json_equal(one.settings[i], again.settings[i]));
        assert_false(json_equal(one.settings[i], other.settings[i]));
        assert_true(value >= 0.01 && value <= 100);
        assert_true(drawn(&one, i, "/flat") >= -1 && drawn(&one, i, "/flat") <= 3);
        assert_true(whole == floor(whole) && whole >= 2 && whole <= 5);
        assert_true(drawn(&one, i, "/only") == 1);
        below += value < 1; /* the middle of the logarithm */
        picked += drawn(&one, i, "/pick") == 7;
        least += whole == 2;
        most += whole == 5;
    }
    /* Five deviations of a coin thrown 100 times. */
    assert_true(below > 25 && below < 75 && picked > 25 && picked < 75);
    assert_true(least > 0 && most > 0);
    sweep_request_fini(&one);
    sweep_request_fini(&again);
    sweep_request_fini(&other);
}

static void too_many_runs_are_refused(void **state)
{
    char many[4096] = "{'job':{},'runs':[";
    (void)state;
    for (size_t i = 0; i <= LIMIT_SWEEP_RUNS; i++)
        strcat(many, i > 0 ? ",{'/a':1}" : "{'/a':1}");
    strcat(many, "]}");
    is_refused(many, "/runs", "100");
    is_refused("{'job':{},'grid':{'/a':[1,2,3,4,5,6,7,8,9,10],"
               "'/b':[1,2,3,4,5,6,7,8,9,10],'/c':[1,2]}}",
               "/grid", "at most 100 runs, and makes 200");
    is_refused("{'job':{},'random':{'count':1000000,'settings':{'/a':{'values':[1]}}}}",
               "/random/count", "100");
}

static void a_number_of_runs_that_is_not_fixed_is_refused_with_the_reason(void **state)
{
    (void)state;
    is_refused("{'job':{},'random':{'count':{'geometric':10},'settings':"
               "{'/a':{'values':[1]}}}}",
               "/random/count", "hides how many there were");
    is_refused("{'job':{},'random':{'count':'until_good','settings':"
               "{'/a':{'values':[1]}}}}",
               "/random/count", "hides how many there were");
    is_refused("{'job':{},'runs':[{'/a':1}],'stopping':'random'}", "/stopping",
               "hides how many there were");
}

static void what_is_no_setting_is_refused_where_it_stands(void **state)
{
    (void)state;
    is_refused("{'job':{},'runs':[{'/dataset':'e'}]}", "/runs/0/~1dataset", "all runs");
    is_refused("{'job':{},'grid':{'/evaluation':['e']}}", "/grid/~1evaluation",
               "all runs");
    is_refused("{'job':{},'runs':[{'/tags/a':'e'}]}", "/runs/0/~1tags~1a", "all runs");
    is_refused("{'job':{},'runs':[{'epochs':1}]}", "/runs/0/epochs", "pointer");
    is_refused("{'job':{},'runs':[{'/':1}]}", "/runs/0/~1", "pointer");
    is_refused("{'job':{},'runs':[{'/a~2':1}]}", "/runs/0/~1a~02", "pointer");
    is_refused("{'job':" JOB ",'runs':[{'/model/hidden/2':1}]}",
               "/runs/0/~1model~1hidden~12", "pointer");
    is_refused("{'job':" JOB ",'runs':[{'/dataset/x':1}]}", "/runs/0/~1dataset~1x",
               "all runs");
    is_refused("{'job':" JOB ",'runs':[{'/optimizer/name/x':1}]}",
               "/runs/0/~1optimizer~1name~1x", "pointer");
    is_refused("{'job':{},'runs':[{}]}", "/runs/0", "settings");
    is_refused("{'job':{},'runs':[7]}", "/runs/0", "settings");
    is_refused("{'job':{},'runs':[]}", "/runs", "1");
    is_refused("{'job':{},'grid':{'/a':[]}}", "/grid/~1a", "array");
    is_refused("{'job':{},'grid':{'/a':1}}", "/grid/~1a", "array");
    is_refused("{'job':{},'random':{'count':1,'settings':{'/a':{'low':3,'high':3}}}}",
               "/random/settings/~1a", "low below high");
    is_refused("{'job':{},'random':{'count':1,'settings':{'/a':{'low':-1,'high':3,"
               "'scale':'log'}}}}",
               "/random/settings/~1a", "above 0");
    is_refused("{'job':{},'random':{'count':1,'settings':{'/a':{'low':1,'high':3,"
               "'scale':'cubic'}}}}",
               "/random/settings/~1a/scale", "log");
    is_refused("{'job':{},'random':{'count':1,'settings':{'/a':{'low':0.2,'high':0.8,"
               "'whole':true}}}}",
               "/random/settings/~1a", "whole number");
    is_refused("{'job':{},'random':{'count':1,'settings':{'/a':{'low':-7.9,'high':"
               "-7.1,'whole':true}}}}",
               "/random/settings/~1a", "whole number");
    is_refused("{'job':7,'runs':[{'/a':1}]}", "/job", "job");
    is_refused("{'job':{}}", "", "one of");
    is_refused("{'job':{},'runs':[{'/a':1}],'grid':{'/a':[1]}}", "", "one of");
}

#define LIES "lies in what another setting is put into"

/* In either order, and in each of the three places that may have settings. */
static void a_setting_that_lies_in_another_is_refused(void **state)
{
    (void)state;
    is_refused("{'job':{},'grid':{'/x':[1,2],'/x/1':[5]}}", "/grid/~1x~11", LIES);
    is_refused("{'job':{},'grid':{'/x/1':[5],'/x':[1,2]}}", "/grid/~1x~11", LIES);
    is_refused("{'job':{},'grid':{'/x':[{'a':1}],'/x/a':[5]}}", "/grid/~1x~1a", LIES);
    is_refused("{'job':{'x':[[1]]},'grid':{'/x/0':[[1]],'/x/0/0':[5]}}",
               "/grid/~1x~10~10", LIES);
    is_refused("{'job':" JOB ",'runs':[{'/epochs':1},{'/model':{'hidden':[1,2]},"
               "'/model/hidden/1':7}]}",
               "/runs/1/~1model~1hidden~11", LIES);
    is_refused("{'job':{},'runs':[{'/a/b/c/d':1,'/z':2,'/a/b':{}}]}",
               "/runs/0/~1a~1b~1c~1d", LIES);
    is_refused("{'job':{},'random':{'count':2,'settings':{'/x':{'low':1,'high':2},"
               "'/x/low':{'values':[5]}}}}",
               "/random/settings/~1x~1low", LIES);
    is_refused("{'job':{},'random':{'count':2,'settings':{'/x/values/0':{'values':[5]},"
               "'/x':{'values':[[1],[2]]}}}}",
               "/random/settings/~1x~1values~10", LIES);
    is_refused("{'job':{},'grid':{'/runs':[[1]],'/runs/0':[5]}}", "/grid/~1runs~10",
               LIES);
    is_refused("{'job':{},'grid':{'/a~1b':[1],'/a~1b/c':[5]}}", "/grid/~1a~01b~1c",
               LIES);
    is_refused("{'job':{},'grid':{'/x':[1],'/x/':[5]}}", "/grid/~1x~1", LIES);
    is_refused("{'job':{},'runs':[{'/x':1,'/x':2}]}", "/runs/0/~1x", "duplicate");
}

static void settings_beside_each_other_are_no_settings_in_each_other(void **state)
{
    (void)state;
    struct sweep_request request = parsed(
        "{'job':{'x':[1,2]},'grid':{'/x/0':[[7]],'/x/1':[8],'/xy':[9],'/a/b':[1],"
        "'/a/bc':[2],'/a~1b':[3],'/~01':[4]}}");
    run_is(&request, 0, "{'x':[[7],8],'xy':9,'a':{'b':1,'bc':2},'a/b':3,'~1':4}",
           "{'/x/0':[7],'/x/1':8,'/xy':9,'/a/b':1,'/a/bc':2,'/a~1b':3,'/~01':4}");
    sweep_request_fini(&request);
}

static void odd_pointers_are_refused_or_put_where_they_say(void **state)
{
    static const char *const odd[][2] = {
        {"", "/runs/0/"},
        {"/", "/runs/0/~1"},
        {"//", "/runs/0/~1~1"},
        {"x", "/runs/0/x"},
        {"~1", "/runs/0/~01"},
        {"/~", "/runs/0/~1~0"},
        {"/x/-", "/runs/0/~1x~1-"},
        {"/x/2", "/runs/0/~1x~12"},
        {"/x/01", "/runs/0/~1x~101"},
        {"/x/-1", "/runs/0/~1x~1-1"},
        {"/x/+1", "/runs/0/~1x~1+1"},
        {"/x/1e0", "/runs/0/~1x~11e0"},
        {"/x/18446744073709551616", "/runs/0/~1x~118446744073709551616"},
        {"/x/0/a", "/runs/0/~1x~10~1a"},
        {"/x/a/b", "/runs/0/~1x~1a~1b"},
    };
    char body[256];
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        snprintf(body, sizeof body, "{'job':{'x':[1,2]},'runs':[{'%s':[5]}]}",
                 odd[i][0]);
        is_refused(body, odd[i][1], "JSON pointer");
    }
    struct sweep_request request =
        parsed("{'job':{'x':[1,2]},'grid':{'/-':[1],'/runs/0':[2],'/~1':[3],'/~0':[4],"
               "'/0':[5]}}");
    run_is(&request, 0, "{'x':[1,2],'-':1,'runs':{'0':2},'/':3,'~':4,'0':5}",
           "{'/-':1,'/runs/0':2,'/~1':3,'/~0':4,'/0':5}");
    sweep_request_fini(&request);
}

/* A longer one would nest objects deeper than any JSON may, and overflow the stack of
 * code that walks them. */
static void a_pointer_leads_no_deeper_than_json_may(void **state)
{
    static const size_t depths[] = {LIMIT_JSON_DEPTH, LIMIT_JSON_DEPTH + 1, 500000};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct sweep_request request;
        struct error error = {0};
        char *body = malloc(2 * depths[i] + 64);
        assert_non_null(body);
        char *at = stpcpy(body, "{\"job\":{},\"runs\":[{\"");
        for (size_t depth = 0; depth < depths[i]; depth++)
            at = stpcpy(at, "/a");
        stpcpy(at, "\":1}]}");
        assert_int_equal(sweep_request_parse(&request, json_text_of(body), &error),
                         i == 0 ? ST_OK : ST_INVALID);
        sweep_request_fini(&request);
        free(body);
    }
}

/* No parsed request holds such settings, so it is made by hand. */
static void a_run_that_cannot_be_made_is_refused_and_ends_nothing(void **state)
{
    json_t *settings = json_pack("{s:i, s:i}", "/x", 1, "/x/1", 5);
    struct sweep_request request = {
        .job = json_object(), .count = 1, .settings = &settings};
    struct error error = {0};
    char *body = NULL;
    (void)state;
    assert_int_equal(sweep_request_body(&body, &request, 0, &error), ST_INVALID);
    assert_null(body);
    assert_string_equal(error.pointer, "/x/1");
    assert_non_null(strstr(error.text, "JSON pointer"));
    json_decref(request.job);
    json_decref(settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_its_settings_put_into_the_job),
        cmocka_unit_test(a_grid_is_every_combination_the_last_fastest),
        cmocka_unit_test(draws_follow_from_the_seed_and_stay_in_their_range),
        cmocka_unit_test(too_many_runs_are_refused),
        cmocka_unit_test(a_number_of_runs_that_is_not_fixed_is_refused_with_the_reason),
        cmocka_unit_test(what_is_no_setting_is_refused_where_it_stands),
        cmocka_unit_test(a_setting_that_lies_in_another_is_refused),
        cmocka_unit_test(settings_beside_each_other_are_no_settings_in_each_other),
        cmocka_unit_test(odd_pointers_are_refused_or_put_where_they_say),
        cmocka_unit_test(a_pointer_leads_no_deeper_than_json_may),
        cmocka_unit_test(a_run_that_cannot_be_made_is_refused_and_ends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
