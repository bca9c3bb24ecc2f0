#include "accountant/ledger/replay_marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void replay_marks_fini(struct replay_marks *marks)
{
    free(marks->items);
    *marks = (struct replay_marks){0};
}

void replay_marks_add(struct replay_marks *marks, const char *job, uint64_t authorised)
{
    if (marks->count == marks->capacity) {
        marks->capacity = marks->capacity == 0 ? 64 : 2 * marks->capacity;
        marks->items =
            reallocarray(marks->items, marks->capacity, sizeof *marks->items);
        CHECK(marks->items != NULL);
    }
    struct mark *mark = &marks->items[marks->count++];
    *mark = (struct mark){.authorised = authorised};
    snprintf(mark->job, sizeof mark->job, "%s", job);
}

static int compare_mark(const void *job, const void *mark)
{
    return strcmp(job, ((const struct mark *)mark)->job);
}

/* Jobs reserve nearly in the order of their names. */
struct mark *replay_marks_find(struct replay_marks *marks, const struct job_id *job)
{
    struct mark *mark = NULL;
    if (marks->next < marks->count &&
        strcmp(marks->items[marks->next].job, job->text) == 0)
        mark = &marks->items[marks->next];
    else if (marks->count > 0)
        mark = bsearch(job->text, marks->items, marks->count, sizeof *marks->items,
                       compare_mark);
    if (mark != NULL)
        marks->next = (size_t)(mark - marks->items) + 1;
    return mark;
}

const struct mark *replay_marks_unused(const struct replay_marks *marks)
{
    for (size_t i = 0; i < marks->count; i++) {
        if (!marks->items[i].used)
            return &marks->items[i];
    }
    return NULL;
}
