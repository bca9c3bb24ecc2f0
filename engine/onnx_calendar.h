/*
 * onnx_calendar.h - the parts of dates (engine/data/calendar.h) as nodes of an ONNX
 * graph, in whole numbers, so that they are exact.
 *
 * Threads: as the graph.
 */
#ifndef ENGINE_ONNX_CALENDAR_H
#define ENGINE_ONNX_CALENDAR_H

#include "engine/data/calendar.h"
#include "engine/onnx/onnx_graph.h"

/* Returns the index of a part, from 0, of days since 1970-01-01: both int64 and of the
 * same shape. The days are from CALENDAR_MIN to CALENDAR_MAX. */
const char *onnx_calendar_part(struct onnx_graph *graph, enum calendar_part part,
                               const char *days);

#endif
