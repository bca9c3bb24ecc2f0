/*
 * seal_tree.h - a tree of hashes that authenticates many rows by one hash, so that a
 * row which is read without the others is proved to be one of them, and at which place.
 *
 *   leaf     SHA-256("s2", 32 zero bytes, name, body)     of each row, in their order
 *   node     SHA-256("n2", left, right)                   of two neighbours
 *   root     what is left, level by level; the last of an odd number goes up as it is
 *   path     the hashes that a leaf's hash is combined with on its way up to the root
 *
 * Hashes are made like those of chains (base/chain_hash.h), and by their versions no
 * hash of a leaf is one of a node. The leaf's place and the number of leaves determine
 * on which of the two sides a hash of the path is, and how many there are. So a path
 * that leads to the root is one of this place only, as long as SHA-256 has no
 * collisions.
 *
 * Threads: pure. Ownership: a tree owns its hashes.
 */
#ifndef ACCOUNTANT_LEDGER_SEAL_TREE_H
#define ACCOUNTANT_LEDGER_SEAL_TREE_H

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

/* Adds a leaf after the last. */
void seal_tree_add(struct seal_tree *tree, const char *name, const uint8_t *body,
                   size_t size);
/* Makes the levels above the leaves, after the last was added. */
void seal_tree_grow(struct seal_tree *tree);
void seal_tree_fini(struct seal_tree *tree);

/* Returns the root of a tree that has grown; 32 zero bytes if it has no leaves. */
struct seal_hash seal_tree_root(const struct seal_tree *tree);
/* Writes the path of the leaf at that place. Returns how many hashes it has. */
size_t seal_tree_path(const struct seal_tree *tree, size_t place,
                      struct seal_hash path[SEAL_PATH_MAX]);

/* Returns how many hashes the path of the leaf at a place has; place is less than
 * count. */
size_t seal_path_length(uint64_t place, uint64_t count);

struct seal_leaf { /* a row, with the place that it claims */
    const char *name;
    const uint8_t *body;
    size_t size;
    uint64_t place;
    const uint8_t *path; /* (seal_path_length hashes) */
};

/* Returns whether the row is the leaf at its place in the tree of count leaves with
 * that root. */
bool seal_leaf_holds(const struct seal_leaf *leaf, uint64_t count,
                     const uint8_t root[SHA256_SIZE]);

#endif
