/*
 * system_view.h - what the program answers about itself: its algorithms and its version.
 */
#ifndef API_SYSTEM_VIEW_H
#define API_SYSTEM_VIEW_H

/* Renders {"algorithms":[...]} of GET /v1/algorithms: every row of engine/dp's table with
 * the JSON Schema of its parameters. To be freed. */
char *algorithms_render(void);

/* Renders what a client may rely on: version, API, formats, kernel. To be freed. */
char *version_render(const char *version, const char *kernel);

#endif
