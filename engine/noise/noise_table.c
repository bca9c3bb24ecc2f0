#include "engine/noise/noise_table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

const uint64_t noise_widths[NOISE_LAYERS] = {
    0xe000000000, 0x3fcb7ac4d7, 0x396e8c785c, 0x36958817b7, 0x34b0065e60, 0x333f3807ec,
    0x32138a47ad, 0x3115cf22b9, 0x3038efb796, 0x2f74c8df84, 0x2ec3f0704a, 0x2e229bfbb6,
    0x2d8e08cce7, 0x2d0423c047, 0x2c83533656, 0x2c0a5467b7, 0x2b98244e89, 0x2b2befc855,
    0x2ac508622d, 0x2a62dc402b, 0x2a04f024df, 0x29aadaf597, 0x2954424eb2, 0x2900d7ddf6,
    0x28b0574f5a, 0x286284a7c9, 0x28172af386, 0x27ce1b3503, 0x27872b85e0, 0x2742365f6a,
    0x26ff1a026f, 0x26bdb7f831, 0x267df4a7a6, 0x263fb6fb38, 0x2602e8140c, 0x25c7730871,
    0x258d44ab91, 0x25544b5ce2, 0x251c76de08, 0x24e5b82e3e, 0x24b0016a52, 0x247b45b0a1,
    0x2447790869, 0x2414904c07, 0x23e28115b0, 0x23b141ae55, 0x2380c8fe67, 0x23510e803b,
    0x23220a33db, 0x22f3b4941b, 0x22c6068cc1, 0x2298f971ab, 0x226c86f6cc, 0x2240a928e9,
    0x22155a670a, 0x21ea955c7d, 0x21c054fb64, 0x21969477c0, 0x216d4f42e3, 0x214481074e,
    0x211c25a4de, 0x20f4392d51, 0x20ccb7e109, 0x20a59e2c1e, 0x207ee8a39b, 0x20589402fe,
    0x20329d29e3, 0x200d0119d9, 0x1fe7bcf463, 0x1fc2cdf920, 0x1f9e31840b, 0x1f79e50be6,
    0x1f55e620bb, 0x1f32326a73, 0x1f0ec7a78f, 0x1eeba3abee, 0x1ec8c45fac, 0x1ea627be0f,
    0x1e83cbd48e, 0x1e61aec1dd, 0x1e3fceb50e, 0x1e1e29ecbe, 0x1dfcbeb653, 0x1ddb8b6d3b,
    0x1dba8e7a42, 0x1d99c652e9, 0x1d793178cc, 0x1d58ce790d, 0x1d389bebcb, 0x1d1898739b,
    0x1cf8c2bd0e, 0x1cd9197e3b, 0x1cb99b764d, 0x1c9a476d18, 0x1c7b1c32ba, 0x1c5c189f35,
    0x1c3d3b9215, 0x1c1e83f21e, 0x1bfff0acf3, 0x1be180b6ca, 0x1bc3330a24, 0x1ba506a781,
    0x1b86fa951e, 0x1b690ddeb0, 0x1b4b3f952d, 0x1b2d8ece87, 0x1b0ffaa579, 0x1af282394f,
    0x1ad524adad, 0x1ab7e12a60, 0x1a9ab6db2f, 0x1a7da4efa4, 0x1a60aa9aea, 0x1a43c71395,
    0x1a26f99383, 0x1a0a4157aa, 0x19ed9d9ff9, 0x19d10daf2a, 0x19b490caa2, 0x1998263a4b,
    0x197bcd4872, 0x195f8541a5, 0x19434d7492, 0x19272531e4, 0x190b0bcc27, 0x18ef0097ab,
    0x18d302ea5d, 0x18b7121bb5, 0x189b2d8490, 0x187f547f18, 0x18638666a5, 0x1847c297a6,
    0x182c086f7f, 0x1810574c75, 0x17f4ae8d8d, 0x17d90d9275, 0x17bd73bb6a, 0x17a1e06918,
    0x178652fc8a, 0x176acad704, 0x174f4759f1, 0x1733c7e6c7, 0x17184bdeea, 0x16fcd2a393,
    0x16e15b95b5, 0x16c5e615e3, 0x16aa718433, 0x168efd4022, 0x167388a87a, 0x1658131b34,
    0x163c9bf55a, 0x16212292ea, 0x1605a64ebb, 0x15ea268257, 0x15cea285e1, 0x15b319aff3,
    0x15978b557b, 0x157bf6c999, 0x15605b5d7e, 0x1544b86044, 0x15290d1eca, 0x150d58e38b,
    0x14f19af678, 0x14d5d29ccc, 0x14b9ff18e1, 0x149e1faa00, 0x1482338c37, 0x146639f822,
    0x144a3222b9, 0x142e1b3d1d, 0x1411f4745b, 0x13f5bcf134, 0x13d973d7de, 0x13bd1847c3,
    0x13a0a95b3c, 0x138426274a, 0x13678dbb4b, 0x134adf20a6, 0x132e195a7e, 0x13113b6552,
    0x12f44436a2, 0x12d732bc8b, 0x12ba05dd5f, 0x129cbc7732, 0x127f555f64, 0x1261cf6226,
    0x12442941ee, 0x122661b6ec, 0x1208776e6e, 0x11ea690a42, 0x11cc352001, 0x11adda3859,
    0x118f56ce44, 0x1170a94e32, 0x1151d01524, 0x1132c96fb0, 0x11139398fd, 0x10f42cb9a0,
    0x10d492e668, 0x10b4c41f0d, 0x1094be4cc8, 0x10747f40cb, 0x105404b293, 0x10334c3e1c,
    0x10125361ea, 0x0ff1177cdb, 0x0fcf95cbd7, 0x0fadcb673b, 0x0f8bb54004, 0x0f69501cbe,
    0x0f46989614, 0x0f238b1316, 0x0f0023c50e, 0x0edc5ea2ea, 0x0eb837641d, 0x0e93a97af6,
    0x0e6eb00e47, 0x0e4945f250, 0x0e2365a0cb, 0x0dfd092ff7, 0x0dd62a488a, 0x0daec21a37,
    0x0d86c94ec1, 0x0d5e37fb27, 0x0d35058ebb, 0x0d0b28bfb0, 0x0ce09774a9, 0x0cb546aabd,
    0x0c892a572c, 0x0c5c3543f4, 0x0c2e58e61a, 0x0bff852c49, 0x0bcfa84406, 0x0b9eae531c,
    0x0b6c812263, 0x0b3907b5e4, 0x0b0425cd4c, 0x0acdbb45b1, 0x0a95a35342, 0x0a5bb385e8,
    0x0a1fba8687, 0x09e17e72bd, 0x09a0bab0f3, 0x095d1d03b9, 0x09164184ef, 0x08cbacfea0,
    0x087cc4bfd0, 0x0828c26d67, 0x07cea12329, 0x076cfedb3c, 0x0701e7ef25, 0x068a764672,
    0x06020cdead, 0x0560902901, 0x049557854c, 0x0372814269,
};

