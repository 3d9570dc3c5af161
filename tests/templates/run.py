#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The differential test: the same cases through our engine and through Jinja2, byte for byte.

    run.py ANSWER [--peer PYTHON] [--count N] [--seed S] [--show N] [FILE...]

ANSWER is the program of answer.c. Cases are those of FILE (cases/*.json: {"vars", "cases": [template, ...], "files": {name: text}, "modes": [...]}), and N made
by generate.py from seed S. What differs must be in differences.json (patterns of the template and of both answers, and why), else it fails.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import generate  # noqa: E402


def load(path, folder):
    """Cases of a file, its own files written below folder."""
    with open(path) as f:
        data = json.load(f)
    where = None
    if data.get("files"):
        where = os.path.join(folder, os.path.basename(path))
        for name, text in data["files"].items():
            full = os.path.join(where, name)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as f:
                f.write(text)
    for c in data["cases"]:
        case = {"t": c[0] if isinstance(c, list) else c, "v": data["vars"], "m": data.get("modes", [])}
        if isinstance(c, dict):
            case.update(c)
        if where:
            case["d"] = where
        yield case


def answers(command, cases, folder, name):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        for c in cases:
            f.write(json.dumps(c) + "\n")
    out = subprocess.run(command + [path], stdout=subprocess.PIPE, check=False)
    lines = [json.loads(line) for line in out.stdout.decode("utf-8", "replace").split("\n") if line]
    if out.returncode or len(lines) != len(cases):
        at = cases[len(lines)] if len(lines) < len(cases) else None
        print(f"{command[0]} ended with {out.returncode} at {json.dumps(at)}")
        sys.exit(1)
    return lines


def equal(ours, theirs):
    if "ok" in ours and "ok" in theirs:
        return ours["ok"] == theirs["ok"]
    return "err" in ours and "err" in theirs


def main():
    p = argparse.ArgumentParser()
    p.add_argument("answer")
    p.add_argument("--peer", default=sys.executable)
    p.add_argument("--count", type=int, default=3000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--show", type=int, default=20)
    p.add_argument("files", nargs="*")
    a = p.parse_args()
    with open(os.path.join(HERE, "differences.json")) as f:
        known = [{k: re.compile(v, re.S) for k, v in d.items() if k != "why"} for d in json.load(f)]
    with tempfile.TemporaryDirectory() as folder:
        cases = []
        for path in a.files or sorted(glob.glob(os.path.join(HERE, "cases", "*.json"))):
            cases += load(path, folder)
        written = len(cases)
        cases += generate.cases(a.seed, a.count)
        ours = answers([a.answer], cases, folder, "ours")
        theirs = answers([a.peer, os.path.join(HERE, "peer.py")], cases, folder, "theirs")
    bad = explained = refused = 0
    for case, x, y in zip(cases, ours, theirs):
        if equal(x, y):
            refused += "err" in y
            continue
        sides = {"template": case["t"], "ours": str(x.get("ok", x.get("err"))), "theirs": str(y.get("ok", y.get("err")))}
        if any(all(r.search(sides[k]) for k, r in d.items()) for d in known):
            explained += 1
            continue
        bad += 1
        if bad <= a.show:
            print(f"{case['t'][:300]!r}\n  ours   {str(x.get('ok', x.get('err')))[:300]!r}\n  theirs {str(y.get('ok', y.get('err')))[:300]!r}")
    print(f"{len(cases)} cases ({written} written, {len(cases) - written} generated from seed {a.seed}): "
          f"{len(cases) - bad - explained} equal ({refused} refused by both), {explained} differ as documented, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
