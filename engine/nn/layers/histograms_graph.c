#include "engine/nn/layers/histograms_graph.h"

#include <stdlib.h>

#include "base/check.h"

/* A number's tree halves the cells that are left at each node: node k of a heap asks
 * whether x lies below the edge in the middle. Cells and branches together are
 * TREE_NODES, and the leaves come last, in the order of the cells. */
enum { BRANCHES = HISTOGRAM_CELLS - 1, TREE_NODES = BRANCHES + HISTOGRAM_CELLS };

struct forest { /* the attributes of the regressor, node by node and leaf by leaf */
    int64_t *trees, *nodes, *features, *yes, *no;
    int64_t *leaf_trees, *leaf_nodes, *leaf_targets;
    float *edges, *leaf_cells;
    const char **modes;
    size_t count, leaves;
};

static void *array_of(size_t count, size_t size)
{
    void *array = calloc(count > 0 ? count : 1, size);
    CHECK(array != NULL);
    return array;
}

static struct forest forest_make(size_t trees)
{
    size_t nodes = trees * TREE_NODES, leaves = trees * HISTOGRAM_CELLS;
    return (struct forest){.trees = array_of(nodes, sizeof(int64_t)),
                           .nodes = array_of(nodes, sizeof(int64_t)),
                           .features = array_of(nodes, sizeof(int64_t)),
                           .yes = array_of(nodes, sizeof(int64_t)),
                           .no = array_of(nodes, sizeof(int64_t)),
                           .leaf_trees = array_of(leaves, sizeof(int64_t)),
                           .leaf_nodes = array_of(leaves, sizeof(int64_t)),
                           .leaf_targets = array_of(leaves, sizeof(int64_t)),
                           .edges = array_of(nodes, sizeof(float)),
                           .leaf_cells = array_of(leaves, sizeof(float)),
                           .modes = array_of(nodes, sizeof(char *))};
}

static void forest_free(struct forest *forest)
{
    free(forest->trees);
    free(forest->nodes);
    free(forest->features);
    free(forest->yes);
    free(forest->no);
    free(forest->leaf_trees);
    free(forest->leaf_nodes);
    free(forest->leaf_targets);
    free(forest->edges);
    free(forest->leaf_cells);
    free(forest->modes);
}

/* Node k of the heap is in the row that begins at node `start`; it halves `span` cells. */
static float edge_of(size_t k)
{
    size_t start = 0, span = HISTOGRAM_CELLS;
    while (k >= 2 * start + 1) {
        start = 2 * start + 1;
        span /= 2;
    }
    size_t cell = (k - start) * span + span / 2;
    return (float)cell / (HISTOGRAM_CELLS / 2) - 1.0F;
}

static void add_leaf(struct forest *forest, size_t tree, size_t k, size_t column)
{
    size_t at = forest->leaves++;
    forest->leaf_trees[at] = (int64_t)tree;
    forest->leaf_nodes[at] = (int64_t)k;
    forest->leaf_targets[at] = (int64_t)column;
    forest->leaf_cells[at] = (float)(k - BRANCHES);
}

static void add_tree(struct forest *forest, size_t tree, size_t column, size_t feature)
{
    for (size_t k = 0; k < TREE_NODES; k++) {
        size_t at = forest->count++;
        forest->trees[at] = (int64_t)tree;
        forest->nodes[at] = (int64_t)k;
        forest->modes[at] = k < BRANCHES ? "BRANCH_LT" : "LEAF";
        if (k >= BRANCHES) {
            add_leaf(forest, tree, k, column);
            continue;
        }
        forest->features[at] = (int64_t)feature;
        forest->edges[at] = edge_of(k);
        forest->yes[at] = (int64_t)(2 * k + 1);
        forest->no[at] = (int64_t)(2 * k + 2);
    }
}

static const char *give_forest(struct onnx_graph *graph, const char *record,
                               const struct forest *forest, size_t columns)
{
    const char *name =
        onnx_ml_node(graph, "TreeEnsembleRegressor", (struct onnx_inputs){{record}});
    onnx_attribute_int(graph, "n_targets", (int64_t)columns);
    onnx_attribute_ints(graph, "nodes_treeids", forest->trees, forest->count);
    onnx_attribute_ints(graph, "nodes_nodeids", forest->nodes, forest->count);
    onnx_attribute_ints(graph, "nodes_featureids", forest->features, forest->count);
    onnx_attribute_ints(graph, "nodes_truenodeids", forest->yes, forest->count);
    onnx_attribute_ints(graph, "nodes_falsenodeids", forest->no, forest->count);
    onnx_attribute_floats(graph, "nodes_values", forest->edges, forest->count);
    onnx_attribute_strings(graph, "nodes_modes", forest->modes, forest->count);
    onnx_attribute_ints(graph, "target_treeids", forest->leaf_trees, forest->leaves);
    onnx_attribute_ints(graph, "target_nodeids", forest->leaf_nodes, forest->leaves);
    onnx_attribute_ints(graph, "target_ids", forest->leaf_targets, forest->leaves);
    onnx_attribute_floats(graph, "target_weights", forest->leaf_cells, forest->leaves);
    return name;
}

/* (batch, columns): the cells of numbers, and 0 for words; NULL if there are no numbers. */
static const char *number_cells(struct onnx_graph *graph, const char *record,
                                const struct histograms *histograms)
{
    size_t trees = 0;
    for (size_t i = 0; i < histograms->columns; i++)
        trees += histograms_is_number(histograms, i);
    if (trees == 0)
        return NULL;
    struct forest forest = forest_make(trees);
    for (size_t i = 0, tree = 0; i < histograms->columns; i++)
        if (histograms_is_number(histograms, i))
            add_tree(&forest, tree++, i, histograms->features[i]);
    const char *name = give_forest(graph, record, &forest, histograms->columns);
    forest_free(&forest);
    return name;
}