/* h = floor(area * 2^176 / width), by long division of the area's limbs. The
 * quotient fits 192 bits: the area's top limb is below every width. */
static void height_of(uint64_t h[NOISE_LIMBS], uint64_t width, uint64_t area)
{
    const uint64_t limbs[NOISE_LIMBS] = {0, 0, area << 48};
    uint64_t rest = area >> 16;
    for (int k = NOISE_LIMBS - 1; k >= 0; k--) {
        wide part = (wide)rest << 64 | limbs[k];
        h[k] = (uint64_t)(part / width);
        rest = (uint64_t)(part % width);
    }
}

static void add(uint64_t sum[NOISE_LIMBS], const uint64_t a[NOISE_LIMBS],
                const uint64_t b[NOISE_LIMBS])
{
    wide carry = 0;
    for (int k = 0; k < NOISE_LIMBS; k++) {
        carry += (wide)a[k] + b[k];
        sum[k] = (uint64_t)carry;
        carry >>= 64;
    }
}

static double top_of(const uint64_t limbs[NOISE_LIMBS])
{
    return ldexp((double)limbs[2], -64) + ldexp((double)limbs[1], -128);
}

void noise_table_init(struct noise_table *table)
{
    noise_table_derive(table, noise_widths, NOISE_AREA);
}

void noise_table_derive(struct noise_table *table, const uint64_t widths[NOISE_LAYERS],
                        uint64_t area)
{
    memset(table, 0, sizeof *table);
    for (size_t i = 0; i < NOISE_LAYERS; i++) {
        uint64_t width = widths[i];
        uint64_t next = i + 1 < NOISE_LAYERS ? widths[i + 1] : 1;
        height_of(table->height[i], width, area);
        if (i > 0)
            add(table->base[i], table->base[i - 1], table->height[i - 1]);
        table->entry[i] = width | (next - 1) >> NOISE_FAST_SHIFT << 52;
        table->strip[i] = (struct noise_strip){
            .base = top_of(table->base[i]),
            .height = top_of(table->height[i]),
            .width = ldexp((double)width, -52 - NOISE_STDDEV_BITS)};
    }
}
