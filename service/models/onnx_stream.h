/*
 * onnx_stream.h - a model as an ONNX file in the body of a reply: it is made while it
 * is sent, from the model's own file (engine/onnx_export.h).
 *
 * Threads: any; one at a time pulls from a stream.
 */
#ifndef SERVICE_MODELS_ONNX_STREAM_H
#define SERVICE_MODELS_ONNX_STREAM_H

#include "store/rows/model_rows.h"

struct daemon_state;
struct error;
struct model_row;
struct stream;

/* The bytes depend on the model's file and on the program, so the tag names both. */
enum { ONNX_TAG_SIZE = SHA256_HEX_SIZE + 32 };
void onnx_stream_tag(char tag[ONNX_TAG_SIZE], const struct model_row *row);

/* Makes the stream of a model, and the digest of the whole ONNX file. Checks the
 * model's file first.
 *   ST_NOT_FOUND      the model was deleted meanwhile
 *   ST_MODEL_CORRUPT  its file is not what its row says, or cannot be read
 *   ST_INVALID        its ONNX file would be longer than that format allows; the
 *                     pointer is that of the parameter
 *   ST_INTERNAL       its file cannot be opened for another reason, or as job_check */
enum status onnx_stream_open(struct stream *stream, struct daemon_state *context,
                             const struct model_row *row, uint8_t digest[SHA256_SIZE],
                             struct error *error);

#endif
