#include "engine/data/readers/id_file.h"

#include <inttypes.h>

#include "engine/data/readers/lines.h"
#include "engine/data/readers/persons.h"

static enum status add_line(struct reading *reading, struct line *line)
{
    struct error reason = {0};
    struct cell id;
    line_skip_mark(line);
    if (persons_read_id(&id, (struct cell){line->text, line->size}, &reason) != ST_OK)
        return reading_refuse(reading, line->number, 0, "%s", reason.text);
    return persons_add(reading->persons, id, reading->error);
}

static enum status read_lines(struct reading *reading, struct lines *lines,
                              uint64_t records)
{
    struct line line;
    bool more;
    for (uint64_t count = 0;; count++) {
        enum status status = lines_next(lines, &line, &more, reading->error);
        reading->place.line = line.number;
        if (status == ST_OK && more && count == records)
            return reading_refuse(reading, line.number, 0,
                                  "there are more ids than the %" PRIu64 " records",
                                  records);
        if (status == ST_OK && !more && count < records)
            return reading_refuse(reading, 0, 0,
                                  "%" PRIu64 " ids for %" PRIu64 " records", count,
                                  records);
        if (status == ST_OK && more)
            status = add_line(reading, &line);
        if (status != ST_OK || !more)
            return status;
    }
}

enum status id_file_read(struct reading *reading, uint64_t records)
{
    struct source *source = NULL;
    enum status status =
        reading_open(reading, &source, schema_file_count(reading->schema) - 1);
    if (status != ST_OK)
        return status;
    struct lines *lines = lines_create(source);
    status = lines != NULL
                 ? read_lines(reading, lines, records)
                 : error_set(reading->error, ST_NO_MEMORY, "no memory to read lines");
    lines_destroy(lines);
    source_close(source);
    return status;
}
