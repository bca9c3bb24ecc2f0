#include "service/audit/download_events.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/rows/audit_rows.h"

enum { NAME_SIZE = 256, HOUR_S = 3600 };

struct download_events {
    pthread_mutex_t lock; /* guards all below */
    char names[DOWNLOAD_EVENTS_KNOWN_MAX][NAME_SIZE];
    size_t next; /* the index that is overwritten next */
};

struct download_events *download_events_create(void)
{
    struct download_events *downloads = calloc(1, sizeof *downloads);
    CHECK(downloads != NULL);
    pthread_mutex_init(&downloads->lock, NULL);
    return downloads;
}

void download_events_destroy(struct download_events *downloads)
{
    if (downloads == NULL)
        return;
    pthread_mutex_destroy(&downloads->lock);
    free(downloads);
}

/* Writes a name for client, file and hour. No part of it contains a blank. */
static void name(char text[NAME_SIZE], const struct audit_row *row)
{
    snprintf(text, NAME_SIZE, "%" PRId64 " %s %s %s %s", row->second / HOUR_S,
             row->object, row->actor, row->key, row->address);
}

bool download_events_know(struct download_events *downloads,
                          const struct audit_row *row)
{
    char wanted[NAME_SIZE];
    bool known = false;
    name(wanted, row);
    pthread_mutex_lock(&downloads->lock);
    for (size_t i = 0; i < DOWNLOAD_EVENTS_KNOWN_MAX && !known; i++)
        known = strcmp(downloads->names[i], wanted) == 0;
    pthread_mutex_unlock(&downloads->lock);
    return known;
}

void download_events_remember(struct download_events *downloads,
                              const struct audit_row *row)
{
    pthread_mutex_lock(&downloads->lock);
    name(downloads->names[downloads->next], row);
    downloads->next = (downloads->next + 1) % DOWNLOAD_EVENTS_KNOWN_MAX;
    pthread_mutex_unlock(&downloads->lock);
}