/* (batch, columns): the cells of words, and 0 for numbers; NULL if there are no words.
 * As at most one word is 1, the cell is count + sum of (k - count) x_k. */
static const char *word_cells(struct onnx_graph *graph, const char *record,
                              const struct histograms *histograms, size_t features)
{
    size_t columns = histograms->columns, words = 0;
    float *weights = array_of(features * columns, sizeof *weights);
    float *none = array_of(columns, sizeof *none);
    for (size_t i = 0; i < columns; i++) {
        uint32_t count = histograms->widths[i];
        if (histograms_is_number(histograms, i))
            continue;
        words++;
        none[i] = (float)count;
        for (uint32_t k = 0; k < count; k++)
            weights[(histograms->features[i] + k) * columns + i] =
                (float)k - (float)count;
    }
    const char *name = NULL;
    if (words > 0) {
        const int64_t shape[] = {(int64_t)features, (int64_t)columns};
        const char *matrix = onnx_reshape(
            graph, onnx_floats(graph, weights, features * columns), shape, 2);
        name = onnx_node(graph, "MatMul", (struct onnx_inputs){{record, matrix}});
        name =
            onnx_node(graph, "Add",
                      (struct onnx_inputs){{name, onnx_floats(graph, none, columns)}});
    }
    free(weights);
    free(none);
    return name;
}

/* One side of all pairs, (batch, pairs): cells of the side's columns, divided by what
 * they have in one cell of a side, rounded down. */
static const char *side_cells(struct onnx_graph *graph, const char *cells,
                              const struct histograms *histograms, size_t side)
{
    int64_t columns[MODEL_PAIRS_MAX];
    float shares[MODEL_PAIRS_MAX];
    for (size_t k = 0; k < histograms->pairs; k++) {
        uint32_t column = histograms->sides[k][side];
        bool is_number = histograms_is_number(histograms, column);
        columns[k] = column;
        shares[k] =
            is_number ? (float)HISTOGRAM_SIDE_CELLS / (float)HISTOGRAM_CELLS : 1.0F;
    }
    const char *name = onnx_node(
        graph, "Gather",
        (struct onnx_inputs){{cells, onnx_int64s(graph, columns, histograms->pairs)}});
    onnx_attribute_int(graph, "axis", 1);
    const struct onnx_inputs product = {
        {name, onnx_floats(graph, shares, histograms->pairs)}};
    name = onnx_node(graph, "Mul", product);
    return onnx_node(graph, "Floor", (struct onnx_inputs){{name}});
}

/* (batch, columns + pairs): the cell of each shape. */
static const char *shape_cells(struct onnx_graph *graph, const char *cells,
                               const struct histograms *histograms)
{
    float widths[MODEL_PAIRS_MAX];
    if (histograms->pairs == 0)
        return cells;
    for (size_t k = 0; k < histograms->pairs; k++)
        widths[k] = (float)histograms_side_cells(histograms, histograms->sides[k][1]);
    const char *left = side_cells(graph, cells, histograms, 0);
    const char *right = side_cells(graph, cells, histograms, 1);
    const struct onnx_inputs product = {
        {left, onnx_floats(graph, widths, histograms->pairs)}};
    left = onnx_node(graph, "Mul", product);
    const char *pairs = onnx_node(graph, "Add", (struct onnx_inputs){{left, right}});
    const char *all = onnx_node(graph, "Concat", (struct onnx_inputs){{cells, pairs}});
    onnx_attribute_int(graph, "axis", 1);
    return all;
}

void histograms_graph_cells(const struct translation *translation,
                            const struct histograms *histograms)
{
    struct onnx_graph *graph = translation->graph;
    const struct node *node = translation->node;
    const char *record = onnx_value(graph, node->from);
    const char *numbers = number_cells(graph, record, histograms);
    const char *words =
        word_cells(graph, record, histograms, translation->network->shape.features);
    const char *cells = numbers != NULL ? numbers : words;

    if (numbers != NULL && words != NULL)
        cells = onnx_node(graph, "Add", (struct onnx_inputs){{numbers, words}});
    onnx_give(graph, node->to, shape_cells(graph, cells, histograms), onnx_vector);
}

void histograms_graph_sum(const struct translation *translation,
                          const struct histograms *histograms, size_t weight)
{
    static const struct onnx_dimensions own = {0};
    struct onnx_graph *graph = translation->graph;
    const struct node *node = translation->node;
    int64_t first[HISTOGRAM_SHAPES_MAX],
        last = histograms->first[histograms->shapes] - 1;
    const int64_t axis = 1;
    const char *table = translation_tensor(translation, weight, own);
    const char *cells = onnx_cast(graph, onnx_value(graph, node->from), ONNX_INT64);

    for (size_t s = 0; s + 1 < histograms->shapes; s++)
        first[s] = histograms->first[s];
    const struct onnx_inputs sum = {
        {cells, onnx_int64s(graph, first, histograms->shapes - 1)}};
    const char *places = onnx_node(graph, "Add", sum);
    const char *rows =
        onnx_node(graph, "Gather", (struct onnx_inputs){{table, places}});
    rows = onnx_node(graph, "ReduceSum",
                     (struct onnx_inputs){{rows, onnx_int64s(graph, &axis, 1)}});
    onnx_attribute_int(graph, "keepdims", 0);
    const char *all = onnx_node(
        graph, "Gather", (struct onnx_inputs){{table, onnx_int64s(graph, &last, 1)}});
    onnx_give(graph, node->to,
              onnx_node(graph, "Add", (struct onnx_inputs){{rows, all}}), onnx_vector);
}
