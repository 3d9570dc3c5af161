#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps cases*.json honest: what each case expects is what real Jinja2 3.1 gives.

    compare.py            checks every case against the installed jinja2; exits 1 when one differs
    compare.py --update   writes what jinja2 gives into the files

A case is [template, expected]; an expected of null means that both refuse it. The variables are in "vars", shared by all.
Filters that jinja2 lacks are Ansible's; they are checked only when ansible can be imported.
"""
import glob
import importlib
import json
import os
import sys

import jinja2

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = sorted(glob.glob(os.path.join(HERE, "cases*.json")))
COLLECTIONS = {
    "community.general": "counter crc32 dict dict_kv groupby_as_dict json_query time version_sort",
    "ansible.utils": "cidr_merge hwaddr ip4_hex ipaddr ipmath ipsubnet ipv4 ipv6 ipwrap macaddr network_in_network network_in_usable"
    " next_nth_usable nthhost previous_nth_usable reduce_on_network remove_keys replace_keys slaac to_paths",
}


def collection_filters():
    """Those that are installed."""
    sys.path.append("/usr/lib/python3/dist-packages")
    found = {}
    for collection, names in COLLECTIONS.items():
        for name in names.split():
            try:
                module = importlib.import_module(f"ansible_collections.{collection}.plugins.filter.{name}")
            except ImportError:
                continue
            found.update(module.FilterModule().filters())
    return found


def environment():
    env = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=False)
    try:
        from ansible.plugins.filter.core import FilterModule as Core
        from ansible.plugins.filter.mathstuff import FilterModule as Maths
        from ansible.plugins.test.core import TestModule as Tests
        from ansible.plugins.test.mathstuff import TestModule as MathTests
        for plug in (Core(), Maths()):
            # default knows only Ansible's own undefined values
            env.filters.update((n, f) for n, f in plug.filters().items() if n not in ("default", "d"))
        for plug in (Tests(), MathTests()):
            env.tests.update(plug.tests())
        env.filters.update(collection_filters())
        return env, True
    except ImportError:
        return env, False


def check(path, env, ansible):
    """How many cases there are, differ, are skipped."""
    with open(path) as f:
        data = json.load(f)
    bad = skipped = 0
    for case in data["cases"]:
        text, expected = case
        try:
            got = env.from_string(text).render(**data["vars"])
        except Exception as e:  # any refusal counts as one
            if "No filter named" in str(e) or not ansible and "No test named" in str(e):
                skipped += expected is not None
                continue
            got = None
        if "--update" in sys.argv:
            case[1] = got
        elif got != expected:
            bad += 1
            print(f"{text!r}: {os.path.basename(path)} says {expected!r}, jinja2 gives {got!r}")
    if "--update" in sys.argv:
        with open(path, "w") as f:
            f.write('{"vars": %s,\n"cases": [\n' % json.dumps(data["vars"]))
            f.write(",\n".join(json.dumps(c) for c in data["cases"]))
            f.write("\n]}\n")
    return len(data["cases"]), bad, skipped


def main():
    env, ansible = environment()
    cases, bad, skipped = (sum(n) for n in zip(*(check(path, env, ansible) for path in FILES)))
    print(f"{cases} cases, {bad} differ, {skipped} skipped (jinja2 {jinja2.__version__}, ansible: {ansible})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
