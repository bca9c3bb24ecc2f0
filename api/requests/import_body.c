#include "api/requests/import_body.h"

#include "base/hash.h"

enum status import_body_parse(struct import_body *out, struct json_text body,
                              struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct import_body read = {.has_query = false};
    enum status status = ST_OK;
    if (body.size > 0) {
        if (json_reader_open(&reader, &root, body, error) == ST_OK) {
            json_read_object(root,
                             (const char *const[]){"acknowledge", "postgresql", NULL});
            struct json_node query = json_member(&root, "postgresql");
            read.acknowledged = acknowledgement_read(&root);
            read.has_query = json_present(query);
            if (read.has_query)
                query_request_read(&read.query, query);
        }
        status = json_reader_close(&reader);
    }
    if (status == ST_OK)
        *out = read;
    hash_zero(&read, sizeof read);
    return status;
}
