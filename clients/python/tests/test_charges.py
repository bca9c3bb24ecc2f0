"""Charges: work elsewhere is granted block by block, settled by `with`, and granted to only one process;
and the cases that the Opacus adapter refuses."""

import types
import unittest

import epsilond
from epsilond import opacus

import kit

WORK = {"kind": "sampled_gaussian", "sampler": "poisson", "sampling_rate": 0.05, "noise_multiplier": 4.0,
        "steps": 25, "neighbour": "add_remove"}


def charge(**more):
    return kit.client().charge("digits", more.pop("work", WORK), engine="test 1", block_steps=10, **more)


class Leases(unittest.TestCase):
    def test_blocks_cover_all_steps_once_and_the_end_settles(self):
        with charge() as lease:
            self.assertEqual([list(block) for block in lease],
                             [list(range(1, 11)), list(range(11, 21)), list(range(21, 26))])
            self.assertIsNone(lease.block())
        self.assertEqual(lease.state, "SETTLED")
        self.assertEqual(lease.data["authorised_steps"], 25)
        self.assertLessEqual(lease.epsilon_spent, lease.epsilon)

    def test_an_exception_spends_what_was_granted(self):
        with self.assertRaises(RuntimeError), charge() as lease:
            lease.block()
            raise RuntimeError("the training failed")
        self.assertEqual((lease.state, lease.data["authorised_steps"]), ("SETTLED", 10))

    def test_who_goes_on_is_granted_what_nobody_was(self):
        lease = charge()
        lease.block()
        again = kit.client().charges(lease.id)
        self.assertEqual(again.block().number, 2)
        self.assertEqual(lease.block().number, 3)  # block 2 belongs to the other process
        self.assertIsNone(again.block())
        self.assertEqual(again.settle().state, "SETTLED")
        self.assertEqual(lease.settle().state, "SETTLED")  # a settlement sent twice

    def test_a_price_is_asked_before(self):
        estimate = kit.client().charge_estimate("digits", [WORK, {
            "kind": "pure", "epsilon": 0.01, "steps": 1, "neighbour": "zero_out"}])
        self.assertEqual(estimate["fits"], "yes")
        self.assertEqual(estimate["priced_as"]["kinds"], ["sampled_gaussian", "pure"])

    def test_charges_are_listed_newest_first(self):
        one, two = charge(), charge()
        listed = [lease.id for lease in kit.client().past_charges("digits")]
        self.assertLess(listed.index(two.id), listed.index(one.id))
        one.settle(), two.settle()

    def test_what_has_no_proof_is_refused_at_its_place(self):
        with self.assertRaises(epsilond.InvalidArgument) as caught:
            charge(work={**WORK, "neighbour": "replace_one"})
        self.assertIn("no proof", str(caught.exception))


def made(name, **members):
    """An object whose class has that name, as Opacus's classes do."""
    one = type(name, (), {})()
    vars(one).update(members)
    return one


class Loader(list):
    num_workers = 0

    def __init__(self, sampler="UniformWithReplacementSampler", steps=5):
        super().__init__(range(steps))
        self.batch_sampler = made(sampler, sample_rate=0.2)


class Adapter(unittest.TestCase):
    """Without Opacus: objects with its attributes, and the steps that it would count."""

    def setUp(self):
        self.engine = types.SimpleNamespace(accountant=types.SimpleNamespace(history=[]))
        self.optimizer = made("DPOptimizer", noise_multiplier=6.0)

    def lease(self, loader=None, **more):
        return opacus.lease(kit.client(), "digits", self.engine, self.optimizer, loader or Loader(),
                            epochs=2, block_steps=3, **more)

    def count(self, steps, noise=6.0, rate=0.2):
        self.engine.accountant.history = [(noise, rate, steps)]

    def test_each_batch_is_drawn_after_its_block_is_granted(self):
        with self.lease() as batches:
            self.assertEqual(batches.charge.data["blocks_granted"], 0)
            for place, _ in enumerate(batches):
                self.assertEqual(batches.charge.data["blocks_granted"], place // 3 + 1)
                self.count(place + 1)
        self.assertEqual(batches.charge.state, "SETTLED")
        self.assertEqual(batches.charge.data["authorised_steps"], 10)

    def test_other_samplers_workers_and_optimizers_are_refused(self):
        with self.assertRaisesRegex(opacus.Refused, "BatchSampler"):
            self.lease(Loader("BatchSampler"))
        ahead = Loader()
        ahead.num_workers = 2
        with self.assertRaisesRegex(opacus.Refused, "num_workers"):
            self.lease(ahead)
        self.optimizer = made("AdaClipDPOptimizer", noise_multiplier=6.0)
        with self.assertRaisesRegex(opacus.Refused, "AdaClip"):
            self.lease()

    def test_a_history_that_differs_is_refused(self):
        for history in ([(6.0, 0.2, 2)], [], [(5.0, 0.2, 1)], [(6.0, 0.1, 1)]):
            self.engine.accountant.history = []
            with self.subTest(history), self.assertRaises(opacus.Refused), self.lease() as batches:
                for _ in batches:
                    self.engine.accountant.history = history

    def test_steps_from_before_are_in_no_charge(self):
        self.count(1)
        with self.assertRaisesRegex(opacus.Refused, "before"):
            self.lease()

    def test_a_checkpoint_goes_on_with_new_blocks(self):
        with self.assertRaises(KeyboardInterrupt):
            batches = self.lease()
            for place, _ in enumerate(batches):
                self.count(place + 1)
                if place == 1:
                    raise KeyboardInterrupt
        rest = self.lease(charge=batches.charge.id)
        self.assertEqual(len(list(self.counted(rest))), 7)  # 3 of 10 were granted to the first process
        rest.charge.settle()

    def counted(self, batches):
        before = self.engine.accountant.history[0][2]
        for place, batch in enumerate(batches):
            self.count(before + place + 1)
            yield batch


if __name__ == "__main__":
    unittest.main()
