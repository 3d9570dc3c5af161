#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jinja2's side of template.sh.

    template_peer.py make KIND N FILE    writes a case for template_run
    template_peer.py run FILE            the CPU seconds and the same sum as template_run
"""
import json
import sys
import time


def nodes(n):
    return [{"name": f"gpu{i:04d}", "ip": f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}", "cpus": 192, "mem": 2063000, "gpus": 8,
             "kind": "h100" if i % 3 else "h200", "rack": f"r{i // 32}", "features": ["ib", "nvlink"], "drained": i % 50 == 0}
            for i in range(n)]


HOSTS = """# {{ cluster }}
{% for n in nodes %}
{% if not n.drained %}
NodeName={{ n.name }} NodeAddr={{ n.ip }} CPUs={{ n.cpus }} RealMemory={{ n.mem - 4096 }} Gres=gpu:{{ n.kind }}:{{ n.gpus }} Feature={{ n.features|join(',') }},{{ n.rack|upper }} State=UNKNOWN
{{ '%-16s' % n.ip }} {{ n.name }} {{ n.name }}.{{ domain|default('cluster.local') }}{% if loop.last %} # the last{% endif %}

{% else %}
# {{ n.name }} is drained
# {{ loop.index }} of {{ loop.length }}
{% endif %}
{% endfor %}
PartitionName=all Nodes={{ nodes|map(attribute='name')|join(',') }} Default=YES
"""
CONDITIONS = ["ansible_os_family == 'Debian'", "x is defined and x > 3", "'gpu' in groups", "not (done|default(false)|bool)",
              "name.startswith('gpu') and count >= 8", "version is version('570', '>=')", "items|length > 2", "a.b.c == 1 or a.b.d is undefined",
              "state in ['up', 'idle'] and not drained", "r.rc == 0 and r.stdout != ''"]
VARS = {"ansible_os_family": "Debian", "x": 5, "groups": {"gpu": []}, "name": "gpu01", "count": 8, "version": "570.124", "items": [1, 2, 3],
        "a": {"b": {"c": 1}}, "state": "idle", "drained": False, "r": {"rc": 0, "stdout": "ok"}}


def make(kind, n, path):
    if kind == "hosts":
        case = {"vars": {"cluster": "big", "nodes": nodes(n)}, "template": HOSTS, "times": 20}
    else:
        case = {"vars": VARS, "expressions": [c for c in CONDITIONS if "version" not in c or kind == "all"] * (n // 10), "times": 1}
    with open(path, "w") as f:
        json.dump(case, f)


def run(path):
    import jinja2

    with open(path) as f:
        case = json.load(f)
    env = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True)
    env.filters["bool"] = lambda v: str(v).lower() in ("true", "yes", "on", "1")
    known = {}
    begin = time.process_time()
    total = 0
    for _ in range(case["times"]):
        if "template" in case:
            t = known.get(case["template"])
            if t is None:
                t = known[case["template"]] = env.from_string(case["template"])
            total += len(t.render(**case["vars"]))
            continue
        for text in case["expressions"]:
            # As Ansible does it: a condition is a template of its own; compiled once a text.
            t = known.get(text)
            if t is None:
                t = known[text] = env.compile_expression(text)
            total += bool(t(**case["vars"]))
    print(f"{time.process_time() - begin:.6f} {total}")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        run(sys.argv[2])
