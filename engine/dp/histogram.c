#include "engine/dp/histogram.h"

double histogram_width(const struct histogram *histogram)
{
    return histogram->range / (double)histogram->bins;
}

double histogram_middle(const struct histogram *histogram, size_t bin)
{
    return ((double)bin + 0.5) * histogram_width(histogram);
}

size_t histogram_bin(const struct histogram *histogram, double norm)
{
    size_t last = histogram->bins - 1;
    if (!(norm < (double)last * histogram_width(histogram)))
        return last;
    size_t bin = (size_t)((double)histogram->bins * norm / histogram->range);
    return bin < last ? bin : last;
}
