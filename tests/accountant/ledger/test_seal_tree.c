/* Goal: a row is proved to be the one at its place in the tree, and nothing else is.
 * Method: roots that Python's hashlib has made; every row, path and place of trees of 1
 * to 40 leaves, altered. */
#include "accountant/ledger/seal_tree.h"

#include <string.h>

#include "tests/expect.h"

enum { LEAVES_MAX = 40 };

static struct seal_tree make(size_t count)
{
    struct seal_tree tree = {0};
    for (size_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "d%02zu", i);
        seal_tree_add(&tree, name, (const uint8_t *)"body", i % 5);
    }
    seal_tree_grow(&tree);
    return tree;
}

/* import hashlib, struct
 * def link(version, prev, *parts):
 *     return hashlib.sha256(version + prev + b"".join(struct.pack("<Q", len(p)) + p
 *                                                     for p in parts)).digest()
 * def root(count):
 *     level = [link(b"s2", bytes(32), b"d%02d" % i, b"body"[:i % 5])
 *              for i in range(count)]
 *     while len(level) > 1:
 *         level = [link(b"n2", *level[i:i + 2]) if i + 1 < len(level) else level[i]
 *                  for i in range(0, len(level), 2)]
 *     return level[0] if level else bytes(32)
 */
static void roots_are_those_of_another_program(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        const char *root;
    } all[] = {
        {0, "0000000000000000000000000000000000000000000000000000000000000000"},
        {1, "f8dd5d1eb703111c6c3964daed734a9dbaa244e9597670781acad13dce30d637"},
        {2, "f0430cd3f48d459559fd63615861f8a78a4041d328df49d4408b60b745b98b0c"},
        {3, "ab775e5f1a3d988d69c2f1e8b00b9a489c0e51f3d2789234bc15ce5527b7a63e"},
        {5, "c5e5225c7dbbd577029f83310a2adc51427205333894a084710b85b79766d081"},
        {8, "5bbb421543b048e9ede60691790b78b05e55a730b3930e1b4af19526d0781d2c"},
        {13, "15df5ccc5e9bf3a9d69f6a260db87205e957674998eec5a7e0c1eb12e0fb602c"},
        {37, "01358f7a3aec3102ca8bfc9bd5e17e8f57061d85ce0e93fd87ba63910f797434"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char hex[SHA256_HEX_SIZE];
        struct seal_tree tree = make(all[i].count);
        sha256_render(hex, seal_tree_root(&tree).bytes);
        assert_string_equal(hex, all[i].root);
        seal_tree_fini(&tree);
    }
}

static bool holds(const struct seal_tree *tree, uint64_t place,
                  const struct seal_hash *path, const char *name, size_t size)
{
    const struct seal_hash root = seal_tree_root(tree);
    const struct seal_leaf leaf = {.name = name,
                                   .body = (const uint8_t *)"body",
                                   .size = size,
                                   .place = place,
                                   .path = path[0].bytes};
    return seal_leaf_holds(&leaf, tree->counts[0], root.bytes);
}

static void a_row_holds_at_its_place_and_at_no_other(void **state)
{
    (void)state;
    for (size_t count = 1; count <= LEAVES_MAX; count++) {
        struct seal_tree tree = make(count);
        for (size_t i = 0; i < count; i++) {
            struct seal_hash path[SEAL_PATH_MAX] = {{{0}}};
            char name[24];
            snprintf(name, sizeof name, "d%02zu", i);
            size_t length = seal_tree_path(&tree, i, path);
            assert_int_equal(length, seal_path_length(i, count));
            for (uint64_t place = 0; place < count + 3; place++)
                assert_int_equal(holds(&tree, place, path, name, i % 5), place == i);
            assert_false(holds(&tree, i, path, "d", i % 5));
            assert_false(holds(&tree, i, path, name, (i + 1) % 5));
            for (size_t at = 0; at < length; at++) {
                path[at].bytes[at % SHA256_SIZE] ^= 1;
                assert_false(holds(&tree, i, path, name, i % 5));
                path[at].bytes[at % SHA256_SIZE] ^= 1;
            }
        }
        seal_tree_fini(&tree);
    }
}

/* The two hashes of a node, passed as the body of a row, are not accepted as a row. */
static void a_node_is_no_row(void **state)
{
    (void)state;
    struct seal_tree tree = make(4);
    struct seal_hash path[SEAL_PATH_MAX] = {{{0}}};
    const struct seal_hash root = seal_tree_root(&tree);
    seal_tree_path(&tree, 0, path);
    const struct seal_leaf leaf = {.name = "",
                                   .body = tree.levels[0][0].bytes,
                                   .size = (size_t)2 * SHA256_SIZE,
                                   .place = 0,
                                   .path = path[1].bytes};
    assert_false(seal_leaf_holds(&leaf, 2, root.bytes));
    seal_tree_fini(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_are_those_of_another_program),
        cmocka_unit_test(a_row_holds_at_its_place_and_at_no_other),
        cmocka_unit_test(a_node_is_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
