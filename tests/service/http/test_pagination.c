/* Goal: a client that reads a list page by page, each page from another daemon, while
 * entries are added and deleted and daemons restart, reads nothing twice and misses
 * nothing that was there all the time. Method: daemons that know different states of
 * one table: an entry deleted since a start keeps a place, an entry deleted before it
 * has none. Random draws are fixed. */
#include "service/http/pagination.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "tests/expect.h"

enum { THINGS = 40, MORE = 20, ALL = THINGS + MORE, DAEMONS = 3, ROUNDS = 300 };

struct thing {
    unsigned number;
    unsigned figure; /* a sort key with few values, hence many equal ones */
    bool deleted, hidden;
};

static struct table { /* all rows that the store has or had */
    size_t count;
    struct thing things[ALL];
} table;

struct daemon { /* what one daemon has in memory: places in the table */
    size_t count;
    size_t places[ALL];
};

static const char *asked_size, *asked_token;

const char *__wrap_request_query(const struct request *request, const char *name);
const char *__wrap_request_query(const struct request *request, const char *name)
{
    (void)request;
    return strcmp(name, "page_size") == 0 ? asked_size : asked_token;
}

static const struct thing *thing_at(void *context, size_t place)
{
    const struct daemon *daemon = context;
    assert_true(place < daemon->count);
    return &table.things[daemon->places[place]];
}

static uint64_t number(void *context, size_t place)
{
    return thing_at(context, place)->number;
}

static struct pagination_key figure(void *context, size_t place)
{
    return (struct pagination_key){.number = thing_at(context, place)->figure};
}

static bool seen(void *context, size_t place)
{
    return !thing_at(context, place)->hidden;
}

static bool wanted(void *context, size_t place)
{
    return !thing_at(context, place)->deleted;
}

static char *text(void *context, size_t place)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%u", thing_at(context, place)->number);
    return strdup(digits);
}

static unsigned draw(unsigned below)
{
    return (unsigned)rand() % below;
}

/* Numbers have gaps, like those of jobs whose transactions were rolled back. */
static void add_thing(void)
{
    unsigned last = table.count > 0 ? table.things[table.count - 1].number : 0;
    table.things[table.count++] = (struct thing){
        .number = last + 1 + draw(3), .figure = draw(5), .hidden = draw(6) == 0};
}

/* A start does not read rows that were deleted before. */
static void start(struct daemon *daemon)
{
    daemon->count = 0;
    for (size_t i = 0; i < table.count; i++)
        if (!table.things[i].deleted)
            daemon->places[daemon->count++] = i;
}

/* Reads new rows; of those that were already deleted again it misses some. */
static void follow(struct daemon *daemon)
{
    size_t last = daemon->count > 0 ? daemon->places[daemon->count - 1] + 1 : 0;
    for (size_t i = last; i < table.count; i++)
        if (!table.things[i].deleted || draw(2) == 0)
            daemon->places[daemon->count++] = i;
}

static enum status ask(struct daemon *daemon, const struct pagination_source *order,
                       const char *token, struct reply *reply)
{
    struct request request = {.method = "GET"};
    struct pagination_source source = *order;
    source.name = "things";
    source.count = daemon->count;
    source.seen = seen;
    source.wanted = wanted;
    source.text = text;
    source.context = daemon;
    asked_token = token;
    enum status status = pagination_reply(&request, &source, NULL);
    *reply = request.reply;
    return status;
}

struct reading { /* of one list to its end */
    struct pagination_source order;
    unsigned times[ALL]; /* how often each thing was read */
    struct thing last;   /* read; number 0: none */
};

static void read_thing(struct reading *reading, unsigned told)
{
    size_t i = 0;
    while (i < table.count && table.things[i].number != told)
        i++;
    assert_true(i < table.count);
    const struct thing *thing = &table.things[i], *last = &reading->last;
    assert_false(thing->hidden || thing->deleted);
    assert_int_equal(reading->times[i]++, 0);
    bool behind = thing->number > last->number;
    if (reading->order.key != NULL && thing->figure != last->figure)
        behind = thing->figure > last->figure;
    if (last->number > 0)
        assert_int_equal(behind, reading->order.ascending);
    reading->last = *thing;
}

/* Reads a page, and returns the token of the next page, or NULL. The caller frees
 * it. */
