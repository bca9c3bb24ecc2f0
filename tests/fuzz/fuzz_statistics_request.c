/* Goal: no body of statistics breaks the parser, and an accepted body renders to a text
 * that reads back to the same text, and resolves against a schema or is refused at a
 * place. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/fault.h"
#include "api/requests/statistics_request.h"
#include "base/check.h"
#include "engine/data/readers/reader_registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char age[] = "age", sex[] = "sex", male[] = "Male", female[] = "Female";
static char *sexes[] = {female, male};
static struct column columns[] = {
    {.name = age, .kind = COLUMN_NUMERIC, .low = 0, .high = 100},
    {.name = sex, .kind = COLUMN_LABEL, .value_count = 2, .values = sexes},
};
static const struct schema people = {.reader = &csv_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 2,
                                     .column_count = 2,
                                     .columns = columns};

static void check_round_trip(const struct statistics_request *request)
{
    static const char form[] =
        "{\"dataset\":\"a\",\"statistics\":%s,\"privacy\":{\"epsilon\":1}}";
    struct statistics_request again;
    char *text = statistics_render(&request->statistics);
    size_t room = strlen(text) + sizeof form;
    char *body = malloc(room);
    CHECK(body != NULL);
    snprintf(body, room, form, text);
    CHECK(statistics_request_parse(&again, json_text_of(body), NULL) == ST_OK);
    char *second = statistics_render(&again.statistics);
    CHECK(strcmp(text, second) == 0);
    statistics_request_fini(&again);
    free(second);
    free(body);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct statistics_request request;
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    if (statistics_request_parse(&request, json_text_sized((const char *)data, size),
                                 &error) != ST_OK) {
        CHECK(error.status == ST_INVALID && error.text[0] != '\0');
        CHECK(faults.count > 0 && faults.count <= LIMIT_FAULTS);
        return 0;
    }
    check_round_trip(&request);
    if (statistics_resolve(&request.statistics, &people, &error) == ST_OK)
        CHECK(statistics_slots(&request.statistics) <= STATISTIC_SLOTS_MAX);
    else
        CHECK(strncmp(error.pointer, "/statistics", 11) == 0);
    statistics_request_fini(&request);
    return 0;
}
