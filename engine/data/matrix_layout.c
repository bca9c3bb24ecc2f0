#include "engine/data/matrix_layout.h"

bool matrix_layout(struct matrix_layout *layout, uint64_t records, uint64_t row_size)
{
    struct matrix_layout out = {0};
    if (__builtin_mul_overflow(records, row_size, &out.rows_size) ||
        __builtin_mul_overflow(records, sizeof(uint32_t), &out.targets_size) ||
        out.rows_size > INT64_MAX / 4 || out.targets_size > INT64_MAX / 4)
        return false;
    out.rows_at = sizeof(struct matrix_header);
    out.targets_at = out.rows_at + out.rows_size + matrix_padding(out.rows_size);
    out.trailer_at =
        out.targets_at + out.targets_size + matrix_padding(out.targets_size);
    out.size = out.trailer_at + sizeof(struct matrix_trailer);
    *layout = out;
    return true;
}
