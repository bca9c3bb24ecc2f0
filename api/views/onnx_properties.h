/*
 * onnx_properties.h - the metadata of a model's ONNX file, as entries of its
 * metadata_props (model-file.md).
 *
 *   format, arch, inputs, certificate  same as in the metadata of the safetensors file
 *   model, job, dataset                ids
 *   sha256                             of the safetensors file, which the ledger names
 *   certificate_sha256                 of the text in certificate
 *   epsilon, delta                     only of this model; absent if it has
 *                                      no guarantee
 *   classes                            of a classification: the names of its classes by
 *                                      index, a JSON array of texts
 *
 * Ownership: the properties own their texts; the row's is borrowed.
 */
#ifndef API_VIEWS_ONNX_PROPERTIES_H
#define API_VIEWS_ONNX_PROPERTIES_H

#include "engine/data/schema.h"
#include "engine/nn/model_spec.h"
#include "engine/onnx/onnx_file.h"
#include "store/rows/model_rows.h"

enum { ONNX_PROPERTIES_MAX = 12, ONNX_NUMBER_SIZE = 32 };

struct onnx_properties {
    struct onnx_property items[ONNX_PROPERTIES_MAX];
    size_t count;
    char *arch, *inputs, *classes;
    char sha256[SHA256_HEX_SIZE], certificate_sha256[SHA256_HEX_SIZE];
    char epsilon[ONNX_NUMBER_SIZE], delta[ONNX_NUMBER_SIZE];
};

/* dataset is the id of the dataset that the model was trained on. */
void onnx_properties_init(struct onnx_properties *properties,
                          const struct model_row *row, const char *dataset,
                          const struct model_spec *model, const struct schema *schema);
void onnx_properties_fini(struct onnx_properties *properties);

#endif
