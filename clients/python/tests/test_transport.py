"""Requests: a wrong address is reported at once, nothing is done twice, keys are not sent elsewhere, and a
refusal becomes an exception with everything that the service said."""

import json
import os
import tempfile
import time
import unittest
import warnings
from unittest import mock

import epsilond

import kit

PROBLEM = {"type": "urn:epsilond:problem:queue_full", "title": "Queue full", "status": 503,
           "detail": "the queue is full", "instance": "req_1", "code": "queue_full",
           "retryable": True, "advice": "retry later", "errors": []}
JSON = {"Content-Type": "application/json"}
VERSION = (200, JSON, b'{"version": "0.1.0"}')


def busy(retry_after):
    return 503, {"Content-Type": "application/problem+json", "Retry-After": retry_after}, \
        json.dumps(PROBLEM).encode()


class Addresses(unittest.TestCase):
    def test_a_port_where_nobody_listens_is_told_at_once(self):
        with mock.patch("time.sleep", side_effect=AssertionError("waited")), \
                self.assertRaisesRegex(epsilond.Unreachable, "^start epsilond.*EPSILOND_URL.*127.0.0.1:9") as caught:
            epsilond.Client("http://127.0.0.1:9").train("digits", epsilon=1)
        self.assertIsNone(caught.exception.idempotency_key)  # the service did not get the request

    def test_a_host_that_does_not_exist_is_told(self):
        with self.assertRaisesRegex(epsilond.Unreachable, "no-such-host.invalid"):
            epsilond.Client("http://no-such-host.invalid").version()

    def test_what_is_no_address_is_refused(self):
        for url in ("file:///etc/passwd", "127.0.0.1:8080", "ftp://127.0.0.1", "http://",
                    "http://127.0.0.1/?a=b", "http://127.0.0.1:port"):
            with self.subTest(url), self.assertRaises(ValueError):
                epsilond.Client(url)

    def test_the_environment_says_where_and_who(self):
        with kit.Fake(lambda request: VERSION) as fake:
            told = {"EPSILOND_URL": fake.url + "/under/", "EPSILOND_KEY": "key-of-mine"}
            with mock.patch.dict(os.environ, told):
                epsilond.Client().version()
            self.assertEqual(fake.requests[0].path, "/under/v1/version")
            self.assertEqual(fake.requests[0].headers["Authorization"], "Bearer key-of-mine")

    def test_without_a_key_none_is_sent(self):
        with kit.Fake(lambda request: VERSION) as fake, mock.patch.dict(os.environ):
            os.environ.pop("EPSILOND_KEY", None)
            epsilond.Client(fake.url).version()
            self.assertNotIn("Authorization", fake.requests[0].headers)

    def test_a_password_in_the_address_is_sent_and_not_shown(self):
        with kit.Fake(lambda request: VERSION) as fake:
            client = epsilond.Client(fake.url.replace("//", "//ann:pass%40word@"))
            client.version()
            self.assertEqual(fake.requests[0].headers["Authorization"], "Basic YW5uOnBhc3NAd29yZA==")
            self.assertNotIn("pass", repr(client))

    def test_a_key_that_would_end_the_header_is_refused(self):
        for key in ("two words", "line\r\nHost: other", "schl\u00fcssel"):
            with self.subTest(key), self.assertRaisesRegex(ValueError, "printable ASCII"):
                epsilond.Client("http://127.0.0.1", key)

    def test_a_key_without_encryption_is_warned_of(self):
        with self.assertWarnsRegex(UserWarning, "without encryption"):
            epsilond.Client("http://example.org", "key")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            epsilond.Client("http://127.0.0.1", "key")
            epsilond.Client("https://example.org", "key")

    def test_a_proxy_of_the_environment_is_not_asked_for_loopback(self):
        with kit.Fake(lambda request: VERSION) as fake, \
                mock.patch.dict(os.environ, {"http_proxy": "http://127.0.0.1:9"}):
            self.assertEqual(epsilond.Client(fake.url).version()["version"], "0.1.0")

    def test_another_service_is_told_from_epsilond(self):
        with kit.Fake(lambda request: (200, {"Content-Type": "text/html"}, b"<html>")) as fake, \
                self.assertRaisesRegex(epsilond.UnexpectedAnswer, "not JSON"):
            epsilond.Client(fake.url).version()
        with kit.Fake(lambda request: (404, {"Content-Type": "text/html"}, b"<html>")) as fake, \
                self.assertRaisesRegex(epsilond.UnexpectedAnswer, "404, and not as epsilond"):
            epsilond.Client(fake.url).version()

    def test_a_redirect_is_not_followed_and_takes_no_key_along(self):
        with kit.Fake(lambda request: VERSION) as other:
            target = {"Location": other.url}
            with kit.Fake(lambda request: (302, target, b"")) as fake, \
                    self.assertRaisesRegex(epsilond.UnexpectedAnswer, "^give the address .*127.0.0.1"):
                epsilond.Client(fake.url, "key").version()
            self.assertEqual(other.requests, [])


