#!/usr/bin/env python3
"""Trains a model of the digits with Opacus on a budget of epsilond. Each block must be granted before its
batches are drawn; the spent epsilon must be within 1 % of that of Opacus's own accountant; training that
differs from the charged work must be refused.

  check_opacus.py EPSILOND
"""
import os
import pathlib
import sys

import opacus
import torch
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python/src"))
import digits  # noqa: E402
import epsilond  # noqa: E402
import epsilond.opacus  # noqa: E402
from daemon import Daemon  # noqa: E402

BATCH, EPOCHS, NOISE, DELTA = 128, 8, 1.2, 1e-5
WITHIN = 0.01  # of Opacus's epsilon, which uses fewer orders: ours may be smaller


def tensors(test):
    cells = [[float(cell) for cell in line.strip().split(",")] for line in digits.lines(test)]
    data = torch.tensor(cells)
    return data[:, :64] / 16, data[:, 64].long()


def private(train, poisson=True):
    torch.manual_seed(0)
    model = nn.Linear(64, 10)
    engine = opacus.PrivacyEngine(accountant="rdp")
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*train), batch_size=BATCH,
                                         shuffle=not poisson)
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=2.0), data_loader=loader,
        noise_multiplier=NOISE, max_grad_norm=1.0, poisson_sampling=poisson)
    return engine, model, optimizer, loader


def step(model, optimizer, rows, classes):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(rows), classes).backward()
    optimizer.step()


def trained(client, train, test):
    engine, model, optimizer, loader = private(train)
    with epsilond.opacus.lease(client, "digits", engine, optimizer, loader, epochs=EPOCHS,
                               block_steps=len(loader)) as batches:
        for rows, classes in batches:
            step(model, optimizer, rows, classes)
    charge = batches.charge
    theirs = engine.get_epsilon(DELTA)
    right = (model(test[0]).argmax(1) == test[1]).float().mean().item()
    print(f"opacus {opacus.__version__}: {charge.data['authorised_steps']} steps, accuracy {right:.3f}, "
          f"epsilon {charge.epsilon_spent:.4f} here, {theirs:.4f} there")
    assert charge.state == "SETTLED" and charge.data["authorised_steps"] == EPOCHS * len(loader)
    assert charge.epsilon_spent <= theirs * (1 + WITHIN), "dearer than the same accountant"
    assert charge.epsilon_spent >= theirs * 0.9, "cheaper than any accountant of Renyi divergence"
    assert right > 0.8
    assert client.datasets["digits"].budget.data["conditional"]


def refused(what, function, *arguments):
    try:
        function(*arguments)
    except epsilond.opacus.Refused as refusal:
        print(f"{what}: {refusal}")
    else:
        raise AssertionError(f"{what} is not refused")


def shuffled(client, train):
    engine, _, optimizer, loader = private(train, poisson=False)
    epsilond.opacus.lease(client, "digits", engine, optimizer, loader, epochs=1)


def accumulated(client, train):
    """Two batches for each step: the accountant counts half of what was granted."""
    engine, model, optimizer, loader = private(train)
    with epsilond.opacus.lease(client, "digits", engine, optimizer, loader, epochs=1) as batches:
        for place, (rows, classes) in enumerate(batches):
            if place % 2 == 1:
                step(model, optimizer, rows, classes)


def managed(client, train):
    """Splitting batches makes several of one, and some of them make no step."""
    engine, model, optimizer, loader = private(train)
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=16, optimizer=optimizer) as cut:
        epsilond.opacus.lease(client, "digits", engine, optimizer, cut, epochs=1)


def quieter(client, train):
    """Less noise than was declared, from the third step on."""
    engine, model, optimizer, loader = private(train)
    with epsilond.opacus.lease(client, "digits", engine, optimizer, loader, epochs=1) as batches:
        for place, (rows, classes) in enumerate(batches):
            optimizer.noise_multiplier = NOISE if place < 2 else NOISE / 2
            step(model, optimizer, rows, classes)


def main(binary):
    os.environ.setdefault("OPENBLAS_CORETYPE", "Sandybridge")
    train, test = tensors(False), tensors(True)
    with Daemon(binary) as daemon:
        client = epsilond.Client(daemon.base)
        client.datasets.register("digits", "".join(digits.lines(False)).encode(), epsilon=10, delta=DELTA,
                                 **digits.SCHEMA)
        trained(client, train, test)
        refused("shuffled batches", shuffled, client, train)
        refused("batches without a step", accumulated, client, train)
        refused("batches that are cut", managed, client, train)
        refused("less noise than declared", quieter, client, train)


main(sys.argv[1])
