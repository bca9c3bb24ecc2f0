#include "service/runs/publication.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/figures.h"
#include "api/views/model_view.h"
#include "base/check.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/models/model_text.h"
#include "service/models/weight_files.h"
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

static const struct certificate_base *base_of(const struct publication *publication)
{
    return publication->base.file[0] != '\0' ? &publication->base : NULL;
}

/* Fills in the file that has the model's body: the uploaded one that the training started
 * from. It cannot be deleted while the job runs, nor while the model needs it. */
static void find_base(struct publication *publication, struct daemon_state *context,
                      const struct job *job, const struct trainer *trainer)
{
    struct certificate_base *base = &publication->base;
    const char *id = job_plan(job)->request.train.model.start.weights;
    struct file_id parsed;
    const struct weights_row *file = file_id_parse(&parsed, id)
                                         ? weight_files_find(context->weight_files, id)
                                         : NULL;
    if (file == NULL || !trainer_has_body(trainer))
        return;
    snprintf(base->file, sizeof base->file, "%s", id);
    sha256_render(base->sha256, file->sha256);
    snprintf(base->names, sizeof base->names, "%s", trainer_body_names(trainer));
}

/* Renders the certificate of a finished run: what it was charged, priced again from its
 * mechanism, and the steps that it ran. */
static char *certify(struct daemon_state *context, const struct job *job,
                     const struct trained *trained,
                     const struct publication *publication)
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
        .id = &publication->row.id,
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
        .base = base_of(publication),
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
    struct model_text text;
    struct file_checksum seal;
    const struct certificate_base *base = base_of(publication);
    model_text_init(&text, context, &job_plan(job)->request, publication->card, base);
    blob_draft_path(context->blobs, path, &publication->draft);
    enum status status =
        base != NULL
            ? trainer_save_without_body(trainer, path, text.metadata, &seal, error)
            : trainer_save(trainer, path, text.metadata, &seal, error);
    model_text_fini(&text);
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
    find_base(publication, context, job, trained->trainer);
    publication->card = certify(context, job, trained, publication);
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
