#include "api/requests/charge_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_word.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "api/requests/dataset_request.h"
#include "base/check.h"

/* --- one mechanism of the work --- */

/* Writes the names of all kinds that can be declared, for an error message. */
static void kinds_list(char *text, size_t size)
{
    size_t used = 0;
    for (unsigned k = 0; k < MECHANISM_KINDS; k++)
        if (proof_of((enum mechanism_kind)k)->outside != NULL)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                 mechanism_kind_name((enum mechanism_kind)k));
    CHECK(used < size);
}

/* Returns what can be declared of a kind. If text is no such kind, refuses the node and
 * returns NULL. */
static const struct outside *read_kind(enum mechanism_kind *kind, struct json_node node)
{
    char kinds[160];
    const struct outside *outside = NULL;
    const char *text = json_read_text(node);
    if (mechanism_kind_parse(kind, text))
        outside = proof_of(*kind)->outside;
    kinds_list(kinds, sizeof kinds);
    if (outside == NULL)
        json_refuse(
            node,
            "must be %s: of anything else, such as a claim of epsilon and delta, "
            "no curve is known",
            kinds);
    return outside;
}

static enum neighbour read_neighbour(struct json_node node)
{
    size_t neighbour = NEIGHBOUR_ADD_REMOVE;
    json_read_word(&neighbour, node, neighbour_names);
    return (enum neighbour)neighbour;
}

/* Reads the sampler, which must be named if the kind has batches. Otherwise the default
 * is the kind's first sampler, or none. */
static const char *read_sampler(const struct outside *outside, struct json_node node)
{
    const char *const *samplers = outside->samplers;
    if (!json_present(node) && !outside->has_rate)
        return samplers != NULL ? samplers[0] : NULL;
    const char *text = json_read_text(node);
    for (size_t i = 0; samplers != NULL && samplers[i] != NULL; i++)
        if (strcmp(text, samplers[i]) == 0)
            return samplers[i];
    if (samplers == NULL)
        json_refuse(node, "has no place here: every record is in every step");
    else if (outside->has_rate)
        json_refuse(node,
                    "must be \"%s\": shuffled and fixed batches are declared as kind "
                    "gaussian, a step for each use of a record",
                    samplers[0]);
    else
        json_refuse(node, "must be \"none\", \"shuffled\" or \"fixed_batches\"");
    return NULL;
}

static double read_rate(const struct outside *outside, struct json_node node)
{
    if (outside->has_rate)
        return json_read_real(node, (struct json_range){0, 1, .low_open = true});
    if (json_present(node))
        json_refuse(node, "has no place here: every record is in every step");
    return 1;
}

static struct outside_work read_work(struct json_node node)
{
    struct outside_work work = {0};
    struct json_node kind = json_member(&node, "kind");
    const struct outside *outside = read_kind(&work.kind, kind);
    json_read_object(node, (const char *const[]){
                               "kind", "neighbour", "steps", "sampler", "sampling_rate",
                               outside != NULL ? outside->parameter : NULL, NULL});
    work.neighbour = read_neighbour(json_member(&node, "neighbour"));
    work.steps = json_read_count(json_member(&node, "steps"), 1, LIMIT_STEPS);
    if (outside == NULL)
        return work;
    struct json_node value = json_member(&node, outside->parameter);
    work.value = json_read_real(
        value, (struct json_range){0, HUGE_VAL, .low_open = true, .high_open = true});
    work.sampler = read_sampler(outside, json_member(&node, "sampler"));
    work.sampling_rate = read_rate(outside, json_member(&node, "sampling_rate"));
    return work;
}

/* --- the whole request --- */

static void read_works(struct charge_request *request, struct json_node node)
{
    request->is_list = json_is_array(node.value);
    request->work_count =
        request->is_list ? json_read_array(node, 1, LIMIT_CHARGE_WORKS) : 1;
    request->works = calloc(request->work_count + 1, sizeof *request->works);
    CHECK(request->works != NULL);
    for (size_t i = 0; i < request->work_count; i++)
        request->works[i] = read_work(request->is_list ? json_element(&node, i) : node);
    if (!json_refused(node) && charge_request_steps(request) > LIMIT_STEPS)
        json_refuse(node, "must have at most %d steps in all", LIMIT_STEPS);
}

