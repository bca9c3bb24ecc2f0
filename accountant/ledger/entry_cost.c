#include "accountant/ledger/entry_cost.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "base/chain_hash.h"

void entry_curve_encode(uint8_t bytes[ENTRY_CURVE_SIZE], const struct curve *curve)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        uint64_t bits;
        memcpy(&bits, &curve->at[i], sizeof bits);
        chain_number_encode(bytes + 8 * i, bits);
    }
}

size_t entry_cost_encode(uint8_t bytes[ENTRY_COST_SIZE], const struct curve *curve,
                         bool has_delta)
{
    uint64_t bits;
    entry_curve_encode(bytes, curve);
    memcpy(&bits, &curve->delta, sizeof bits);
    if (has_delta)
        chain_number_encode(bytes + ENTRY_CURVE_SIZE, bits);
    return has_delta ? ENTRY_COST_SIZE : ENTRY_CURVE_SIZE;
}

static double number_decode(const uint8_t bytes[8])
{
    uint64_t bits;
    double number;
    memcpy(&bits, bytes, sizeof bits);
    bits = le64toh(bits);
    memcpy(&number, &bits, sizeof number);
    return number;
}

bool entry_cost_decode(struct curve *curve, const uint8_t *bytes, size_t size)
{
    if (size != ENTRY_CURVE_SIZE && size != ENTRY_COST_SIZE)
        return false;
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        curve->at[i] = number_decode(bytes + 8 * i);
    curve->delta =
        size == ENTRY_COST_SIZE ? number_decode(bytes + ENTRY_CURVE_SIZE) : 0;
    return curve->delta >= 0;
}

bool entry_charge_decode(struct curve *curve, const uint8_t *bytes, size_t size)
{
    struct curve read;
    if (!entry_cost_decode(&read, bytes, size))
        return false;
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        if (!(read.at[i] >= 0))
            return false;
    }
    *curve = read;
    return true;
}

bool entry_has_delta(const struct ledger_row *row, double delta)
{
    return (row->curve_size == ENTRY_COST_SIZE) == (delta != 0);
}

void entry_capacity(struct curve *curve, const struct filter *filter)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        curve->at[i] = -INFINITY;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        curve->at[filter->weighted[i]] = filter->capacity[i];
    curve->delta = filter->delta_capacity;
}

/* The greatest double not above whole - part, for whole > part. Knuth's exact
 * difference gives what rounding to nearest has added. */
static double rest_of(double whole, double part)
{
    double rest = whole - part;
    double shift = rest - whole;
    double lost = (whole - (rest - shift)) - (part + shift);
    return lost < 0 ? nextafter(rest, 0) : rest;
}

void entry_released(struct curve *released, const struct curve *held,
                    const struct curve *committed)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        double whole = held->at[i], part = committed->at[i];
        if (!(whole > part))
            released->at[i] = 0;
        else
            released->at[i] = isinf(whole) ? whole : rest_of(whole, part);
    }
    released->delta =
        held->delta > committed->delta ? rest_of(held->delta, committed->delta) : 0;
}
