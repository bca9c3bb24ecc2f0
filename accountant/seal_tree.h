/*
 * seal_tree.h - what binds each of many rows to one hash, so that a row which is read alone is
 * shown to be one of them, and at which place: a tree of hashes.
 *
 *   leaf     SHA-256("s2", 32 zero bytes, name, body)     of each row, in their order
 *   node     SHA-256("n2", left, right)                   of two that are beside each other
 *   root     what is left, level by level; the last of an odd number goes up as it is
 *   path     what a leaf's hash meets on its way to the root, from below
 *
 * Hashes are made as those of chains are (base/chain_hash.h), and by their versions none of a
 * leaf is one of a node. Which of the two sides a hash of the path is on, and how many there
 * are, follows from the leaf's place and the number of leaves. So a path that leads to the
 * root is one of this place alone, as long as SHA-256 has no collisions.
 *
 * Threads: pure. Ownership: a tree owns its hashes.
 */
#ifndef ACCOUNTANT_SEAL_TREE_H
#define ACCOUNTANT_SEAL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

enum { SEAL_PATH_MAX = 64 };

struct seal_hash {
    uint8_t bytes[SHA256_SIZE];
};

struct seal_tree {                               /* zeroed: no leaves */
    struct seal_hash *levels[SEAL_PATH_MAX + 1]; /* (counts), the leaves first */
    size_t counts[SEAL_PATH_MAX + 1], height, capacity;
};

/* Adds a leaf, behind those before. */
void seal_tree_add(struct seal_tree *tree, const char *name, const uint8_t *body,
                   size_t size);
/* Makes the levels above the leaves, after the last. */
void seal_tree_grow(struct seal_tree *tree);
void seal_tree_fini(struct seal_tree *tree);

/* The root of a tree that has grown; 32 zero bytes of no leaves. */
struct seal_hash seal_tree_root(const struct seal_tree *tree);
/* The path of the leaf at that place. Answers how many hashes it has. */
size_t seal_tree_path(const struct seal_tree *tree, size_t place,
                      struct seal_hash path[SEAL_PATH_MAX]);

/* How many hashes the path has of the leaf at a place, which is less than count. */
size_t seal_path_length(uint64_t place, uint64_t count);

struct seal_leaf { /* a row, where it says that it is */
    const char *name;
    const uint8_t *body;
    size_t size;
    uint64_t place;
    const uint8_t *path; /* (seal_path_length hashes) */
};

/* Whether the row is the leaf at its place of the tree of count leaves with that root. */
bool seal_leaf_holds(const struct seal_leaf *leaf, uint64_t count,
                     const uint8_t root[SHA256_SIZE]);

#endif
