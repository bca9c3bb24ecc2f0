/*
 * page_view.h - lists, and the two answers that belong to no resource.
 */
#ifndef API_PAGE_VIEW_H
#define API_PAGE_VIEW_H

#include <stddef.h>

/* Renders {"<name>":[items...],"next_page_token":token or null}; items are JSON
 * texts. */
char *page_render(const char *name, char *const *items, size_t count,
                  const char *token);

char *algorithms_render(void); /* GET /v1/algorithms */
char *version_render(const char *version, const char *kernel);

#endif
