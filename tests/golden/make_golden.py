#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden.txt from the specification's numpy program: make_golden.py PROGRAM.py > golden.txt"""
import importlib.util
import sys
import zlib

import numpy as np

SAMPLES = 1024

# what, model, tokens, tp, ratio, then what differs from the defaults
CASES = [
    ("front", "v41-flash", 4, 4, 2, {}),
    ("front", "v4-pro", 17, 8, 4, dict(mode="exact", pad=1)),
    ("front", "v4-flash", 3, 2, 0, dict(seed=9, max_pos=200, pad=1)),
    ("front", "v41-flash", 2, 1, 1, dict(mode="exact", seed=3)),
    ("keys", "v4-pro", 48, 8, 4, dict(seed=2)),
    ("keys", "v4-pro", 16, 8, 128, dict(global_keys=1, pad=1, comp_block=2)),
    ("keys", "v41-flash", 7, 4, 1, dict(topk=96, block=16, comp_block=64)),
    ("keys", "v4-flash", 5, 4, 0, dict(pad=1)),
    ("back", "v4-pro", 1, 8, 4, dict(seed=7)),
    ("back", "v4-flash", 3, 2, 128, dict(global_keys=1, pad=1)),
    ("back", "v41-flash", 5, 2, 1, dict(seed=4, max_pos=1000)),
    ("back", "v41-flash", 44, 2, 2, dict(topk=256)),
    ("back", "v4-pro", 2, 1, 0, dict(block=7)),
    ("back", "v41-flash", 4, 4, 2, dict(mode="exact")),
    ("layer", "v4-flash", 3, 4, 4, dict(pad=1, seed=11)),
    ("layer", "v4-pro", 2, 4, 128, dict(global_keys=1)),
    ("layer", "v41-flash", 6, 4, 2, dict(seed=5, block=32)),
    ("layer", "v4-pro", 5, 8, 4, dict(mode="exact", topk=128)),
]
DEFAULTS = dict(topk=0, seed=1, mode="random", block=64, comp_block=16, max_pos=4096, pad=0, global_keys=0)


def crc(a):
    return zlib.crc32(np.ascontiguousarray(a).tobytes())


def inputs(o, c, what):
    sh, s, seed, mode = c.sh, c.s, c.seed, c.mode
    for name in ("pos", "slot", "swa_lens", "swa_idx", "topk", "comp_bt", "t2r", "cos_sin"):
        yield name, getattr(c, name)
    yield "sink", (o.f32_unit(seed, "sink", sh.heads)[:sh.h] * np.float32(2)).astype(np.float32)
    yield "qn_w", o.bf16_values(seed, "qn_w", sh.q_rank, "random", 126, 128)
    yield "kvn_w", o.bf16_values(seed, "kvn_w", 512, "random", 126, 128)
    weights = {"front": ("wqkv", "wqb"), "back": ("woa", "wob"), "layer": ("wqkv", "wqb", "woa", "wob")}
    shapes = dict(wqkv=(sh.qkv_rows, sh.hidden), wqb=(sh.q_rows, sh.q_rank), woa=(sh.o_rows, sh.group_k),
                  wob=(sh.hidden, sh.o_rows))
    for w in weights.get(what, ()):
        yield w, o.weight_bytes(seed, w, *shapes[w], mode)
        yield w + "_s", o.scale_codes(seed, w + "_s", *shapes[w], mode)
    if what in ("front", "layer"):
        yield "x", o.bf16_values(seed, "x", s * sh.hidden, mode)
    if what == "back":
        yield "q", o.bf16_values(seed, "q", s * sh.q_rows, mode, 121, 128)
    if what in ("back", "layer"):
        yield "swa", c.cache("swa", c.nblocks, c.block)
        if c.ratio:
            yield "comp", c.cache("comp", c.ncomp_blocks, c.comp_block)


def outputs(o, c, what):
    res = {}
    if what in ("front", "layer"):
        res.update(o.front(c))
        del res["x"]
    if what != "front":
        res["kt"], res["klen"] = o.key_table(c)
    if what == "layer":
        res.update(o.back(c, res["q"], o.insert(c, res["records"]), res["kt"], res["klen"]))
    elif what == "back":
        res.update(o.back(c))
    return res


def dump(name, a):
    """A line of the tensor's figures, then samples of a bf16 tensor, or every byte of the records."""
    a = np.ascontiguousarray(a).reshape(-1)
    step = -(-a.size // SAMPLES) | 1 if a.dtype == np.uint16 else 1
    kept = a[::step] if a.dtype in (np.uint16, np.uint8) else a[:0]
    print(f"output {name} {a.size} {a.itemsize} {crc(a):08x} {step} {kept.size}")
    for i in range(0, kept.size, 24):
        print("".join(f"{int(v):0{2 * a.itemsize}x}" for v in kept[i:i + 24]))


def main():
    spec = importlib.util.spec_from_file_location("program", sys.argv[1])
    o = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(o)
    for what, model, tokens, tp, ratio, more in CASES:
        p = dict(DEFAULTS, **more)
        sh = o.Shape(model, tp, p["topk"] or None)
        c = o.Case(sh, tokens, ratio, p["seed"], p["mode"], p["block"], p["comp_block"], p["max_pos"], bool(p["pad"]),
                   bool(p["global_keys"]))
        print(f"case {what} {model} {tokens} {tp} {ratio} {p['topk']} {p['seed']} {p['mode']} {p['block']} "
              f"{p['comp_block']} {p['max_pos']} {p['pad']} {p['global_keys']}")
        for name, a in inputs(o, c, what):
            print(f"input {name} {crc(a):08x}")
        for name, a in outputs(o, c, what).items():
            dump(name, a)
        print("end")


if __name__ == "__main__":
    main()