static char *read_page(struct reading *reading, struct daemon *daemon,
                       const char *token)
{
    struct reply reply;
    assert_int_equal(ask(daemon, &reading->order, token, &reply), ST_OK);
    json_t *page = json_loads(reply.of.text.bytes, 0, NULL), *item;
    size_t i;
    assert_non_null(page);
    json_array_foreach(json_object_get(page, "things"), i, item)
        read_thing(reading, (unsigned)json_integer_value(item));
    const char *next = json_string_value(json_object_get(page, "next_page_token"));
    char *copy = next != NULL ? strdup(next) : NULL;
    json_decref(page);
    reply_fini(&reply);
    return copy;
}

/* Changes the table and the daemons between two pages. */
static void live(struct daemon daemons[DAEMONS])
{
    if (table.count < ALL && draw(2) == 0)
        add_thing();
    for (unsigned i = draw(4); i > 0; i--)
        table.things[draw((unsigned)table.count)].deleted = true;
    for (size_t i = 0; i < DAEMONS; i++)
        follow(&daemons[i]);
    if (draw(2) == 0)
        start(&daemons[draw(DAEMONS)]);
}

static void read_all(const struct pagination_source *order, const char *size)
{
    struct daemon daemons[DAEMONS] = {0};
    struct reading reading = {.order = *order};
    struct table before;
    char *token = NULL;
    asked_size = size;
    table.count = 0;
    while (table.count < THINGS)
        add_thing();
    for (size_t i = 0; i < DAEMONS; i++)
        start(&daemons[i]);
    before = table;
    do {
        char *next = read_page(&reading, &daemons[draw(DAEMONS)], token);
        free(token);
        token = next;
        if (token != NULL)
            live(daemons);
    } while (token != NULL);
    for (size_t i = 0; i < before.count; i++)
        if (!table.things[i].deleted && !table.things[i].hidden)
            assert_int_equal(reading.times[i], 1);
}

static void any_daemon_goes_on_where_another_stopped(void **state)
{
    (void)state;
    static const char *const sizes[] = {"1", "2", "3", "7"};
    srand(2385);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct pagination_source order = {.number = number,
                                                .ascending = round % 2 == 1,
                                                .order = round / 2 % 2 == 1,
                                                .key =
                                                    round / 2 % 2 == 1 ? figure : NULL};
        read_all(&order, sizes[round / 4 % 4]);
    }
}

static struct pagination_key name(void *context, size_t place)
{
    static const char *const names[] = {"b", "a", "c"};
    return (struct pagination_key){.text = names[thing_at(context, place)->number - 1]};
}

/* If a list is sorted by a text, a token would show where its thing is in the order. */
static void a_mark_of_a_text_names_a_thing_that_is_seen(void **state)
{
    (void)state;
    struct daemon daemon;
    struct reply reply;
    const struct pagination_source order = {
        .key = name, .by_text = true, .ascending = true};
    table = (struct table){
        3, {{.number = 1}, {.number = 2}, {.number = 3, .hidden = true}}};
    asked_size = "1";
    start(&daemon);
    assert_int_equal(ask(&daemon, &order, "b2", &reply), ST_OK);
    assert_string_equal(reply.of.text.bytes,
                        "{\"things\":[1],\"next_page_token\":null}");
    reply_fini(&reply);
    static const char *const wrong[] = {"b0", "b3", "b4", "a2", "q2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(ask(&daemon, &order, wrong[i], &reply), ST_INVALID);
}

/* Letters from p on named places, which a restart may have moved. */
static void a_token_that_names_a_place_is_refused(void **state)
{
    (void)state;
    struct daemon daemon = {0};
    struct reply reply;
    asked_size = "2";
    for (char letter = 'p'; letter <= 'z'; letter++)
        for (unsigned char order = 0; order < 3; order++)
            for (int ascending = 0; ascending < 2; ascending++) {
                const char token[] = {letter, '1', '\0'};
                const struct pagination_source source = {
                    .number = number, .order = order, .ascending = ascending == 1};
                assert_int_equal(ask(&daemon, &source, token, &reply), ST_INVALID);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_daemon_goes_on_where_another_stopped),
        cmocka_unit_test(a_mark_of_a_text_names_a_thing_that_is_seen),
        cmocka_unit_test(a_token_that_names_a_place_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