class Retries(unittest.TestCase):
    def test_an_answer_that_says_when_is_waited_for(self):
        answers = [busy("1"), busy("0"), VERSION]
        with kit.Fake(lambda request: answers.pop(0)) as fake:
            start = time.monotonic()
            epsilond.Client(fake.url).version()
            self.assertGreaterEqual(time.monotonic() - start, 1)
            self.assertEqual(len(fake.requests), 3)

    def test_the_wait_has_a_bound(self):
        for told in ("99999", "99999999999999999999"):
            with self.subTest(told), kit.Fake(lambda request: busy(told)) as fake:  # noqa: B023
                with mock.patch("time.sleep", side_effect=AssertionError("waited")), \
                        self.assertRaises(epsilond.Unavailable) as caught:
                    epsilond.Client(fake.url).version()
                self.assertEqual(len(fake.requests), 1)
                self.assertEqual(caught.exception.code, "queue_full")

    def test_busy_for_longer_than_patience_is_an_error(self):
        with kit.Fake(lambda request: busy("0")) as fake:
            with self.assertRaises(epsilond.Unavailable):
                epsilond.Client(fake.url, patience=1).version()
            self.assertGreater(len(fake.requests), 2)

    def test_unavailable_without_a_time_is_not_asked_again(self):
        content = {"Content-Type": "application/problem+json"}
        with kit.Fake(lambda request: (503, content, json.dumps(PROBLEM).encode())) as fake:
            with self.assertRaises(epsilond.Unavailable):
                epsilond.Client(fake.url).version()
            self.assertEqual(len(fake.requests), 1)

    def test_the_key_of_a_call_stays_over_its_tries_and_differs_between_calls(self):
        answers = [None, None, (404, {}, b""), (404, {}, b"")]
        with kit.Fake(lambda request: answers.pop(0)) as fake:
            client = epsilond.Client(fake.url)
            for _ in range(2):
                with self.assertRaises(epsilond.UnexpectedAnswer):
                    client.train("digits", epsilon=1)
            keys = [request.headers["Idempotency-Key"] for request in fake.requests]
            self.assertEqual(len(keys), 4)
            self.assertEqual(len(set(keys[:3])), 1)
            self.assertNotEqual(keys[2], keys[3])

    def test_a_job_whose_answer_was_lost_is_one_job(self):
        daemon = kit.daemon()
        kit.register_digits(kit.client(), "lost-answer", 500, epsilon=2, delta=1e-5)
        with kit.Deaf(daemon.base, lost=2) as deaf:
            job = epsilond.Client(deaf.url).train("lost-answer", epsilon=1, epochs=1)
            self.assertEqual(deaf.taken, 3)
        self.assertEqual([other.id for other in kit.client().jobs.where(dataset="lost-answer")],
                         [job.id])

    def test_a_wait_outlives_answers_that_are_lost(self):
        job = kit.client().train("digits", epsilon=0.1, epochs=1)
        with kit.Deaf(kit.daemon().base, lost=3) as deaf:
            epsilond.Job(epsilond.Client(deaf.url, patience=0), job.data).wait()
            self.assertGreater(deaf.taken, 3)

    def test_an_error_after_all_tries_names_the_key_of_the_call(self):
        with kit.Fake(lambda request: None) as fake:
            client = epsilond.Client(fake.url, patience=0.3)
            with self.assertRaisesRegex(epsilond.Unreachable, "idempotency_key='") as caught:
                client.train("digits", epsilon=1)
            self.assertEqual(caught.exception.idempotency_key,
                             fake.requests[0].headers["Idempotency-Key"])


