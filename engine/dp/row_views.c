#include "engine/dp/row_views.h"

#include "base/hash.h"
#include "engine/dp/unit_rows.h"

void row_views_draw(struct row_views *sights, const struct matrix *matrix,
                    uint32_t unit, const struct row_views_draw *draw,
                    struct stream *stream)
{
    if (matrix->starts == NULL && draw->views == NULL) { /* a record as it is */
        sights->all[0] = (struct row_view){.index = unit};
        sights->count = 1;
        return;
    }
    uint32_t rows[UNIT_ROWS_MAX] = {unit};
    struct image_view views[UNIT_ROWS_MAX] = {{0}};
    size_t each = draw->views != NULL ? draw->views->count : 1, count = 1;
    if (matrix->starts != NULL)
        count = unit_rows_draw(rows, matrix, unit,
                               (struct unit_draw){draw->rows_key, draw->count / each},
                               stream);
    if (draw->views != NULL)
        views_draw(views, draw->views, unit,
                   (struct views_draw){draw->views_key, draw->count}, stream);
    sights->count = count * each;
    for (size_t k = 0; k < draw->count; k++)
        sights->all[k] = (struct row_view){rows[k / each], views[k]};
    if (matrix->starts != NULL)
        hash_zero(rows, sizeof rows);
    if (draw->views != NULL)
        hash_zero(views, sizeof views);
}
