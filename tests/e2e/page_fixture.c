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

/* Returns the lines of the blocks of the kind that opening begins: as page_session. */
static char *blocks(const char *page, const char *heading, const char *opening)
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
        else if (wanted && strcmp(line, opening) == 0)
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

char *page_session(const char *page, const char *heading)
{
    return blocks(page, heading, "```sh\n");
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

/* Moves *at past its line, which has `length` characters. Returns false at the end. */
static bool next_line(char **at, char **line, int *length)
{
    *at += strspn(*at, "\n");
    *line = *at;
    *length = (int)strcspn(*at, "\n");
    *at += *length;
    return *length > 0;
}

/* Returns whether the printed line is the line shown, whose decimal numbers stand for
 * any number. */
static bool line_matches(const char *shown, const char *end, const char *printed)
{
    while (shown < end) {
        size_t number = strspn(shown, "0123456789.");
        if (memchr(shown, '.', number) != NULL) {
            size_t other = strspn(printed, "0123456789.e-");
            if (other == 0)
                return false;
            shown += strspn(shown, "0123456789.e-");
            printed += other;
        } else if (*shown++ != *printed++) {
            return false;
        }
    }
    return *printed == '\n' || *printed == '\0';
}

void page_assert_output(const char *page, const char *folder)
{
    char *shown = blocks(page, NULL, "```text\n"), *printed = page_output(folder);
    char *from = shown, *to = printed, *wanted, *line;
    int wanted_length, length;
    while (next_line(&from, &wanted, &wanted_length)) {
        bool skips = strncmp(wanted, "...\n", 4) == 0;
        if (skips)
            assert_true(next_line(&from, &wanted, &wanted_length));
        do
            if (!next_line(&to, &line, &length))
                fail_msg("nothing printed is the line that the page shows: %.*s",
                         wanted_length, wanted);
        while (skips && !line_matches(wanted, wanted + wanted_length, line));
        if (!line_matches(wanted, wanted + wanted_length, line))
            fail_msg("the page shows %.*s\nbut this was printed: %.*s", wanted_length,
                     wanted, length, line);
    }
    if (next_line(&to, &line, &length))
        fail_msg("the page does not show the printed line %.*s", length, line);
    free(shown);
    free(printed);
}