class Problems(unittest.TestCase):
    def test_each_fault_of_a_request_is_named_with_its_pointer(self):
        with self.assertRaises(epsilond.InvalidArgument) as caught:
            kit.client().train("digits", {"preset": "mlp", "hidden": [0]}, epsilon=-1)
        self.assertEqual(caught.exception.pointer, "/model/hidden/0")
        self.assertIn("/privacy/epsilon", str(caught.exception))
        self.assertEqual(caught.exception.status, 400)

    def test_names_that_are_not_there_are_told(self):
        client = kit.client()
        for ask in (lambda: client.datasets["none"], lambda: client.train("none", epsilon=1),
                    lambda: client.jobs["job_00000000000000000000000000"],
                    lambda: client.models["mdl_00000000000000000000000000"]):
            with self.assertRaises(epsilond.NotFound) as caught:
                ask()
            self.assertEqual(caught.exception.code, "not_found")

    def test_an_identifier_is_one_part_of_a_path(self):
        client = kit.client()
        for id in ("../jobs", "a/b", "digits?x=1", "digits#", "", "..", "\n", "\u00e4"):
            with self.subTest(id), self.assertRaises(epsilond.Problem):
                client.datasets[id]  # noqa: B018

    def test_a_number_that_json_has_not_is_refused_here(self):
        with self.assertRaises(ValueError):
            kit.client().train("digits", epsilon=float("nan"))

    def test_what_is_not_quite_a_problem_is_an_unexpected_answer(self):
        for body in (b"[]", b"{", b"null", b'{"code": "not_found"}',
                     json.dumps({**PROBLEM, "errors": [7]}).encode(),
                     json.dumps({**PROBLEM, "errors": [{"pointer": "/a"}]}).encode(),
                     json.dumps({**PROBLEM, "code": ["not_found"]}).encode()):
            with self.subTest(body), kit.Fake(lambda request: (404, JSON, body)) as fake, \
                    self.assertRaises(epsilond.UnexpectedAnswer):
                epsilond.Client(fake.url).version()

    def test_a_message_starts_with_what_to_do(self):
        fault = {"pointer": "/privacy/epsilon", "parameter": None, "detail": "is too much"}
        room = {"largest_epsilon": 0.51234, "most_steps": 30}
        for status, code, more, message in (
                (404, "not_found", {}, "do this: gone (not_found)"),
                (400, "invalid_argument", {"errors": [fault]}, "do this (invalid_argument)\n  /privacy/epsilon: is too much"),
                (409, "budget_exhausted", room, "ask for at most epsilon 0.512, or 30 steps of this noise: gone "
                 "(budget_exhausted)"),
                (409, "budget_exhausted", {}, "use the models that were trained already: no job like this fits any more: "
                 "gone (budget_exhausted)"),
                (409, "budget_held", room, "do this, or ask for at most epsilon 0.512, or 30 steps of this noise: gone "
                 "(budget_held)"),
                (422, "import_failed", {"file": "data", "line": 7}, "do this: file data, line 7, gone (import_failed)"),
                (422, "no_answer", {"errors": [{**fault, "pointer": "/inputs/3"}]},
                 "do this: no finite output for row 3 (no_answer)")):
            body = {**PROBLEM, "status": status, "code": code, "detail": "gone", "advice": "do this", "errors": [], **more}
            with self.subTest(code), kit.Fake(lambda request: (status, JSON, json.dumps(body).encode())) as fake, \
                    self.assertRaises(epsilond.Problem) as caught:
                epsilond.Client(fake.url).version()
            self.assertEqual(str(caught.exception), message)

    def test_text_of_a_service_cannot_speak_to_the_terminal(self):
        body = {**PROBLEM, "status": 404, "code": "not_found", "detail": "\x1b[2Jgone\x07\r"}
        content = {"Content-Type": "application/problem+json"}
        with kit.Fake(lambda request: (404, content, json.dumps(body).encode())) as fake, \
                self.assertRaises(epsilond.NotFound) as caught:
            epsilond.Client(fake.url).version()
        self.assertTrue(str(caught.exception).isprintable(), ascii(str(caught.exception)))

    def test_an_upload_that_is_refused_early_says_why(self):
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(1 << 28)
            kit.daemon()
            with self.assertRaises(epsilond.Conflict) as caught:
                kit.client()._transport.put("/v1/datasets/digits-test/files/data", file.name)
        self.assertEqual(caught.exception.code, "dataset_immutable")


if __name__ == "__main__":
    unittest.main()
