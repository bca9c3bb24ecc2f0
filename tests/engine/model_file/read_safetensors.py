"""Prints a safetensors file, read by the format's description with json and numpy: metadata
sorted by key, then tensors by name; texts and values in hexadecimal."""
import json
import struct
import sys

import numpy

with open(sys.argv[1], "rb") as file:
    (size,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(size))
    data = file.read()
assert size % 8 == 0
end = 0
for key, value in sorted(header.pop("__metadata__", {}).items()):
    print("__metadata__", key, value.encode().hex())
for name, tensor in sorted(header.items()):
    begin, stop = tensor["data_offsets"]
    assert tensor["dtype"] == "F32" and begin == end
    end = stop
    values = numpy.frombuffer(data[begin:stop], "<f4").reshape(tensor["shape"])
    print(name, values.shape, values.tobytes().hex())
assert end == len(data)
