# SPDX-License-Identifier: Apache-2.0
# What a run says on stderr where there is no terminal: small runs each step, large ones summaries, failures once.
. tests/cli/lib.sh

spec() { # spec COUNT PROVIDER-OPTIONS
	rm -rf .muster
	cat >muster.yaml <<YAML
cluster: t
providers: {cloud: {type: fake$2}}
pools:
  gpu: {provider: cloud, count: $1, image: debian-12}
YAML
}
lines() { printf '%s\n' "$err" | grep -c "$1"; }

spec 5 ''
run apply --yes
is "a small run: a line a step" 6 "$(lines '^\[[0-9]*/6\] .*: created')"
hasnot "progress is not on stdout" "$out" "[1/6]"
spec 60 ''
run apply --yes
is "a large run: no line a step" 0 "$(lines ': created')"
has "a large run: the result is on stdout" "$out" "Done: 61 created."
spec 60 ''
run -v apply --yes
is "-v: a line a step" 61 "$(lines '^\[[0-9]*/61\] .*: created')"

spec 60 ', error_script: [{call: create, match: "gpu-[2-4]", error: remote}]'
run apply --yes --max-failures 10
is "failures: exit status" 4 "$status"
is "failures: the first of a cause at once" 1 "$(lines 'create failed: ')"
is "failures: all of them at the end, once" 1 "$(lines '^error: ')"
has "failures: which nodes" "$err" "gpu-[2-4]"
hasnot "failures: not on stdout" "$out" "failed as scripted"
spec 60 ', error_script: [{call: create, match: "gpu-[2-4]", error: remote}]'
run -q apply --yes --max-failures 10
is "-q: no progress" 0 "$(lines 'create failed: ')"
is "-q: errors still" 1 "$(lines '^error: ')"

spec 60 ', create_ms: 200'
run --heartbeat 300ms apply --yes --parallel 10
has "heartbeat of a large run" "$err" " of 61 done, "
has "with a guess of what is left" "$err" ", about "

# Another run on the same nodes: it is waited for, and that is told.
spec 2 ', create_ms: 1500'
"$MUSTER" apply --yes >/dev/null 2>&1 </dev/null &
pid=$!
for _ in $(seq 100); do
	"$MUSTER" lock ls 2>/dev/null | grep -q pid && break
	sleep 0.05
done
run --json-into wait.ndjson apply --yes --lock-timeout 30s
is "leased: it waits" 0 "$status"
wait $pid
is "leased: the other run ends well" 0 $?
has "leased: it is told" "$err" "waiting: "
has "leased: for machines" "$(cat wait.ndjson)" '"type":"waiting"'
hasnot "no event is undocumented" "$err" "undocumented"
finish
