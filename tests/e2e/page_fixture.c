#include "tests/e2e/page_fixture.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/expect.h"

enum { LINE_MAX_SIZE = 512, TEXT_MAX = 1 << 20 };

static const char address[] = "B=http://127.0.0.1:8080\n";

/* Returns the number of # at the beginning of the line. */
static size_t level(const char *line)
{
    return strspn(line, "#");
}

char *page_session(const char *page, const char *heading)
{
    FILE *file = fopen(page, "r");
    assert_non_null(file);
    char line[LINE_MAX_SIZE], *text = calloc(1, TEXT_MAX), *end = text;
    assert_non_null(text);
    bool wanted = heading == NULL, inside = false;
    while (fgets(line, sizeof line, file) != NULL) {
        if (inside && strcmp(line, "```\n") == 0)
            inside = false;
        else if (inside)
            end = stpcpy(end, line);
        else if (wanted && strcmp(line, "```sh\n") == 0)
            inside = true;
        else if (heading != NULL && strcmp(line, heading) == 0)
            wanted = true;
        else if (heading != NULL && wanted && level(line) == level(heading))
            break;
    }
    fclose(file);
    assert_true(end > text);
    assert_false(inside);
    return text;
}

int page_run(const char *session, const char *folder, const char *base)
{
    assert_int_equal(strncmp(session, address, strlen(address)), 0);
    char path[256], command[512];
    snprintf(path, sizeof path, "%s/session", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "B=%s\n%s", base, session + strlen(address)) > 0);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "cd '%s' && sh -eu ./session > output 2>&1",
             folder);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

char *page_output(const char *folder)
{
    char path[256], *text = calloc(1, TEXT_MAX);
    assert_non_null(text);
    snprintf(path, sizeof path, "%s/output", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, TEXT_MAX - 1, file) > 0);
    fclose(file);
    return text;
}
