# SPDX-License-Identifier: Apache-2.0
# The keys of every document that --json prints. A key that goes, or comes, is a change that users see.
. tests/cli/lib.sh
command -v python3 >/dev/null || {
	echo "1..0 # SKIP no python3"
	exit 0
}

cat >keys.py <<'PY'
import json, sys
# the paths of a document: a list's members share one path; maps whose keys are data end there
DATA = {"want", "attributes", "facts", "before", "after", "summary", "outputs", "source"}
def paths(v, at, out):
    if isinstance(v, dict) and at.split(".")[-1].rstrip("[]") not in DATA:
        for k in v:
            out.add(f"{at}.{k}".lstrip("."))
            paths(v[k], f"{at}.{k}".lstrip("."), out)
    elif isinstance(v, list):
        for x in v:
            paths(x, at + "[]", out)
    return out
print(" ".join(sorted(paths(json.load(sys.stdin), "", set()))))
PY

keys() { # keys WHAT EXPECTED COMMAND...
	what=$1 expected=$2
	shift 2
	run --json "$@"
	is "$what" "$expected" "$(printf '%s' "$out" | python3 keys.py 2>&1)"
}

cat >muster.yaml <<'YAML'
cluster: t
providers: {cloud: {type: fake}}
pools:
  a: {provider: cloud, count: 2, image: debian-12}
YAML
run apply --yes
is "apply" 0 "$status"

keys "version" "version" version
keys "status" "last_run last_run.command last_run.command_line last_run.ended_ms last_run.id last_run.plan_digest last_run.result last_run.source last_run.spec_digest last_run.started_ms last_run.summary last_run.who leased leases nodes nodes[].address nodes[].host nodes[].id nodes[].name nodes[].pool nodes[].provider nodes[].state nodes[].updated_ms unfinished" status
keys "state list" "[].address [].id [].kind [].status" state list
keys "state show, by address" "address attributes depends_on id kind provider status want" state show 'node.a[0]'
keys "state show, by the node's name" "address attributes depends_on id kind provider status want" state show a-0
has "state show, by the node's name: the same" "$out" '"address": "node.a[0]"'
keys "drift" "changes cluster diagnostics digest drift format_version summary" drift
keys "plan without changes" "changes cluster diagnostics digest drift format_version summary" plan
keys "history" "[].command [].command_line [].ended_ms [].id [].plan_digest [].result [].source [].spec_digest [].started_ms [].summary [].who" history
id=$(printf '%s' "$out" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')
keys "history of a run" "command command_line critical_path critical_path[].action critical_path[].address critical_path[].after critical_path[].ended_ms critical_path[].error critical_path[].outcome critical_path[].started_ms critical_path[].took_ms critical_path[].waited_for ended_ms id plan_digest result source spec_digest started_ms steps steps[].action steps[].address steps[].after steps[].ended_ms steps[].error steps[].outcome steps[].started_ms steps[].took_ms steps[].waited_for summary who" history "$id"
keys "lock ls" "held leases" lock ls
keys "recover" "" recover
keys "gc" "" gc
keys "validate" "cluster nodes valid" validate
keys "state check" "message" state check
keys "an error" "diagnostics diagnostics[].hint diagnostics[].kind diagnostics[].message diagnostics[].severity format_version" state show nope
sed -i 's/count: 2/count: 3/' muster.yaml
keys "plan" "changes changes[].action changes[].address changes[].after changes[].cause changes[].deps changes[].effects changes[].fields changes[].kind changes[].node changes[].pool changes[].provider changes[].reason changes[].shape changes[].undone_first changes[].unknown cluster diagnostics digest drift format_version summary" plan
run state rm --yes 'node.a[1]'
keys "gc of a leftover" "[].created [].deleted [].id [].kind [].name [].owner [].provider [].quota [].scarcity" gc
finish
