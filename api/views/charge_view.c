#include "api/views/charge_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/views/budget_view.h"
#include "base/check.h"

static void write_request(struct json_writer *writer,
                          const struct charge_request *request)
{
    json_write_text(writer, "dataset", request->dataset.text);
    json_write_text(writer, "engine", request->engine);
    charge_works_write(writer, request);
    json_write_text(writer, "unit", privacy_unit_name(request->unit));
    if (request->parts != PARTS_UNNAMED)
        charge_parts_write(writer, request);
    else
        json_write_null(writer, "parts");
    json_write_count_if(writer, request->records > 0, "records", request->records);
    json_write_count(writer, "steps", charge_request_steps(request));
    json_write_count(writer, "block_steps", request->block_steps);
    json_write_count(writer, "blocks", charge_request_blocks(request));
    json_write_count(writer, "lease_s", request->lease_s);
}

static void write_price(struct json_writer *writer,
                        const struct charge_figures *figures)
{
    json_write_real(writer, "epsilon_planned", figures->epsilon_planned);
    json_write_real(writer, "delta", figures->delta);
    json_write_real_if(writer, figures->order > 0, "order", figures->order);
}

char *charge_render(const struct charge_view *view)
{
    struct json_writer writer;
    const struct charge_request *request = view->request;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", view->id->text);
    json_write_text(&writer, "state", view->state);
    json_write_text(&writer, "project", view->project);
    json_write_text(&writer, "created_by", view->created_by);
    write_request(&writer, request);
    json_write_count(&writer, "blocks_granted", view->blocks);
    json_write_count(&writer, "authorised_steps",
                     charge_request_steps_of(request, view->blocks));
    write_price(&writer, &view->figures);
    json_write_real(&writer, "epsilon_spent", view->figures.epsilon_spent);
    json_write_count_if(&writer, view->ledger_seq > 0, "ledger_seq", view->ledger_seq);
    json_write_text(&writer, "condition", budget_condition);
    json_write_time(&writer, "create_time", view->create_ms);
    json_write_time(&writer, "lease_end_time", view->lease_end_ms);
    json_write_time(&writer, "end_time", view->end_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *block_render(const struct charge_view *view)
{
    struct json_writer writer;
    const struct charge_request *request = view->request;
    uint64_t before = charge_request_steps_of(request, view->blocks - 1);
    uint64_t after = charge_request_steps_of(request, view->blocks);
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "charge", view->id->text);
    json_write_count(&writer, "block", view->blocks);
    json_write_count(&writer, "blocks", charge_request_blocks(request));
    json_write_count(&writer, "first_step", before + 1);
    json_write_count(&writer, "last_step", after);
    json_write_count(&writer, "steps", after - before);
    json_write_time(&writer, "lease_end_time", view->lease_end_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *charge_estimate_render(const struct charge_estimate *estimate)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "fits", ledger_fits_name(estimate->outlook->fits));
    write_request(&writer, estimate->request);
    write_price(&writer, &estimate->figures);
    json_write_raw(&writer, "priced_as", estimate->priced_as);
    json_write_real(&writer, "largest_epsilon", estimate->room.largest_epsilon);
    json_write_count_if(&writer, estimate->request->work_count == 1, "most_steps",
                        estimate->room.most_steps);
    outlook_write(&writer, estimate->outlook);
    json_write_text(&writer, "condition", budget_condition);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *charge_figures_render(const struct charge_figures *figures)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    write_price(&writer, figures);
    json_write_real(&writer, "epsilon_spent", figures->epsilon_spent);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

bool charge_figures_parse(struct charge_figures *figures, const char *text)
{
    static const struct json_range good = {0, HUGE_VAL, .high_open = true};
    struct json_reader reader;
    struct json_node root;
    struct charge_figures read = {0};
    if (json_reader_open(&reader, &root, json_text_of(text), NULL) == ST_OK) {
        struct json_node order = json_member(&root, "order");
        json_read_object(root, (const char *const[]){"epsilon_planned", "delta",
                                                     "order", "epsilon_spent", NULL});
        read.epsilon_planned =
            json_read_real(json_member(&root, "epsilon_planned"), good);
        read.delta = json_read_real(json_member(&root, "delta"), good);
        if (!json_is_null(order.value))
            read.order = json_read_real(order, good);
        read.epsilon_spent = json_read_real(json_member(&root, "epsilon_spent"), good);
    }
    if (json_reader_close(&reader) != ST_OK)
        return false;
    *figures = read;
    return true;
}

char *charge_act_render(const struct charge_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", view->request->dataset.text);
    json_write_text(&writer, "engine", view->request->engine);
    json_write_real(&writer, "epsilon", view->figures.epsilon_planned);
    json_write_count(&writer, "ledger_seq", view->ledger_seq);
    acknowledgement_write_if(&writer, view->request->acknowledged);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
