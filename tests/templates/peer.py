#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The other side of the differential test: Jinja2 with Ansible's filters and tests.

    peer.py FILE    answers the cases of FILE (see answer.c), a line each
"""
import json
import os
import sys
import warnings

import jinja2
import jinja2.loaders

warnings.filterwarnings("ignore")


def plugins():
    """Ansible's filters and tests by name, as far as they are installed."""
    filters, tests = {}, {}
    modules = (
        ["ansible.plugins.filter." + m for m in ("core", "mathstuff", "urls", "urlsplit", "encryption")]
        + ["ansible.plugins.test." + m for m in ("core", "files", "mathstuff", "uri")]
    )
    for name in modules:
        try:
            module = __import__(name, fromlist=["x"])
        except ImportError:
            continue
        if hasattr(module, "FilterModule"):
            filters.update(module.FilterModule().filters())
        if hasattr(module, "TestModule"):
            tests.update(module.TestModule().tests())
    return filters, tests


def collection_filters():
    """ansible.utils' filters on addresses, where the collection and netaddr are there."""
    sys.path.append("/usr/lib/python3/dist-packages")
    found = {}
    try:
        import netaddr  # noqa: F401
        from ansible_collections.ansible.utils.plugins.plugin_utils.base import ipaddr_utils
    except ImportError:
        return found
    found["ipaddr"] = ipaddr_utils.ipaddr
    for name in ("ipmath", "ipsubnet", "nthhost", "network_in_network", "network_in_usable", "next_nth_usable", "ipwrap", "ip4_hex"):
        module = __import__("ansible_collections.ansible.utils.plugins.filter." + name, fromlist=["x"])
        if hasattr(module, name):
            found[name] = getattr(module, name)
    return found


FILTERS, TESTS = plugins()
FILTERS.update(collection_filters())


def environment(case):
    modes = case.get("m", [])
    env = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks="trim" in modes,
        lstrip_blocks="lstrip" in modes,
        keep_trailing_newline="keep" in modes,
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        loader=jinja2.FileSystemLoader(case["d"]) if case.get("d") else None,
    )
    # Ansible's come first, but Jinja2's own stay where Ansible has only a wrapper of them.
    for name, fn in FILTERS.items():
        if name not in ("default", "d"):  # these know only Ansible's own undefined values
            env.filters[name] = fn
    for name, fn in TESTS.items():
        env.tests[name] = fn
    return env


def plain(v):
    return json.loads(json.dumps(v, default=str))


def answer(case):
    try:
        env = environment(case)
        if "expr" in case.get("m", []):
            return {"ok": plain(env.compile_expression(case["t"], undefined_to_none=False)(**case.get("v", {})))}
        return {"ok": env.from_string(case["t"]).render(**case.get("v", {}))}
    except Exception as e:  # whatever it is, it is a refusal
        return {"err": f"{type(e).__name__}: {e}"[:300]}


def main():
    with open(sys.argv[1]) as f:
        for line in f:
            print(json.dumps(answer(json.loads(line))))


if __name__ == "__main__":
    sys.setrecursionlimit(3000)
    os.environ["TZ"] = "UTC"
    main()
