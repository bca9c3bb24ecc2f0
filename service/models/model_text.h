/*
 * model_text.h - what a model's file says in its metadata (docs/model-file.md): how the
 * model is built, how records are encoded, its certificate, and the file of its body.
 *
 * Threads: any.
 */
#ifndef SERVICE_MODELS_MODEL_TEXT_H
#define SERVICE_MODELS_MODEL_TEXT_H

#include "api/views/model_view.h"
#include "engine/model_file/safetensors.h"

struct daemon_state;

enum { MODEL_TEXTS_MAX = 5 };

struct model_text {
    struct metadata_list metadata; /* borrows the rest */
    struct metadata items[MODEL_TEXTS_MAX];
    char *arch, *inputs, *base;
    const struct model_spec *model; /* the request's */
    const struct schema *declared;  /* the dataset's */
    struct schema schema;           /* with the ranges that the model was scaled by */
};

/* Fills in the texts of the model that this request made. The request, the card and the
 * dataset must outlive it.
 *   base  NULL: the file is whole */
void model_text_init(struct model_text *text, struct daemon_state *context,
                     const struct job_request *request, const char *card,
                     const struct certificate_base *base);
void model_text_fini(struct model_text *text);

#endif