static void read_engine(char engine[ENTRY_ENGINE_SIZE], struct json_node node)
{
    const char *text = json_read_text(node);
    if (entry_engine_is_good(text))
        snprintf(engine, ENTRY_ENGINE_SIZE, "%s", text);
    else
        json_refuse(node,
                    "must be 1 to %d letters, digits, blanks or . _ + : / ( ) -, "
                    "the first a letter or digit",
                    ENTRY_ENGINE_SIZE - 1);
}

/* The block length is fixed here, before any data is read, as a job's is. The default
 * is a hundredth of the steps. */
static void read_block_steps(struct charge_request *request, struct json_node node)
{
    enum { BLOCKS = 100 };
    uint64_t steps = charge_request_steps(request);
    request->block_steps = (steps + BLOCKS - 1) / BLOCKS;
    if (!json_present(node))
        return;
    request->block_steps = json_read_count(node, 1, LIMIT_STEPS);
    if (!json_refused(node) && charge_request_blocks(request) > LIMIT_CHARGE_BLOCKS)
        json_refuse(node, "makes more than %d blocks of the %llu steps",
                    LIMIT_CHARGE_BLOCKS, (unsigned long long)steps);
}

/* Reads the parts. A charge that names none is assumed to read all of them. */
static enum parts read_parts(struct json_node node)
{
    unsigned parts = PARTS_UNNAMED;
    if (!json_present(node))
        return PARTS_UNNAMED;
    size_t count = json_read_array(node, 1, PARTS_MAX);
    for (size_t i = 0; i < count; i++) {
        struct json_node element = json_element(&node, i);
        const char *text = json_read_text(element);
        unsigned part = 0;
        for (unsigned p = 0; p < PARTS_MAX; p++)
            part |= strcmp(text, part_name((enum part)p)) == 0 ? 1u << p : 0;
        if (part == 0)
            json_refuse(element, "must be \"train\" or \"holdout\"");
        else if ((parts & part) != 0)
            json_refuse(element, "stands twice");
        parts |= part;
    }
    return (enum parts)parts;
}

static void read_members(struct charge_request *request, struct json_node root)
{
    static const char *const members[] = {
        "dataset", "engine",  "mechanism",   "unit",        "parts",
        "records", "lease_s", "block_steps", "acknowledge", NULL};
    struct json_node dataset = json_member(&root, "dataset");
    struct json_node unit = json_member(&root, "unit");
    struct json_node records = json_member(&root, "records");
    struct json_node lease = json_member(&root, "lease_s");
    json_read_object(root, members);
    dataset_request_read_id(&request->dataset, dataset);
    read_engine(request->engine, json_member(&root, "engine"));
    read_works(request, json_member(&root, "mechanism"));
    if (!privacy_unit_parse(&request->unit, json_read_text(unit)))
        json_refuse(unit,
                    "must be \"record\" or \"person\": whom the sensitivity is of");
    request->parts = read_parts(json_member(&root, "parts"));
    if (json_present(records))
        request->records = json_read_count(records, 1, LIMIT_RECORDS);
    request->acknowledged = acknowledgement_read(&root);
    request->lease_s = LIMIT_LEASE_S_DEFAULT;
    if (json_present(lease))
        request->lease_s = json_read_count(lease, LIMIT_LEASE_S_MIN, LIMIT_LEASE_S);
    read_block_steps(request, json_member(&root, "block_steps"));
}

enum status charge_request_parse(struct charge_request *request, struct json_text body,
                                 struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct charge_request read = {0};
    if (json_reader_open(&reader, &root, body, error) == ST_OK)
        read_members(&read, root);
    enum status status = json_reader_close(&reader);
    if (status != ST_OK) {
        charge_request_fini(&read);
        return status;
    }
    *request = read;
    return ST_OK;
}

void charge_request_fini(struct charge_request *request)
{
    free(request->works);
    *request = (struct charge_request){0};
}

