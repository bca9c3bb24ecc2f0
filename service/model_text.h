/*
 * model_text.h - the JSON of a model in replies: its row, and facts of its job.
 *
 * Threads: any.
 */
#ifndef SERVICE_MODEL_TEXT_H
#define SERVICE_MODEL_TEXT_H

struct context;
struct model_row;

/* The model as JSON text, to be freed. */
char *model_text(const struct context *context, const struct model_row *row);

#endif
