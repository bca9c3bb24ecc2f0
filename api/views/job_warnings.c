#include "api/views/job_warnings.h"

#include "api/json/json_writer.h"
#include "api/requests/job_request.h"

void job_warnings_write(struct json_writer *writer, const struct job_request *request,
                        bool is_private)
{
    if (!is_private || request->has_evaluation || request->measurement.is_asked)
        return;
    json_write_array(writer, "warnings");
    json_write_object(writer, NULL);
    json_write_text(writer, "code", "no_evaluation");
    json_write_text(writer, "text",
                    "the job names no evaluation, so it will not show how good its "
                    "model is: name a public dataset or a holdout, or evaluate the "
                    "model later");
    json_write_object_end(writer);
    json_write_array_end(writer);
}
