#include "service/ingest/import_reports.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/principal.h"
#include "engine/data/readers/import_report.h"
#include "service/ingest/upload_senders.h"

struct awaited {
    char dataset[sizeof(struct dataset_id)];
    struct principal principal;
    struct import_report *report; /* NULL: its import has not ended */
    int64_t put_ns;
};

struct import_reports {
    pthread_mutex_t lock; /* guards the members below */
    size_t count;
    struct awaited items[REPORTS_MAX]; /* the oldest one first */
};

struct import_reports *import_reports_create(void)
{
    struct import_reports *reports = calloc(1, sizeof *reports);
    CHECK(reports != NULL);
    CHECK(pthread_mutex_init(&reports->lock, NULL) == 0);
    return reports;
}

/* The caller holds the lock. */
static void drop_at(struct import_reports *reports, size_t place)
{
    import_report_destroy(reports->items[place].report);
    reports->count--;
    memmove(&reports->items[place], &reports->items[place + 1],
            (reports->count - place) * sizeof *reports->items);
}

void import_reports_destroy(struct import_reports *reports)
{
    if (reports == NULL)
        return;
    while (reports->count > 0)
        drop_at(reports, reports->count - 1);
    pthread_mutex_destroy(&reports->lock);
    free(reports);
}

/* Returns the dataset's item, or NULL. The caller holds the lock. */
static struct awaited *find(struct import_reports *reports, const char *dataset)
{
    for (size_t i = 0; i < reports->count; i++)
        if (strcmp(reports->items[i].dataset, dataset) == 0)
            return &reports->items[i];
    return NULL;
}

static void drop_item(struct import_reports *reports, const struct awaited *item)
{
    if (item != NULL)
        drop_at(reports, (size_t)(item - reports->items));
}

void import_reports_await(struct import_reports *reports, const char *dataset,
                          const struct principal *principal)
{
    struct awaited item = {.principal = *principal};
    CHECK(strlen(dataset) < sizeof item.dataset);
    strcpy(item.dataset, dataset);
    pthread_mutex_lock(&reports->lock);
    drop_item(reports, find(reports, dataset));
    if (reports->count == REPORTS_MAX)
        drop_at(reports, 0);
    reports->items[reports->count++] = item;
    pthread_mutex_unlock(&reports->lock);
}

void import_reports_drop(struct import_reports *reports, const char *dataset)
{
    pthread_mutex_lock(&reports->lock);
    drop_item(reports, find(reports, dataset));
    pthread_mutex_unlock(&reports->lock);
}

bool import_reports_awaits(struct import_reports *reports, const char *dataset)
{
    pthread_mutex_lock(&reports->lock);
    const struct awaited *item = find(reports, dataset);
    bool awaits = item != NULL && item->report == NULL;
    pthread_mutex_unlock(&reports->lock);
    return awaits;
}

void import_reports_put(struct import_reports *reports, const char *dataset,
                        struct import_report *report_take)
{
    pthread_mutex_lock(&reports->lock);
    struct awaited *item = find(reports, dataset);
    if (item != NULL && item->report == NULL) {
        item->report = report_take;
        item->put_ns = clock_monotonic_ns();
        report_take = NULL;
    }
    pthread_mutex_unlock(&reports->lock);
    import_report_destroy(report_take);
}

struct import_report *import_reports_take(struct import_reports *reports,
                                          const char *dataset,
                                          const struct principal *principal)
{
    struct import_report *report = NULL;
    pthread_mutex_lock(&reports->lock);
    struct awaited *item = find(reports, dataset);
    if (item != NULL && upload_sender_same(&item->principal, principal)) {
        report = item->report;
        item->report = NULL;
        if (report != NULL)
            drop_item(reports, item);
    }
    pthread_mutex_unlock(&reports->lock);
    return report;
}

void import_reports_expire(struct import_reports *reports, int64_t now_ns)
{
    const int64_t kept_ns = INT64_C(1000000000) * REPORT_KEPT_S;
    pthread_mutex_lock(&reports->lock);
    for (size_t i = reports->count; i > 0; i--) {
        const struct awaited *item = &reports->items[i - 1];
        if (item->report != NULL && now_ns - item->put_ns >= kept_ns)
            drop_at(reports, i - 1);
    }
    pthread_mutex_unlock(&reports->lock);
}
