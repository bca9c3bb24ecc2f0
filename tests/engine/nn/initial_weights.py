"""Prints the first weights of a 2-3-10 network at seed 0, the known answer of test_network.c, with its
own ChaCha20, hashlib's SHA-256, and rounding to float32 by struct."""
import hashlib
import math
import struct


def rotate(x, n):
    return (x << n | x >> (32 - n)) & 0xFFFFFFFF


def block(key, nonce, counter):
    words = (struct.unpack("<4I", b"expand 32-byte k") + struct.unpack("<8I", key)
             + struct.unpack("<4I", struct.pack("<QQ", counter, nonce)))
    x = list(words)
    for _ in range(10):
        for a, b, c, d in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                           (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            x[a] = (x[a] + x[b]) & 0xFFFFFFFF
            x[d] = rotate(x[d] ^ x[a], 16)
            x[c] = (x[c] + x[d]) & 0xFFFFFFFF
            x[b] = rotate(x[b] ^ x[c], 12)
            x[a] = (x[a] + x[b]) & 0xFFFFFFFF
            x[d] = rotate(x[d] ^ x[a], 8)
            x[c] = (x[c] + x[d]) & 0xFFFFFFFF
            x[b] = rotate(x[b] ^ x[c], 7)
    return [(u + v) & 0xFFFFFFFF for u, v in zip(x, words)]


key = hashlib.sha256(b"epsilond initial weights\0" + struct.pack("<Q", 0)).digest()
for tensor, (count, fan_in) in enumerate(((6, 2), (3, 2), (30, 3), (10, 3))):
    words = (block(key, tensor, 0) + block(key, tensor, 1))[:count]
    bound = 1.0 / math.sqrt(fan_in)
    for word in words:
        value = bound * ((word + 0.5) * 2.0 ** -31 - 1.0)
        (value,) = struct.unpack("<f", struct.pack("<f", value))
        print(value.hex().replace("000000p", "p") + "F,")
