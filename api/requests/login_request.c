#include "api/requests/login_request.h"

#include <stdio.h>
#include <string.h>

#include "api/json/json_reader.h"

enum status login_request_parse(char key[LOGIN_KEY_SIZE], struct json_text body,
                                struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    char read[LOGIN_KEY_SIZE] = "";
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        struct json_node member = json_member(&root, "key");
        json_read_object(root, (const char *const[]){"key", NULL});
        const char *text = json_read_text(member);
        if (strlen(text) >= sizeof read)
            json_refuse(member, "no key is as long as that");
        else
            snprintf(read, sizeof read, "%s", text);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        memcpy(key, read, sizeof read);
    return status;
}
