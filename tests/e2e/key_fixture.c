#include "tests/e2e/key_fixture.h"

#include <stdio.h>
#include <string.h>

#include "tests/expect.h"

/* The command has printed the key in the last line of the log. */
void key_make(struct daemon *daemon, const char *owner, const char *role,
              const char *project, char key[KEY_SIZE])
{
    char path[96], line[4096];
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"key", "create", "--owner", owner,
                                                 "--role", role, "--project", project,
                                                 "--data-dir", daemon->data_dir, NULL}),
        0);
    snprintf(path, sizeof path, "%s/log", daemon->directory);
    FILE *log = fopen(path, "r");
    assert_non_null(log);
    key[0] = '\0';
    while (fgets(line, sizeof line, log) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "dpk_", 4) == 0)
            snprintf(key, KEY_SIZE, "%.*s", KEY_SIZE - 1, line);
    }
    fclose(log);
    assert_string_not_equal(key, "");
}

struct key_header key_header(const char *key)
{
    struct key_header header;
    snprintf(header.text, sizeof header.text, "Authorization: Bearer %s", key);
    return header;
}
