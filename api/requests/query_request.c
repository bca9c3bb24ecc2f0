#include "api/requests/query_request.h"

#include <string.h>

static const char *const members[] = {"host",    "port",     "database",
                                      "user",    "password", "sslmode",
                                      "seconds", "query",    NULL};

enum { PORT_MAX = 65535, PORT_DEFAULT = 5432 };

/* Copies a text of printable ASCII. */
static void read_printable(char *out, size_t room, struct json_node node)
{
    const char *text = json_read_text(node);
    size_t length = strlen(text);
    bool printable = length > 0;
    for (size_t i = 0; i < length; i++)
        printable = printable && text[i] >= ' ' && text[i] < 127;
    if (!printable || length >= room)
        json_refuse(node, "must be 1 to %zu printable ASCII characters", room - 1);
    else
        memcpy(out, text, length + 1);
}

/* A comma would name several servers, a slash or an @ a socket of this host. */
static void read_host(char *out, struct json_node node)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789.:_-";
    const char *text = json_read_text(node);
    size_t length = strlen(text);
    if (length == 0 || length > LIMIT_HOST_NAME || strspn(text, letters) != length)
        json_refuse(node,
                    "must be the name or the address of one host: "
                    "[A-Za-z0-9.:_-]{1,%d}",
                    LIMIT_HOST_NAME);
    else
        memcpy(out, text, length + 1);
}

static void read_sslmode(bool *plain, struct json_node node)
{
    const char *text = json_present(node) ? json_read_text(node) : "verify-full";
    *plain = strcmp(text, "disable") == 0;
    if (!*plain && strcmp(text, "verify-full") != 0)
        json_refuse(node,
                    "must be \"verify-full\", or \"disable\" for a server on this "
                    "host");
}

static unsigned read_count_or(struct json_node node, unsigned absent, unsigned most)
{
    return json_present(node) ? (unsigned)json_read_count(node, 1, most) : absent;
}

static void read_query(char *out, struct json_node node)
{
    const char *text = json_read_text(node);
    if (text[0] == '\0')
        json_refuse(node, "must be one SELECT");
    else
        memcpy(out, text, strlen(text) + 1);
}

void query_request_read(struct query_request *query, struct json_node node)
{
    json_read_object(node, members);
    read_host(query->host, json_member(&node, "host"));
    query->port = read_count_or(json_member(&node, "port"), PORT_DEFAULT, PORT_MAX);
    read_printable(query->database, sizeof query->database,
                   json_member(&node, "database"));
    read_printable(query->user, sizeof query->user, json_member(&node, "user"));
    read_printable(query->password, sizeof query->password,
                   json_member(&node, "password"));
    read_sslmode(&query->plain, json_member(&node, "sslmode"));
    query->seconds = read_count_or(json_member(&node, "seconds"), LIMIT_QUERY_S_DEFAULT,
                                   LIMIT_QUERY_S);
    read_query(query->query, json_member(&node, "query"));
}
