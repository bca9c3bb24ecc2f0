#include "engine/nn/frozen_nodes.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/check.h"

/* Returns whether the nodes from count on read, of the record and the values that the
 * first count nodes made, only the last. */
static bool can_cut(const struct network *network, const size_t *made_by, size_t count)
{
    size_t last = network->nodes[count - 1].to;
    for (size_t i = count; i < network->node_count; i++) {
        const struct node *node = &network->nodes[i];
        const size_t reads[] = {node->from, node->other, node->third};
        if (node->kind->reads_record)
            return false;
        for (size_t k = 0; k < 3; k++) {
            bool names = k == 0 || reads[k] != 0; /* most nodes read one value */
            if (names && reads[k] != last && made_by[reads[k]] < count)
                return false;
        }
    }
    return network->output == last || made_by[network->output] >= count;
}

/* made_by[v] = the node that makes value v; 0 for the record, which no node makes. */
static void find_makers(const struct network *network, size_t *made_by)
{
    for (size_t i = network->node_count; i-- > 0;) {
        const struct node *node = &network->nodes[i];
        made_by[node->to] = i;
        if (node->other != 0 && network->values[node->other].shares == node->from)
            made_by[node->other] = i; /* the other end of a fork */
    }
    made_by[0] = 0;
}

bool frozen_nodes_is_costly(const struct network *network, const struct node *node)
{
    return node->kind->weights != NULL ? !network->layers[node->layer].constant
                                       : node->kind->flops != NULL;
}

size_t frozen_nodes_count(const struct network *network)
{
    size_t count = 0, *made_by = calloc(network->value_count, sizeof *made_by);
    bool is_costly = false;
    CHECK(made_by != NULL);
    find_makers(network, made_by);
    while (count < network->node_count && !network->nodes[count].kind->draws &&
           !network->values[network->nodes[count].to].has_gradient)
        count++;
    while (count > 0 && !can_cut(network, made_by, count))
        count--;
    free(made_by);
    for (size_t i = 0; i < count; i++)
        is_costly |= frozen_nodes_is_costly(network, &network->nodes[i]);
    return is_costly ? count : 0;
}
