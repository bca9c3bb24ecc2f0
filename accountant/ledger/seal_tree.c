#include "accountant/ledger/seal_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/chain_hash.h"
#include "base/check.h"

static struct seal_hash hash_leaf(const char *name, const uint8_t *body, size_t size)
{
    static const uint8_t nothing[SHA256_SIZE];
    struct seal_hash made;
    struct chain_hash running;
    chain_hash_begin(&running, "s2", nothing);
    chain_hash_text(&running, name);
    chain_hash_bytes(&running, body, size);
    chain_hash_end(&running, made.bytes);
    return made;
}

static struct seal_hash hash_node(const struct seal_hash *left,
                                  const struct seal_hash *right)
{
    struct seal_hash made;
    struct chain_hash running;
    chain_hash_begin(&running, "n2", left->bytes);
    chain_hash_bytes(&running, right->bytes, SHA256_SIZE);
    chain_hash_end(&running, made.bytes);
    return made;
}

void seal_tree_add(struct seal_tree *tree, const char *name, const uint8_t *body,
                   size_t size)
{
    if (tree->counts[0] == tree->capacity) {
        tree->capacity = tree->capacity == 0 ? 16 : 2 * tree->capacity;
        tree->levels[0] =
            reallocarray(tree->levels[0], tree->capacity, sizeof *tree->levels[0]);
        CHECK(tree->levels[0] != NULL);
    }
    tree->levels[0][tree->counts[0]++] = hash_leaf(name, body, size);
}

void seal_tree_grow(struct seal_tree *tree)
{
    while (tree->counts[tree->height] > 1) {
        const struct seal_hash *below = tree->levels[tree->height];
        size_t count = tree->counts[tree->height++], above = count / 2 + count % 2;
        struct seal_hash *made = calloc(above, sizeof *made);
        CHECK(made != NULL);
        for (size_t i = 0; i < count / 2; i++)
            made[i] = hash_node(&below[2 * i], &below[2 * i + 1]);
        if (count % 2 == 1)
            made[above - 1] = below[count - 1];
        tree->levels[tree->height] = made;
        tree->counts[tree->height] = above;
    }
}

void seal_tree_fini(struct seal_tree *tree)
{
    for (size_t level = 0; level <= tree->height; level++)
        free(tree->levels[level]);
    *tree = (struct seal_tree){0};
}

struct seal_hash seal_tree_root(const struct seal_tree *tree)
{
    return tree->counts[0] > 0 ? tree->levels[tree->height][0] : (struct seal_hash){0};
}

size_t seal_tree_path(const struct seal_tree *tree, size_t place,
                      struct seal_hash path[SEAL_PATH_MAX])
{
    size_t length = 0;
    CHECK(place < tree->counts[0]);
    for (size_t level = 0; level < tree->height; level++, place /= 2)
        if ((place ^ 1) < tree->counts[level])
            path[length++] = tree->levels[level][place ^ 1];
    return length;
}

size_t seal_path_length(uint64_t place, uint64_t count)
{
    size_t length = 0;
    for (; count > 1; place /= 2, count = count / 2 + count % 2)
        length += (place ^ 1) < count;
    return length;
}

bool seal_leaf_holds(const struct seal_leaf *leaf, uint64_t count,
                     const uint8_t root[SHA256_SIZE])
{
    if (leaf->place >= count)
        return false;
    struct seal_hash hash = hash_leaf(leaf->name, leaf->body, leaf->size), beside;
    const uint8_t *next = leaf->path;
    uint64_t place = leaf->place;
    for (; count > 1; place /= 2, count = count / 2 + count % 2) {
        if ((place ^ 1) >= count)
            continue;
        memcpy(beside.bytes, next, SHA256_SIZE);
        next += SHA256_SIZE;
        hash = place % 2 == 0 ? hash_node(&hash, &beside) : hash_node(&beside, &hash);
    }
    return memcmp(hash.bytes, root, SHA256_SIZE) == 0;
}
