/*
 * page_view.h - a page of a list as answered.
 */
#ifndef API_PAGE_VIEW_H
#define API_PAGE_VIEW_H

#include <stddef.h>

/* Renders {"<name>":[items...],"next_page_token":token or null}, to be freed; items are
 * JSON texts. */
char *page_render(const char *name, char *const *items, size_t count,
                  const char *token);

#endif
