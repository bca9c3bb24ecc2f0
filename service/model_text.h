/*
 * model_text.h - a model as answered: its row, and what its job says of it.
 *
 * Threads: any.
 */
#ifndef SERVICE_MODEL_TEXT_H
#define SERVICE_MODEL_TEXT_H

#include "service/context.h"

/* The model as JSON text, to be freed. */
char *model_text(const struct context *context, const struct model_row *row);

#endif
