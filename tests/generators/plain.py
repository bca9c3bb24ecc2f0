"""The main job with the client that openapi-python-client generates (main_job.py)."""

import json
import sys
import uuid
from pathlib import Path

from plain_client import Client, models
from plain_client.api.datasets import (dataset_budget, dataset_create, dataset_file_put,
                                       dataset_get, dataset_import)
from plain_client.api.jobs import job_create, job_get
from plain_client.api.models import model_content
from plain_client.types import File


def declare(client):
    body = models.DatasetRequestCsv(
        id="people", format_=models.DatasetRequestCsvFormat.CSV, task=models.Task.CLASSIFICATION,
        columns=[
            models.ColumnNumeric("age", models.ColumnNumericKind.NUMERIC, [0, 120]),
            models.ColumnCategorical("town", models.ColumnCategoricalKind.CATEGORICAL,
                                     ["Bonn", "Kiel", "Ulm"]),
            models.ColumnLabel("buys", models.ColumnLabelKind.LABEL, values=["no", "yes"])],
        privacy=models.DatasetPrivacyBudget(epsilon=2, delta=1e-5))
    return dataset_create.sync(client=client, body=body, idempotency_key=str(uuid.uuid4()))


def main(base, path):
    with Client(base_url=base, timeout=60) as client:
        dataset = declare(client)
        assert isinstance(dataset, models.Dataset) and dataset.state is models.DatasetState.CREATED
        with Path(path).open("rb") as file:
            sent = dataset_file_put.sync_detailed("people", models.DatasetFile.DATA, client=client,
                                                  body=File(payload=file))
        assert sent.status_code == 204, sent
        dataset_import.sync(client=client, id="people", body=models.Nothing())
        ready = dataset_get.sync(client=client, id="people")
        assert ready.state is models.DatasetState.READY and ready.records == 600
        request = models.JobRequest(
            dataset="people", model=models.ModelPreset(models.ModelPresetPreset.LINEAR),
            algorithm=models.AlgorithmDpsgd(models.AlgorithmDpsgdName.DPSGD, clip_norm=1),
            optimizer=models.OptimizerSgd(models.OptimizerSgdName.SGD, learning_rate=0.5),
            privacy=models.JobPrivacy(epsilon=1))
        job = job_create.sync(client=client, body=request, idempotency_key=str(uuid.uuid4()))
        while job.end_time is None:
            job = job_get.sync(client=client, id=job.id, wait=30)
        assert isinstance(job.algorithm, models.AlgorithmDpsgd)
        content = model_content.sync(client=client, id=job.model).payload.read()
        budget = dataset_budget.sync(client=client, id="people")
        refused = declare(client)
        print(json.dumps({"state": job.state.value, "spent": budget.epsilon_spent,
                          "size": len(content), "refused": refused.code.value}))


if __name__ == "__main__":
    main(*sys.argv[1:])
