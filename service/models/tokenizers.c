#include "service/models/tokenizers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/file_checksum.h"
#include "service/http/blob_prefetch.h"
#include "service/models/weight_files.h"
#include "service/process/daemon_state.h"

struct shared {
    struct text_column column; /* whose tokenizer it is */
    struct tokenizer *tokenizer;
    size_t users;
    uint64_t used; /* when it was last given back, by tokenizers.gifts */
};

struct tokenizers {
    pthread_mutex_t lock; /* guards the rest */
    struct shared *items;
    size_t count, room;
    uint64_t gifts;
};

struct tokenizers *tokenizers_create(void)
{
    struct tokenizers *tokenizers = calloc(1, sizeof *tokenizers);
    CHECK(tokenizers != NULL);
    pthread_mutex_init(&tokenizers->lock, NULL);
    return tokenizers;
}

void tokenizers_destroy(struct tokenizers *tokenizers)
{
    if (tokenizers == NULL)
        return;
    for (size_t i = 0; i < tokenizers->count; i++) {
        CHECK(tokenizers->items[i].users == 0);
        tokenizer_close(tokenizers->items[i].tokenizer);
    }
    pthread_mutex_destroy(&tokenizers->lock);
    free(tokenizers->items);
    free(tokenizers);
}

/* --- files --- */

static enum status borrow(struct daemon_state *context, struct blob_prefetch *prefetch,
                          const struct file_id *id, struct blob_loan *loan,
                          struct error *error)
{
    struct error local = {0};
    const struct weights_row *row = weight_files_find(context->weight_files, id->text);
    if (row == NULL)
        return error_set(error, ST_MODEL_CORRUPT, "%s was deleted", id->text);
    const struct blob_name name = blob_of_weights(id);
    const struct file_checksum seal = weights_row_seal(row);
    enum status status =
        prefetch != NULL
            ? blob_prefetch_borrow(prefetch, context->blobs, loan, &name, &local)
            : blob_fetch(context->blobs, loan, &name, &local);
    if (status == ST_OK)
        status = file_checksum_check_path(&seal, loan->path, NULL, &local);
    if (status == ST_OK)
        return ST_OK;
    if (status == ST_IO)
        status = ST_INTERNAL; /* the place of the file does not answer */
    if (status == ST_CORRUPT || status == ST_NOT_FOUND)
        status = ST_MODEL_CORRUPT; /* a file of a tokenizer is no part of the ledger */
    return error_set(error, status, "%s: %s", id->text, local.text);
}

static enum status open_tokenizer(struct daemon_state *context,
                                  const struct text_column *column,
                                  struct blob_prefetch *prefetch,
                                  struct tokenizer **out, struct error *error)
{
    struct blob_loan loans[TOKENIZER_FILES_MAX] = {{.is_lent = false}};
    const char *paths[TOKENIZER_FILES_MAX] = {NULL};
    enum status status = ST_OK;
    for (size_t i = 0; i < text_column_files(column) && status == ST_OK; i++) {
        status = borrow(context, prefetch, &column->files[i], &loans[i], error);
        paths[i] = loans[i].path;
    }
    if (status == ST_OK)
        status = tokenizer_open(out, column->kind, paths, &column->options, error);
    if (status == ST_IO)
        status = error_set(error, ST_INTERNAL, "the files of the tokenizer: %s",
                           error != NULL ? error->text : "");
    for (size_t i = 0; i < TOKENIZER_FILES_MAX; i++)
        blob_give_back(context->blobs, &loans[i]);
    return status;
}

/* --- sharing --- */

/* Returns the shared tokenizer as a user of it, or NULL. The lock is held. */
static struct tokenizer *take_shared(struct tokenizers *tokenizers,
                                     const struct text_column *column)
{
    for (size_t i = 0; i < tokenizers->count; i++) {
        struct shared *item = &tokenizers->items[i];
        if (!text_column_shares_tokenizer(&item->column, column))
            continue;
        item->users++;
        return item->tokenizer;
    }
    return NULL;
}

/* Adds a tokenizer with one user. The lock is held. */
static void add(struct tokenizers *tokenizers, const struct text_column *column,
                struct tokenizer *tokenizer)
{
    if (tokenizers->count == tokenizers->room) {
        tokenizers->room = 2 * tokenizers->room + TOKENIZERS_IDLE_MAX;
        tokenizers->items =
            realloc(tokenizers->items, tokenizers->room * sizeof *tokenizers->items);
        CHECK(tokenizers->items != NULL);
    }
    tokenizers->items[tokenizers->count++] =
        (struct shared){.column = *column, .tokenizer = tokenizer, .users = 1};
}

enum status tokenizers_take(struct daemon_state *context,
                            const struct text_column *column,
                            struct blob_prefetch *prefetch,
                            const struct tokenizer **out, struct error *error)
{
    struct tokenizers *tokenizers = context->tokenizers;
    struct tokenizer *opened;
    pthread_mutex_lock(&tokenizers->lock);
    *out = take_shared(tokenizers, column);
    pthread_mutex_unlock(&tokenizers->lock);
    if (*out != NULL)
        return ST_OK;
    enum status status = open_tokenizer(context, column, prefetch, &opened, error);
    if (status != ST_OK)
        return status;
    pthread_mutex_lock(&tokenizers->lock);
    *out = take_shared(tokenizers, column); /* opened by another thread meanwhile */
    if (*out == NULL) {
        add(tokenizers, column, opened);
        *out = opened;
        opened = NULL;
    }
    pthread_mutex_unlock(&tokenizers->lock);
    tokenizer_close(opened);
    return ST_OK;
}

/* Takes out the least recently used of too many idle tokenizers. The lock is held. */
static struct tokenizer *take_surplus(struct tokenizers *tokenizers)
{
    struct shared *oldest = NULL;
    size_t idle = 0;
    for (size_t i = 0; i < tokenizers->count; i++) {
        struct shared *item = &tokenizers->items[i];
        if (item->users > 0)
            continue;
        idle++;
        if (oldest == NULL || item->used < oldest->used)
            oldest = item;
    }
    if (idle <= TOKENIZERS_IDLE_MAX)
        return NULL;
    struct tokenizer *surplus = oldest->tokenizer;
    *oldest = tokenizers->items[--tokenizers->count];
    return surplus;
}

void tokenizers_give(struct daemon_state *context, const struct tokenizer *tokenizer)
{
    struct tokenizers *tokenizers = context->tokenizers;
    if (tokenizer == NULL)
        return;
    pthread_mutex_lock(&tokenizers->lock);
    for (size_t i = 0; i < tokenizers->count; i++) {
        struct shared *item = &tokenizers->items[i];
        if (item->tokenizer != tokenizer)
            continue;
        item->users--;
        item->used = ++tokenizers->gifts;
    }
    struct tokenizer *surplus = take_surplus(tokenizers);
    pthread_mutex_unlock(&tokenizers->lock);
    tokenizer_close(surplus);
}
