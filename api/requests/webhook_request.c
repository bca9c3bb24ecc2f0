#include "api/requests/webhook_request.h"

#include <stdio.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/requests/dataset_request.h"

static void read_url(char url[LIMIT_URL + 1], struct json_node node)
{
    const char *text = json_read_text(node);
    if (strlen(text) > LIMIT_URL)
        json_refuse(node, "must have at most %d bytes", LIMIT_URL);
    else
        snprintf(url, LIMIT_URL + 1, "%s", text);
}

static unsigned read_event(struct json_node node)
{
    enum webhook_event_type type;
    const char *text = json_read_text(node);
    if (webhook_event_parse(&type, text))
        return 1u << type;
    json_refuse(node, "must be the name of an event");
    return 0;
}

static unsigned read_events(struct json_node node)
{
    unsigned events = 0;
    size_t count = json_read_array(node, 1, EVENT_TEST);
    for (size_t i = 0; i < count; i++) {
        struct json_node element = json_element(&node, i);
        unsigned event = read_event(element);
        if ((events & event) != 0)
            json_refuse(element, "stands twice");
        events |= event;
    }
    return events;
}

enum status webhook_request_parse(struct webhook_request *request,
                                  struct json_text body, struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct webhook_request read = {0};
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        json_read_object(root, (const char *const[]){"url", "events", "dataset", NULL});
        read_url(read.url, json_member(&root, "url"));
        read.events = read_events(json_member(&root, "events"));
        struct json_node dataset = json_member(&root, "dataset");
        if (json_present(dataset) && !json_is_null(dataset.value)) {
            read.has_dataset = true;
            dataset_request_read_id(&read.dataset, dataset);
        }
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *request = read;
    return status;
}
