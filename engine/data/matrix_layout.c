#include "engine/data/matrix_layout.h"

bool matrix_layout(struct matrix_layout *layout, const struct matrix_extent *extent)
{
    struct matrix_layout out = {0};
    uint64_t starts = extent->units > 0 ? extent->units + 1 : 0;
    if (__builtin_mul_overflow(extent->records, extent->row_size, &out.rows_size) ||
        __builtin_mul_overflow(extent->records, sizeof(uint32_t), &out.targets_size) ||
        __builtin_mul_overflow(starts, sizeof(uint32_t), &out.starts_size) ||
        out.rows_size > INT64_MAX / 4 || out.targets_size > INT64_MAX / 4 ||
        out.starts_size > INT64_MAX / 4)
        return false;
    out.rows_at = sizeof(struct matrix_header);
    out.targets_at = out.rows_at + out.rows_size + matrix_padding(out.rows_size);
    out.starts_at =
        out.targets_at + out.targets_size + matrix_padding(out.targets_size);
    out.trailer_at = out.starts_at + out.starts_size + matrix_padding(out.starts_size);
    out.size = out.trailer_at + sizeof(struct matrix_trailer);
    *layout = out;
    return true;
}
