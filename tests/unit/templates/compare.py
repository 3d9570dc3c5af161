#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps cases.json honest: what each case expects is what real Jinja2 3.1 gives.

    compare.py            checks every case against the installed jinja2; exits 1 when one differs
    compare.py --update   writes what jinja2 gives into cases.json

A case is [template, expected]; an expected of null means that both refuse it. The variables are in "vars", shared by all.
Filters that jinja2 lacks are Ansible's; they are checked only when ansible can be imported.
"""
import json
import os
import sys

import jinja2

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(HERE, "cases.json")


def environment():
    env = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=False)
    try:
        from ansible.plugins.filter.core import FilterModule as Core
        from ansible.plugins.filter.mathstuff import FilterModule as Maths
        from ansible.plugins.test.core import TestModule as Tests
        from ansible.plugins.test.mathstuff import TestModule as MathTests
        for plug in (Core(), Maths()):
            env.filters.update(plug.filters())
        for plug in (Tests(), MathTests()):
            env.tests.update(plug.tests())
        return env, True
    except ImportError:
        return env, False


def main():
    with open(FILE) as f:
        data = json.load(f)
    env, ansible = environment()
    bad = skipped = 0
    for case in data["cases"]:
        text, expected = case
        try:
            got = env.from_string(text).render(**data["vars"])
        except Exception as e:  # any refusal counts as one
            if not ansible and "No filter named" in str(e) or not ansible and "No test named" in str(e):
                skipped += 1
                continue
            got = None
        if "--update" in sys.argv:
            case[1] = got
        elif got != expected:
            bad += 1
            print(f"{text!r}: cases.json says {expected!r}, jinja2 gives {got!r}")
    if "--update" in sys.argv:
        with open(FILE, "w") as f:
            f.write('{"vars": %s,\n"cases": [\n' % json.dumps(data["vars"]))
            f.write(",\n".join(json.dumps(c) for c in data["cases"]))
            f.write("\n]}\n")
    print(f"{len(data['cases'])} cases, {bad} differ, {skipped} skipped (jinja2 {jinja2.__version__}, ansible: {ansible})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
