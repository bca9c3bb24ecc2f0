"""The main job with the Python client that openapi-generator generates (main_job.py)."""

import json
import sys
import uuid
from pathlib import Path

import openapi_client as made
from openapi_client.rest import ApiException


def declare(datasets):
    body = made.DatasetRequest(made.DatasetRequestCsv(
        id="people", format="csv", task="classification",
        columns=[
            made.Column(made.ColumnNumeric(name="age", kind="numeric", range=[0, 120])),
            made.Column(made.ColumnCategorical(name="town", kind="categorical",
                                               values=["Bonn", "Kiel", "Ulm"])),
            made.Column(made.ColumnLabel(name="buys", kind="label", values=["no", "yes"]))],
        privacy=made.DatasetPrivacy(made.DatasetPrivacyBudget(epsilon=2, delta=1e-5))))
    return datasets.dataset_create(str(uuid.uuid4()), body)


def main(base, path):
    client = made.ApiClient(made.Configuration(host=base))
    datasets, jobs = made.DatasetsApi(client), made.JobsApi(client)
    assert declare(datasets).state == made.DatasetState.CREATED
    datasets.dataset_file_put("people", made.DatasetFile.DATA, Path(path).read_bytes())
    datasets.dataset_import("people")
    ready = datasets.dataset_get("people")
    assert ready.state == made.DatasetState.READY and ready.records == 600
    request = made.JobRequest.from_dict({
        "dataset": "people", "model": {"preset": "linear"},
        "algorithm": {"name": "dpsgd", "clip_norm": 1},
        "optimizer": {"name": "sgd", "learning_rate": 0.5}, "privacy": {"epsilon": 1}})
    assert isinstance(request.algorithm.actual_instance, made.AlgorithmDpsgd)
    job = jobs.job_create(str(uuid.uuid4()), request)
    while job.end_time is None:
        job = jobs.job_get(job.id, wait=30)
    content = made.ModelsApi(client).model_content(job.model)
    budget = datasets.dataset_budget("people")
    try:
        declare(datasets)
        refused = None
    except ApiException as error:
        refused = json.loads(error.body)["code"]
    print(json.dumps({"state": job.state.value, "spent": budget.epsilon_spent,
                      "size": len(content), "refused": refused}))


if __name__ == "__main__":
    main(*sys.argv[1:])
