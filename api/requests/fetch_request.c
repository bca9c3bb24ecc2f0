#include "api/requests/fetch_request.h"

#include <stdio.h>
#include <string.h>

#include "api/json/json_reader.h"

/* Copies a text of printable ASCII without blanks, which becomes part of a header. */
static void read_token(char *out, size_t room, struct json_node node)
{
    const char *text = json_read_text(node);
    size_t length = strlen(text);
    bool printable = length > 0;
    for (size_t i = 0; i < length; i++)
        printable = printable && text[i] > ' ' && text[i] < 127;
    if (!printable || length >= room)
        json_refuse(node, "must be 1 to %zu printable ASCII characters, without blanks",
                    room - 1);
    else
        memcpy(out, text, length + 1);
}

static bool is_there(struct json_node node)
{
    return json_present(node) && !json_is_null(node.value);
}

static void read_sha256(struct fetch_request *request, struct json_node node)
{
    request->has_sha256 = is_there(node);
    if (!request->has_sha256)
        return;
    const char *text = json_read_text(node);
    if (strlen(text) != SHA256_HEX_SIZE - 1 ||
        strspn(text, "0123456789abcdef") != SHA256_HEX_SIZE - 1)
        json_refuse(node, "must be a digest in lower-case hex");
    else
        memcpy(request->sha256, text, SHA256_HEX_SIZE);
}

static void read_region(char *out, size_t room, struct json_node node)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const char *text = json_read_text(node);
    size_t length = strlen(text);
    if (length == 0 || length >= room || strspn(text, letters) != length)
        json_refuse(node, "must match [a-z0-9-]{1,%zu}", room - 1);
    else
        memcpy(out, text, length + 1);
}

static void read_s3(struct fetch_request *request, struct json_node node)
{
    request->has_s3 = is_there(node);
    if (!request->has_s3)
        return;
    json_read_object(node,
                     (const char *const[]){"region", "access_key_id",
                                           "secret_access_key", "session_token", NULL});
    read_region(request->region, sizeof request->region, json_member(&node, "region"));
    read_token(request->access_key_id, sizeof request->access_key_id,
               json_member(&node, "access_key_id"));
    read_token(request->secret_access_key, sizeof request->secret_access_key,
               json_member(&node, "secret_access_key"));
    struct json_node token = json_member(&node, "session_token");
    if (is_there(token))
        read_token(request->session_token, sizeof request->session_token, token);
}

enum status fetch_request_parse(struct fetch_request *request, struct json_text body,
                                struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct fetch_request read = {.url = ""};
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        json_read_object(root, (const char *const[]){"url", "sha256", "s3", NULL});
        struct json_node url = json_member(&root, "url");
        read_token(read.url, sizeof read.url, url);
        read_sha256(&read, json_member(&root, "sha256"));
        read_s3(&read, json_member(&root, "s3"));
        if (read.has_s3 && strchr(read.url, '?') != NULL)
            json_refuse(url, "must have no query where s3 signs it");
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *request = read;
    hash_zero(&read, sizeof read);
    return status;
}