void charge_works_write(struct json_writer *writer,
                        const struct charge_request *request)
{
    json_write_array(writer, "mechanism");
    for (size_t i = 0; i < request->work_count; i++) {
        const struct outside_work *work = &request->works[i];
        const struct outside *outside = proof_of(work->kind)->outside;
        json_write_object(writer, NULL);
        json_write_text(writer, "kind", mechanism_kind_name(work->kind));
        json_write_text(writer, "neighbour", neighbour_names[work->neighbour]);
        if (work->sampler != NULL)
            json_write_text(writer, "sampler", work->sampler);
        if (outside->has_rate)
            json_write_real(writer, "sampling_rate", work->sampling_rate);
        json_write_real(writer, outside->parameter, work->value);
        json_write_count(writer, "steps", work->steps);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

void charge_parts_write(struct json_writer *writer,
                        const struct charge_request *request)
{
    json_write_array(writer, "parts");
    for (unsigned p = 0; p < PARTS_MAX; p++)
        if ((request->parts >> p & 1) != 0)
            json_write_text(writer, NULL, part_name((enum part)p));
    json_write_array_end(writer);
}

char *charge_request_render(const struct charge_request *request)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", request->dataset.text);
    json_write_text(&writer, "engine", request->engine);
    charge_works_write(&writer, request);
    json_write_text(&writer, "unit", privacy_unit_name(request->unit));
    if (request->parts != PARTS_UNNAMED)
        charge_parts_write(&writer, request);
    if (request->records > 0)
        json_write_count(&writer, "records", request->records);
    acknowledgement_write_if(&writer, request->acknowledged);
    json_write_count(&writer, "lease_s", request->lease_s);
    json_write_count(&writer, "block_steps", request->block_steps);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

/* --- blocks --- */

uint64_t charge_request_steps(const struct charge_request *request)
{
    uint64_t steps = 0;
    for (size_t i = 0; i < request->work_count; i++)
        steps += request->works[i].steps;
    return steps;
}

uint64_t charge_request_blocks(const struct charge_request *request)
{
    uint64_t steps = charge_request_steps(request);
    return (steps + request->block_steps - 1) / request->block_steps;
}

uint64_t charge_request_steps_of(const struct charge_request *request, uint64_t count)
{
    uint64_t steps = charge_request_steps(request),
             those = count * request->block_steps;
    return those < steps ? those : steps;
}

enum status charge_request_mechanism(struct mechanism *m,
                                     const struct charge_request *request,
                                     enum relation relation, struct error *error)
{
    char pointer[80];
    size_t at = 0;
    struct error inner = {0};
    enum status status = outside_mechanism(m, request->works, request->work_count,
                                           relation, &at, &inner);
    if (status == ST_OK) {
        m->unit = request->unit;
        return ST_OK;
    }
    if (request->is_list)
        snprintf(pointer, sizeof pointer, "/mechanism/%zu%.48s", at, inner.pointer);
    else
        snprintf(pointer, sizeof pointer, "/mechanism%.48s", inner.pointer);
    return error_set_at(error, status, pointer, "%s", inner.text);
}

static void read_process(char process[CHARGE_PROCESS_SIZE], struct json_node node)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    enum { LEAST = 16 };
    const char *text = json_read_text(node);
    size_t length = strlen(text);
    if (length >= LEAST && length < CHARGE_PROCESS_SIZE &&
        strspn(text, letters) == length)
        memcpy(process, text, length + 1);
    else
        json_refuse(
            node,
            "must be %d to %d letters, digits, _ or -, drawn again whenever the "
            "process starts",
            LEAST, CHARGE_PROCESS_SIZE - 1);
}

enum status block_request_parse(struct block_request *request, struct json_text body,
                                struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct block_request read = {0};
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        json_read_object(root, (const char *const[]){"block", "process", NULL});
        read.block = json_read_count(json_member(&root, "block"), 1, LIMIT_STEPS);
        read_process(read.process, json_member(&root, "process"));
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *request = read;
    return status;
}
