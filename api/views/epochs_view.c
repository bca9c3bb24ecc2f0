#include "api/views/epochs_view.h"

#include "accountant/pricing/budget_spent.h"

static void write_epoch(struct json_writer *writer, const struct epoch *epoch,
                        bool with_spent)
{
    json_write_object(writer, NULL);
    json_write_count(writer, "epoch", epoch->number);
    json_write_real(writer, "epsilon", epoch->grant.epsilon);
    json_write_real(writer, "delta", epoch->grant.delta);
    json_write_flag(writer, "frozen", epoch->frozen);
    if (with_spent)
        json_write_real(
            writer, "epsilon_spent",
            budget_spent_epsilon(&epoch->committed, grant_curve_delta(&epoch->grant)));
    json_write_object_end(writer);
}

void epochs_write(struct json_writer *writer, const struct epochs *epochs,
                  bool with_spent)
{
    struct guarantee guarantee = odometer_guarantee(epochs);
    json_write_object(writer, "guarantee");
    json_write_real(writer, "epsilon", guarantee.epsilon);
    json_write_real(writer, "delta", guarantee.delta);
    if (epochs_timelines(epochs) > 1)
        json_write_count(writer, "timelines", epochs_timelines(epochs));
    json_write_object_end(writer);
    json_write_array(writer, "epochs");
    for (size_t e = 0; e < epochs->count; e++)
        write_epoch(writer, &epochs->items[e], with_spent);
    json_write_array_end(writer);
}

void exposure_write(struct json_writer *writer, const struct epochs *epochs,
                    const struct balance *balance)
{
    if (epochs->count == 1 && !epochs->items[0].frozen) {
        json_write_null(writer, "exposure");
        return;
    }
    struct curve sum = balance->committed;
    curve_add(&sum, &balance->held);
    struct guarantee spent = odometer_reading(epochs, &balance->committed);
    double all = odometer_reading(epochs, &sum).epsilon;
    json_write_object(writer, "exposure");
    json_write_real(writer, "epsilon_spent", spent.epsilon);
    json_write_real(writer, "epsilon_held", all - spent.epsilon);
    json_write_real(writer, "delta", spent.delta);
    json_write_object_end(writer);
}
