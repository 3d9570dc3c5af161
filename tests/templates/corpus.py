#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Templates and conditions of other people's roles, as they are, through our engine and through Jinja2.

    corpus.py ANSWER [--peer PYTHON] [--show N] DIR...

Takes every *.j2 file, and every text with {{ }} and every condition (when, that, until, changed_when, failed_when) of the YAML files below DIR. Names
that they read get stubs, made by the way they are used; both sides get the same. Needs jinja2 and yaml here, and ansible on the peer's side.
"""
import argparse
import collections
import os
import re
import sys
import tempfile

import jinja2
import jinja2.ext
import yaml
from jinja2 import meta, nodes

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run  # noqa: E402

CONDITIONS = {"when", "that", "until", "changed_when", "failed_when"}
ENV = jinja2.Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
LIST_FILTERS = {"map", "select", "reject", "selectattr", "rejectattr", "join", "first", "last", "list", "sort", "unique", "union", "difference",
                "intersect", "flatten", "zip", "product", "subelements", "batch", "groupby", "sum", "min", "max", "length", "count"}
MAP_FILTERS = {"dict2items", "combine", "dictsort", "items", "to_nice_yaml", "to_yaml", "to_json", "to_nice_json"}


class Loader(yaml.SafeLoader):
    pass


Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def texts(value, key=None):
    """(text, is a condition) of a YAML document."""
    if isinstance(value, str):
        if key in CONDITIONS:
            yield value, "{{" not in value
        elif "{{" in value or "{%" in value:
            yield value, False
    elif isinstance(value, list):
        for v in value:
            yield from texts(v, key)
    elif isinstance(value, dict):
        for k, v in value.items():
            yield from texts(v, k)


def collect(folder):
    for where, _, files in os.walk(folder):
        for name in sorted(files):
            path = os.path.join(where, name)
            try:
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                if name.endswith(".j2"):
                    yield path, text, ["trim", "keep"], where
                elif name.endswith((".yml", ".yaml")):
                    for doc in yaml.load_all(text, Loader):
                        for t, is_expr in texts(doc):
                            yield path, t, ["expr"] if is_expr else [], where
            except (OSError, UnicodeDecodeError, yaml.YAMLError, ValueError, RecursionError):
                continue


def place(stub, path):
    """The stub of a name, as deep as its attributes go."""
    for key in path:
        if not isinstance(stub.get("map"), dict):
            stub["map"] = {}
        stub = stub["map"].setdefault(key, {})
    return stub


def path_of(node):
    keys = []
    while isinstance(node, (nodes.Getattr, nodes.Getitem)):
        if isinstance(node, nodes.Getattr):
            keys.append(node.attr)
        elif isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
            keys.append(node.arg.value)
        elif isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, int):
            keys.append(0)
        else:
            return None, None
        node = node.node
    return (node.name, list(reversed(keys))) if isinstance(node, nodes.Name) else (None, None)


def shapes(tree, names):
    stubs = {n: {} for n in names}

    def at(node):
        name, keys = path_of(node)
        if name not in stubs:
            return None
        if 0 in keys:
            k = keys.index(0)
            stub = place(stubs[name], keys[:k])
            stub["list"] = True
            return stub
        return place(stubs[name], keys)

    for n in tree.find_all((nodes.Call, nodes.Getattr, nodes.Getitem, nodes.For, nodes.Filter, nodes.Compare, nodes.Add, nodes.Sub, nodes.Mul)):
        if isinstance(n, nodes.Call) and isinstance(n.node, nodes.Getattr):
            s = at(n.node.node)
            if s is not None and n.node.attr in ("items", "keys", "values", "get"):
                s["dict"] = True
            elif s is not None:
                s["text"] = True
        elif isinstance(n, nodes.For):
            s = at(n.iter)
            if s is not None:
                s["list"] = True
        elif isinstance(n, nodes.Filter) and n.node is not None:
            s = at(n.node)
            if s is not None and n.name in LIST_FILTERS:
                s["list"] = True
            elif s is not None and n.name in MAP_FILTERS:
                s["dict"] = True
            elif s is not None and n.name in ("int", "float"):
                s["number"] = True
            elif s is not None and n.name == "bool":
                s["flag"] = True
        elif isinstance(n, (nodes.Add, nodes.Sub, nodes.Mul)):
            for side in (n.left, n.right):
                s = at(side)
                if s is not None:
                    s["number"] = True
        elif isinstance(n, (nodes.Getattr, nodes.Getitem)):
            at(n)
    return stubs


def value(name, stub):
    if stub.get("text"):
        return f"stub-{name}"
    if stub.get("list"):
        inner = {"map": stub["map"]} if stub.get("map") else {}
        return [value(name, inner)] * 2 if inner else [f"{name}-1", f"{name}-2"]
    if stub.get("map"):
        return {k: value(k, v) for k, v in stub["map"].items() if k not in ("items", "keys", "values", "get")}
    if stub.get("dict"):
        return {"key1": f"{name}-1", "key2": f"{name}-2"}
    if stub.get("number"):
        return len(name)
    if stub.get("flag"):
        return len(name) % 2 == 0
    return f"stub-{name}"


def stubbed(text, modes):
    try:
        tree = ENV.parse("{{ " + text + " }}" if "expr" in modes else text)
    except (jinja2.TemplateSyntaxError, RecursionError):
        return {}
    try:
        found = meta.find_undeclared_variables(tree)
    except jinja2.TemplateError:  # filters that this side does not know
        found = {n.name for n in tree.find_all(nodes.Name) if n.ctx == "load"} - {n.name for n in tree.find_all(nodes.Name) if n.ctx == "store"}
    names = found - {"lookup", "query", "q", "now", "range", "dict", "omit"}
    return {n: value(n, s) for n, s in shapes(tree, names).items()}


# What is no difference between the engines: Jinja2 alone has not all that Ansible adds, and prints what it cannot name.
PEER = [
    ("with what Ansible adds to Jinja2", r"'(lookup|query|q|now|omit)' is undefined|No (filter|test) named"),
    ("with undefined items in a list", r"Undefined[,\\]]"),
    ("with a value that has no text of its own", r"<(generator|zip|map|filter|built-in|bound|function|itertools|reversed|list_reverse)[^>]* (object|method|of)"),
    ("with octal escapes, which Ansible takes for back references", r"\\x0[1-9]"),
    ("with an undefined value in a chain, which Ansible allows", r"UndefinedError: .*(is undefined|has no (attribute|element))"),
]


def why(ours, theirs):
    """The reason that is not ours, or None."""
    text = str(theirs.get("ok", theirs.get("err")))
    for reason, pattern in PEER:
        if re.search(pattern, text) and not (reason.endswith("allows") and "ok" not in ours):
            return reason
    if "ok" in ours and "ok" in theirs and sorted(str(ours["ok"])) == sorted(str(theirs["ok"])):
        return "with a set, which has no order in Python"
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("answer")
    p.add_argument("--peer", default=sys.executable)
    p.add_argument("--show", type=int, default=10)
    p.add_argument("dirs", nargs="+")
    a = p.parse_args()
    bad_at_all = 0
    for folder in a.dirs:
        cases, seen = [], set()
        for path, text, modes, where in collect(folder):
            if (text, str(modes)) in seen:
                continue
            seen.add((text, str(modes)))
            cases.append({"t": text, "v": stubbed(text, modes), "m": modes, "d": where, "path": path})
        with tempfile.TemporaryDirectory() as work:
            ours = run.answers([a.answer], cases, work, "ours")
            theirs = run.answers([a.peer, os.path.join(HERE, "peer.py")], cases, work, "theirs")
        refused = bad = 0
        reasons = collections.Counter()
        for case, x, y in zip(cases, ours, theirs):
            if run.equal(x, y):
                refused += "err" in y
                continue
            reason = why(x, y)
            if reason:
                reasons[reason] += 1
                continue
            bad += 1
            if bad <= a.show:
                print(f"{case['path']}: {case['t'][:200]!r}\n  ours   {str(x.get('ok', x.get('err')))[:200]!r}\n  theirs {str(y.get('ok', y.get('err')))[:200]!r}")
        n, excused = len(cases), sum(reasons.values())
        print(f"{os.path.basename(folder)}: {n} templates and conditions: {n - refused - bad - excused} rendered equal, {refused} refused by both, "
              f"{excused} not comparable, {bad} differ ({100 * (n - bad) / max(n, 1):.2f} % agree)")
        for reason, count in reasons.most_common():
            print(f"    {count} {reason}")
        bad_at_all += bad
    return 1 if bad_at_all else 0


if __name__ == "__main__":
    sys.setrecursionlimit(4000)
    sys.exit(main())
