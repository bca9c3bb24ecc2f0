"""Exceptions of the contract's check: correct answers that schemathesis reports as failures. README.md
gives the reason for each of them, by its name below.

An exception names the operations, the status and the problem code of the answer, and the codes that its
faults may have: a refusal with any other fault is still a failure. At the end of a run, the number of uses
of each exception is written to EXCEPTIONS_USED, so that unnecessary ones are found.
"""
import atexit
import collections
import json
import os
import re

import jsonschema_rs
import schemathesis
from hypothesis import strategies

schemathesis.openapi.media_type("text/csv", strategies.binary())

TOMBSTONE = "UseAfterFree"  # schemathesis' name for "deleted resource still available"
ANY = {"malformed", "unknown", "repeated", "missing", "wrong_type", "out_of_range", "invalid"}
REFUSALS = {  # name: status, problem code, operations, codes of faults[, their parameters]
    "members_that_forbid_each_other":
        (400, "invalid_argument",
         "^(dataset_(create|check|put)|(job|sweep|statistics)_(create|estimate)|model_(evaluate|estimate))$", {"invalid"}),
    "a_job_beyond_the_machine":
        (400, "job_too_large", "^(job_create|job_estimate|sweep_create|sweep_estimate)$", ANY),
    "a_page_of_another_order":
        (400, "invalid_argument", "(_list|^dataset_ledger|^job_logs)$", {"invalid"},
         {"page_token"}),
    "a_day_that_is_in_no_calendar":
        (400, "invalid_argument", "^job_list$", {"invalid"}, {"created_after", "page_token"}),
    "a_piece_that_does_not_fit":
        (400, "invalid_argument", "^dataset_file_put$", {"invalid"}),
    "rows_of_another_model":
        (400, "invalid_argument", "^model_predict(_file)?$",
         {"invalid", "wrong_type", "out_of_range", "missing", "unknown"}),
    "another_body_under_the_key":
        (422, "idempotency_key_reused",
         "^(dataset|job|charge|sweep|statistics)_create$|^charge_block$|^model_evaluate$", ANY),
    "files_that_are_no_such_data":
        (422, "import_failed", "^dataset_import$", ANY),
    "weights_that_are_none":
        (400, "invalid_argument", "^file_create$", {"invalid"}, {None}),
    "a_part_of_a_whole":
        (400, "invalid_argument", "^dataset_budget_history$", {"invalid"}, {"part"}),
    "a_confirmation_that_depends_on_the_rest":
        (400, "invalid_argument", "^(dataset_(create|check|put|import|regrant)|grant_approve|charge_(create|estimate))$", {"invalid"}),
    "work_without_a_proof":
        (400, "invalid_argument", "^charge_(create|estimate)$", {"invalid"}),
    "a_policy_of_who_makes_keys":
        (400, "invalid_argument", "^key_(create|policy)$", {"invalid"}),
    "an_expected_tag":
        (412, "precondition_failed", "^(model_content|(dataset|job|model)_patch)$", ANY),
    "an_address_that_is_none":
        (400, "invalid_argument", "^(webhook_create|dataset_file_fetch)$", {"invalid"}),
    "a_range_beyond_the_file": (416, "range_not_satisfiable", "^model_content$", ANY),
}
# Members that are required only with some values of others, which the schema cannot say.
DEPENDENT = re.compile("^/acknowledge$|/model/(heads|separator|positions)$")
used = collections.Counter()


def refusal(operation, response):
    """Returns the exception that applies to a problem, or None."""
    if "problem+json" not in response.headers.get("content-type", [""])[0]:
        return None
    problem = response.json()
    for name, (status, code, operations, faults, *parameters) in REFUSALS.items():
        if (status == response.status_code and code == problem["code"]
                and re.search(operations, operation)
                and {fault["code"] for fault in problem["errors"]
                     if not DEPENDENT.search(fault["pointer"] or "")} <= faults
                and all({fault["parameter"] for fault in problem["errors"]} <= named
                        for named in parameters)):
            return name
    return None


def is_declaration(case, response):
    """Returns whether the body matches the document's schema of a dataset, according to jsonschema-rs."""
    components = case.operation.schema.raw_schema["components"]
    whole = {"$ref": "#/components/schemas/DatasetRequest", "components": components}
    try:
        body = json.loads(response.request.body)
    except (TypeError, ValueError):
        return False
    return jsonschema_rs.Draft202012Validator(whole).is_valid(body)


def exception(failure, case, response):
    operation = case.operation.definition.raw["operationId"]
    if type(failure).__name__ == TOMBSTONE and operation.startswith("dataset_"):
        return "a_dataset_that_was_deleted"
    if (type(failure).__name__ == "AcceptedNegativeData" and operation == "dataset_file_put"
            and not response.request.body):
        return "an_empty_file"
    if (type(failure).__name__ == "AcceptedNegativeData" and re.search("^dataset_(create|check|put)$", operation)
            and "Invalid component: in body - " in failure.message and is_declaration(case, response)):
        return "the_first_of_two_formats"
    if type(failure).__name__ == "RejectedPositiveData":
        return refusal(operation, response)
    return None


@schemathesis.hook
def filter_failure(context, failure, case, response):
    name = exception(failure, case, response)
    if name is not None:
        used[name] += 1
    return name is None


@atexit.register
def report():
    path = os.environ.get("EXCEPTIONS_USED")
    if path:
        with open(path, "w", encoding="utf-8") as file:
            names = [*REFUSALS, "a_dataset_that_was_deleted", "an_empty_file", "the_first_of_two_formats"]
            json.dump({name: used[name] for name in names}, file)
