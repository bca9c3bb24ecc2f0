#include "service/ingest/declared_tokenizer.h"

#include <stdio.h>
#include <string.h>

#include "api/http/roles.h"
#include "api/requests/dataset_request.h"
#include "api/requests/tokenizer_text.h"
#include "service/access/access.h"
#include "service/models/tokenizers.h"
#include "service/process/daemon_state.h"
#include "store/rows/weights_rows.h"

enum { POINTER_SIZE = 64 };

static void point(char pointer[POINTER_SIZE], size_t column, const char *member)
{
    snprintf(pointer, POINTER_SIZE, "/columns/%zu/tokenizer%s%s", column,
             member[0] != '\0' ? "/" : "", member);
}

/* Fills in the digest of a file of the column at index. */
static enum status fill_digest(struct daemon_state *context,
                               const struct principal *principal, size_t index,
                               struct text_column *text, size_t file,
                               struct error *error)
{
    char pointer[POINTER_SIZE], digest[SHA256_HEX_SIZE];
    const struct weights_row *row;
    point(pointer, index, tokenizer_file_member(file));
    const struct access_question question = {principal, SCOPE_CERTIFICATES_READ,
                                             pointer};
    enum status status =
        access_find_file(context, &question, text->files[file].text, &row, error);
    if (status != ST_OK)
        return status;
    if (strcmp(row->kind, file_kind_names[FILE_TOKENIZER]) != 0)
        return error_set_at(error, ST_INVALID, pointer,
                            "must be a file of a tokenizer: this one holds weights. "
                            "Upload the vocabulary with ?kind=tokenizer");
    sha256_render(digest, row->sha256);
    if (text->sha256[file][0] != '\0' && strcmp(text->sha256[file], digest) != 0) {
        point(pointer, index, "sha256");
        return error_set_at(error, ST_INVALID, pointer,
                            "must be the digest of %s, which is %s: leave it out, or "
                            "name the file that has it",
                            row->id.text, digest);
    }
    memcpy(text->sha256[file], digest, sizeof digest);
    return ST_OK;
}

static enum status fill_tokens(struct daemon_state *context,
                               struct blob_prefetch *prefetch, size_t index,
                               struct text_column *text, struct error *error)
{
    char pointer[POINTER_SIZE];
    const struct tokenizer *tokenizer = NULL;
    struct error local = {0};
    point(pointer, index, "");
    enum status status = tokenizers_take(context, text, prefetch, &tokenizer, &local);
    if (status != ST_OK)
        return error_set_at(error, status, pointer, "%s", local.text);
    const uint32_t tokens = tokenizer_vocabulary(tokenizer);
    tokenizers_give(context, tokenizer);
    if (text->vocabulary > 0 && text->vocabulary != tokens) {
        point(pointer, index, "tokens");
        return error_set_at(error, ST_INVALID, pointer,
                            "must be %u, the number of tokens in its files: leave it "
                            "out, or name other files",
                            tokens);
    }
    text->vocabulary = tokens;
    return ST_OK;
}

enum status declared_tokenizer_fill(struct daemon_state *context,
                                    const struct principal *principal,
                                    struct blob_prefetch *prefetch,
                                    struct dataset_spec *spec, struct error *error)
{
    const struct column *declared = schema_text(&spec->schema);
    if (declared == NULL)
        return ST_OK;
    const size_t index = (size_t)(declared - spec->schema.columns);
    struct text_column *text = spec->schema.columns[index].text;
    enum status status = ST_OK;
    for (size_t i = 0; i < text_column_files(text) && status == ST_OK; i++)
        status = fill_digest(context, principal, index, text, i, error);
    return status == ST_OK ? fill_tokens(context, prefetch, index, text, error)
                           : status;
}
