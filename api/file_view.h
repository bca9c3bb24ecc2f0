/*
 * file_view.h - an uploaded file of public weights as answered.
 */
#ifndef API_FILE_VIEW_H
#define API_FILE_VIEW_H

#include "store/weights_rows.h"

/* {"id","note","sha256","size","project","created_by","create_time"}, to be freed. */
char *file_render(const struct weights_row *row);

#endif
