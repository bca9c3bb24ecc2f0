/* Prints the tables that `make openapi` writes into openapi.yaml. */
#include "tests/api/openapi_tables.h"

int main(void)
{
    json_t *tables = openapi_tables();
    int outcome = json_dumpf(tables, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(tables);
    return outcome;
}
