/*
 * views.h - all resources as answered: plain structs to JSON text. Every renderer
 * returns text to be released with free(). Reals have 15 significant digits; on ledger,
 * budget and estimate routes and in what is stored as many as read back to the same
 * double. Infinity is null; times are RFC 3339 UTC in whole seconds; 0 ms is null.
 */
#ifndef API_VIEWS_H
#define API_VIEWS_H

#include "api/dataset_view.h"
#include "api/job_view.h"
#include "api/budget_view.h"
#include "api/model_view.h"
#include "api/page_view.h"

#endif
