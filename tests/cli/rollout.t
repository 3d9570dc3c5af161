# SPDX-License-Identifier: Apache-2.0
# How a change goes over a fleet when things fail, as a user sees it: canaries, the failure budget,
# failures folded by their cause, and what is left for the next run.
. tests/cli/lib.sh

# spec OPTIONS MACHINE [UPDATE]
spec() {
	cat >muster.yaml <<YAML
cluster: t
providers: {cloud: {type: fake$1}}
pools:
  web: {provider: cloud, count: 10, image: debian-12, machine: $2${3:-}}
  db: {provider: cloud, count: 3, image: debian-12, machine: $2}
YAML
}
script() { printf ', error_script: [%s]' "$1"; }
# the creates and updates that the cloud was asked for, by the events of a run
asked() { grep -c '"type":"step_start"' "$1"; }

# ---- a canary ----

spec '' small
run apply --yes
is "made" 0 "$status"
update=', update: {canary: 1, max_unavailable: 2}'
spec '' large "$update"
run plan
has "the plan tells of the canary" "$out" "1 first"
has "and of the waves" "$out" "2 at a time"
spec "$(script "{call: update, match: web-0, error: remote}")" large "$update"
run --json-into one.ndjson apply --yes
is "a canary failed, the other pool went on" 4 "$status"
has "it is told before" "$err" "pool web: web-0 first, then 9 nodes, 2 at a time"
has "and when it fails" "$err" "pool web: its canary web-0 failed; 9 nodes are left as they are"
has "and at the end" "$err" "pool web: 9 nodes were left alone: its canary web-0 failed"
has "the result" "$out" "Finished with failures: 3 updated, 1 failed, 9 not begun."
has "for machines: the wave" "$(cat one.ndjson)" '"phase":"canary"'
has "for machines: what is held" "$(cat one.ndjson)" \
	'"held":[{"pool":"web","nodes":9,"reason":"its canary web-0 failed"}]'
is "only one node of the pool was touched" 4 "$(asked one.ndjson)"

spec '' large "$update"
run --json-into two.ndjson apply --yes
is "mended" 0 "$status"
has "the canary is well" "$err" "pool web: web-0 is well; now 9 nodes, 2 at a time"
is "the rerun does only what was left" 10 "$(asked two.ndjson)"
run plan --detailed-exitcode
is "converged" 0 "$status"

# ---- a soaking canary, stopped by hand ----

spec '' small ', update: {canary: 10%, soak: 1h}'
"$MUSTER" apply --yes >log 2>&1 </dev/null &
pid=$!
tries=0
until grep -q "is looked at in 1h00m" log || [ "$tries" -ge 300 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
has "the soak is told" "$(cat log)" "pool web: the canary is done, and is looked at in 1h00m"
kill -INT "$pid"
wait "$pid"
status=$?
is "a soak ends with ^C" 130 "$status"
run status
has "nothing is left open" "$out" "13 ready"

# ---- folded failures ----

rm -rf .muster
spec "$(script "{call: create, match: 'web-[1357]', error: remote}, \
	{call: create, match: 'db-0', error: remote}, {call: create, match: 'web-8', error: auth}")" small
run -q apply --yes --max-failures 50%
is "within the budget" 4 "$status"
is "equal failures are one" "error: 5 nodes: fake cloud: NODE failed as scripted (remote)
  node      db-0,web-[1,3,5,7]
  pool      db (1), web (4)
error: fake cloud: web-8 failed as scripted (auth)
  resource  node.web[8]
  node      web-8
  request   REQUEST" "$(printf '%s\n' "$err" | sed 's/fake-req-[0-9]*/REQUEST/')"
run --json-into three.ndjson apply --yes --max-failures 3
is "beyond the budget" 6 "$status"
has "an outcome of its own" "$(cat three.ndjson)" '"outcome":"refused"'
has "causes, for machines" "$(cat three.ndjson)" '"causes":[{"kind":"remote","action":"create"'
run help exit-codes
has "the exit codes tell" "$out" "6  more nodes failed than --max-failures allows"
run apply --yes
is "no budget: the first failure stops" 1 "$status"
spec '' small
run --json-into four.ndjson apply --yes
is "all mended" 0 "$status"
is "six were left" 6 "$(asked four.ndjson)"

# ---- messages that vary ----

rm -rf .muster
spec ', capacity: 4' small
run -q apply --yes --max-failures 100% --parallel 4
is "a full cloud" 4 "$status"
has "is not asked again and again" "$(cat .muster/runs/*.ndjson)" '"phase":"no_room"'
has "and nobody is to wait for it" "$out" "not begun"

# ---- a rate ----

rm -rf .muster
spec ', rate: 1000/s' small
run validate
is "a ceiling" 0 "$status"
for wrong in 5 fast 0/s -1/s 5/fortnight 10000000/s; do
	spec ", rate: $wrong" small
	run validate
	is "not a rate: $wrong" 1 "$status"
	has "and what would be: $wrong" "$err" "rate"
done
spec ', throttle_per_s: 6, create_ms: 5' small
run apply --yes
is "a cloud that takes six calls a second" 0 "$status"
has "it is told once that it is asked too often" "$err" "cloud (writes) is asked too often: halved to "
hasnot "and not for each call" "$err" "too many requests"

# ---- the spec's language ----

for wrong in 'canary: 101%' 'canary: -1' 'canary: some' 'soak: 5' 'soak: long'; do
	spec '' small ", update: {$wrong}"
	run validate
	is "no update: $wrong" 1 "$status"
	has "where: $wrong" "$err" "pools.web.update.${wrong%%:*}"
done
run schema
has "in the schema" "$out" '"canary"'
finish
