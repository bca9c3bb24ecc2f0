/*
 * file_view.h - an uploaded file of public weights in API responses.
 */
#ifndef API_VIEWS_FILE_VIEW_H
#define API_VIEWS_FILE_VIEW_H

#include "store/rows/weights_rows.h"

/* Renders {"id","kind","note","sha256","size","project","created_by","create_time"}, to
 * be freed. */
char *file_render(const struct weights_row *row);

#endif
