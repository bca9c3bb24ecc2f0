#include "service/runs/publication.h"

#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/figures.h"
#include "api/views/model_view.h"
#include "base/check.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/process/daemon_state.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"

static char *noise_text(const struct trained *trained)
{
    struct noise_certificate noise;
    if (trained->noise != NULL && trained->noise[0] != '\0')
        return strdup(trained->noise);
    if (!trainer_noise_certificate(trained->trainer, &noise))
        return NULL;
    return noise_render(&noise);
}

/* Renders the certificate of a finished run: what it was charged, priced again from its
 * mechanism, and the steps that it ran. */
static char *certify(struct daemon_state *context, const struct job *job,
                     const struct trained *trained, const struct model_id *id)
{
    const struct job_plan *plan = job_plan(job);
    const struct train_spec *train = &plan->request.train;
    const struct dataset *dataset =
        datasets_find(context->datasets, plan->request.dataset.text);
    bool noisy = plan->mechanism.run_count > 0;
    struct ledger_entry_name reserve = {0};
    struct figure figure = {0};
    struct epochs epochs = {0};
    struct balance balance;
    if (plan->is_private) {
        CHECK(ledger_reservation(context->ledger, job_id(job), &reserve));
        CHECK(ledger_epochs(context->ledger, &plan->request.dataset, &epochs, &balance,
                            NULL) == ST_OK);
    }
    if (noisy)
        CHECK(job_plan_figure(plan, train->steps, &figure, NULL) == ST_OK);
    char *mechanism = noisy ? mechanism_render(&plan->mechanism) : NULL;
    char *ran = trained->ran != NULL ? mechanism_render(trained->ran) : NULL;
    char *noise = noise_text(trained);
    uint8_t frozen_sha256[SHA256_SIZE];
    size_t frozen = trainer_frozen(trained->trainer, frozen_sha256);
    struct model_view view = {
        .id = id,
        .job = job_id(job),
        .dataset = dataset_spec(dataset),
        .request = &plan->request,
        .mechanism = mechanism,
        .ran = ran,
        .noise_multiplier = train->noise_multiplier,
        .sampling_rate = (double)train->batch_size / (double)train->records,
        .epsilon = figure.epsilon,
        .order = figure.order,
        .steps = trainer_steps_done(trained->trainer),
        .reserve = plan->is_private ? &reserve : NULL,
        .epochs = plan->is_private ? &epochs : NULL,
        .noise = noise,
        .ancestry = trained->ancestry,
        .frozen = frozen,
        .frozen_sha256 = frozen_sha256,
        .quality = trained->quality,
        .version = EPSILOND_VERSION,
    };
    char *card = certificate_render(&view);
    free(noise);
    free(ran);
    free(mechanism);
    epochs_fini(&epochs);
    return card;
}

/* Writes the model's file, and its size and SHA-256 to the row. */
static enum status save(struct publication *publication, struct daemon_state *context,
                        const struct job *job, struct trainer *trainer,
                        struct error *error)
{
    char path[BLOB_PATH_SIZE];
    const struct job_request *request = &job_plan(job)->request;
    const struct schema *schema =
        &dataset_spec(datasets_find(context->datasets, request->dataset.text))->schema;
    char *arch = model_spec_render(&request->train.model);
    struct schema taken;
    column_ranges_narrow(&taken, &request->scaling.ranges, schema);
    char *inputs = inputs_render(&taken);
    column_ranges_release(&taken, schema);
    const struct metadata items[] = {
        {"format", "epsilond/1"},
        {"arch", arch},
        {"inputs", inputs},
        {"certificate", publication->card},
    };
    blob_draft_path(context->blobs, path, &publication->draft);
    const struct metadata_list metadata = {items, sizeof items / sizeof *items};
    struct file_checksum seal;
    enum status status = trainer_save(trainer, path, metadata, &seal, error);
    free(inputs);
    free(arch);
    if (status != ST_OK)
        return status;
    memcpy(publication->row.sha256, seal.sha256, sizeof seal.sha256);
    publication->row.size = seal.size;
    return ST_OK;
}

enum status publication_write(struct publication *publication,
                              struct daemon_state *context, const struct job *job,
                              const struct trained *trained, struct error *error)
{
    const struct blob_name name = blob_of_model(job_model_id(job));
    *publication =
        (struct publication){.row = {.id = *job_model_id(job), .job = *job_id(job)}};
    blob_draft_init(&publication->draft, &name);
    publication->card = certify(context, job, trained, &publication->row.id);
    publication->row.card = publication->card;
    enum status status = save(publication, context, job, trained->trainer, error);
    if (status == ST_OK)
        status = blob_publish(context->blobs, &publication->draft, error);
    if (status == ST_OK)
        return ST_OK;
    blob_discard(context->blobs, &publication->draft);
    publication_fini(publication);
    return status;
}

void publication_remove(const struct publication *publication,
                        struct daemon_state *context)
{
    daemon_state_remove(context, &publication->draft.name);
}

void publication_fini(struct publication *publication)
{
    free(publication->card);
    *publication = (struct publication){0};
}
