#include "engine/onnx_calendar.h"

static const char *of_two(struct onnx_graph *graph, const char *op_type, const char *a,
                          const char *b)
{
    return onnx_node(graph, op_type, (struct onnx_inputs){{a, b}});
}

static const char *by_whole(struct onnx_graph *graph, const char *op_type,
                            const char *name, int64_t number)
{
    return of_two(graph, op_type, name, onnx_int64s(graph, &number, 0));
}

static const char *quotient(struct onnx_graph *graph, const char *name, int64_t by)
{
    return by_whole(graph, "Div", name, by);
}

/* The month of each day from 0, as calendar.c computes it. Divisions of int64 drop the
 * remainder, and all numbers are positive. */
static const char *month_of(struct onnx_graph *graph, const char *days)
{
    const char *day =
        by_whole(graph, "Mod", by_whole(graph, "Add", days, 719468), 146097);
    const char *year = of_two(graph, "Sub", day, quotient(graph, day, 1460));
    year = of_two(graph, "Add", year, quotient(graph, day, 36524));
    year =
        quotient(graph, of_two(graph, "Sub", year, quotient(graph, day, 146096)), 365);
    const char *before = by_whole(graph, "Mul", year, 365);
    before = of_two(graph, "Add", before, quotient(graph, year, 4));
    before = of_two(graph, "Sub", before, quotient(graph, year, 100));
    const char *of_year = of_two(graph, "Sub", day, before);
    const char *month = quotient(
        graph, by_whole(graph, "Add", by_whole(graph, "Mul", of_year, 5), 2), 153);
    return by_whole(graph, "Mod", by_whole(graph, "Add", month, 2), 12);
}

const char *onnx_calendar_part(struct onnx_graph *graph, enum calendar_part part,
                               const char *days)
{
    switch (part) {
    case CALENDAR_QUARTER: return quotient(graph, month_of(graph, days), 3);
    case CALENDAR_MONTH: return month_of(graph, days);
    case CALENDAR_WEEKDAY:
    case CALENDAR_PART_COUNT: break;
    }
    return by_whole(graph, "Mod", by_whole(graph, "Add", days, 719470), 7);
}
