#include "engine/dp/sights.h"

#include "base/hash.h"
#include "engine/dp/unit_rows.h"

void sights_draw(struct sights *sights, const struct matrix *matrix, uint32_t unit,
                 const struct sights_draw *draw, struct stream *stream)
{
    if (matrix->starts == NULL && draw->views == NULL) { /* a record as it is */
        sights->all[0] = (struct sight){.index = unit};
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
        sights->all[k] = (struct sight){rows[k / each], views[k]};
    if (matrix->starts != NULL)
        hash_zero(rows, sizeof rows);
    if (draw->views != NULL)
        hash_zero(views, sizeof views);
}
