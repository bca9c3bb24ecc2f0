/* bytes - the ids of a text are its bytes, 0 to 255: for names, codes and other short
 * strings, whose spelling a network of characters reads. It has no file and no frame. */
#include "engine/text/tokenizer_kind.h"

static enum status bytes_open(struct tokenizer_model *model, const struct text *files,
                              const struct tokenizer_options *options,
                              struct error *error)
{
    (void)files;
    (void)options;
    (void)error;
    *model = (struct tokenizer_model){.vocabulary = 256, .start = -1, .end = -1};
    return ST_OK;
}

static enum status bytes_encode(const void *state, struct text text,
                                struct id_list *list)
{
    (void)state;
    for (size_t i = 0; i < text.size; i++)
        if (!id_list_put(list, (unsigned char)text.bytes[i]))
            break;
    return ST_OK;
}

static void bytes_destroy(void *state)
{
    (void)state;
}

const struct tokenizer_kind bytes_tokenizer = {
    .name = "bytes",
    .open = bytes_open,
    .encode = bytes_encode,
    .destroy = bytes_destroy,
};
