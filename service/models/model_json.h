/*
 * model_json.h - the JSON of a model in replies: its row, and facts of its job.
 *
 * Threads: any.
 */
#ifndef SERVICE_MODELS_MODEL_JSON_H
#define SERVICE_MODELS_MODEL_JSON_H

struct daemon_state;
struct model_row;

/* The model as JSON text, to be freed. */
char *model_json(const struct daemon_state *context, const struct model_row *row);

#endif
