#!/usr/bin/env python3
"""NPY files as numpy 2.4 writes them, for tests/engine/data/readers/test_npy_reader.c: npy/*.npy.

usage: npy.py    writes into the folder npy next to this script

Each TYPE.npy has five records of 2 x 3, the values (i - 12) * 2.5 cut to the type (u1: i * 8);
each labels_TYPE.npy has 0, 1, 2, 0, 1. The other files must be refused by the reader, or have other
versions of the format.
"""
import os

import numpy
from numpy.lib import format as npy

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "npy")
COUNT = numpy.arange(30).reshape(5, 2, 3)
VALUES = (COUNT - 12) * 2.5


def save(name, array, version=None):
    with open(os.path.join(FOLDER, name + ".npy"), "wb") as file:
        npy.write_array(file, numpy.asanyarray(array), version=version)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    save("u1", (COUNT * 8).astype("u1"))
    for name in ("i1", "i2", "i4", "i8", "f4", "f8"):
        save(name, VALUES.astype("<" + name))
    for version in ((2, 0), (3, 0)):
        save(f"version{version[0]}", VALUES.astype("<f4"), version)
    for name in ("u1", "i8", "f4"):
        save("labels_" + name, numpy.array([0, 1, 2, 0, 1], dtype="<" + name))
    save("targets", numpy.array([-10, 0, 20, 30, 100], dtype="<f8"))
    save("fortran", numpy.asfortranarray(VALUES))
    save("big_endian", VALUES.astype(">f8"))
    save("flags", COUNT % 2 == 0)
    save("complex", VALUES.astype("<c8"))
    save("half", VALUES.astype("<f2"))
    save("texts", numpy.full((5, 2, 3), "x"))
    save("one_value", numpy.float64(2.385))
    save("no_records", numpy.zeros((0, 2, 3)))
    save("structured", numpy.zeros(5, dtype=[("a", "<f4"), ("b", "<f4")]))
    values = VALUES.astype("<f8")
    values[3, 1, 0] = numpy.nan
    save("nan", values)


main()
