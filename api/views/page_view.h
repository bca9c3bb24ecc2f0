/*
 * page_view.h - a page of a list in API responses.
 */
#ifndef API_VIEWS_PAGE_VIEW_H
#define API_VIEWS_PAGE_VIEW_H

#include <stddef.h>
#include <stdint.h>

/* Renders {"<name>":[items...],"next_page_token":token or null}, to be freed. items
 * are JSON texts. */
char *page_render(const char *name, char *const *items, size_t count,
                  const char *token);

/* The same, followed by "archived_to":N if archived_to is not 0. */
char *page_render_archived(const char *name, char *const *items, size_t count,
                           const char *token, uint64_t archived_to);

#endif
