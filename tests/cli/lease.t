# SPDX-License-Identifier: Apache-2.0
# Runs on different nodes go on side by side; on the same ones, one waits or is refused.
. tests/cli/lib.sh

spec() { # spec CREATE-MS UPDATE-MS LABEL
	cat >muster.yaml <<-YAML
	cluster: t
	providers: {cloud: {type: fake, create_ms: $1, update_ms: $2}}
	pools:
	  a: {provider: cloud, count: 6, image: debian-12, options: {labels: {word: "$3"}}}
	  b: {provider: cloud, count: 6, image: debian-12, options: {labels: {word: "$3"}}}
	YAML
}

start() { # start LOG ARG...: in the background; its pid in $pid
	log=$1
	shift
	"$MUSTER" apply --yes --parallel 1 "$@" >"$log" 2>&1 </dev/null &
	pid=$!
}

wait_for() { # wait_for WHAT COMMAND...
	what=$1
	shift
	for _ in $(seq 200); do
		if "$@" >/dev/null 2>&1; then
			ok "$what" 0
			return
		fi
		sleep 0.05
	done
	ok "$what" 1
}

holders() { "$MUSTER" --json lock ls 2>/dev/null | grep -c '"run":'; }
are_held() { [ "$(holders)" -eq "$1" ]; }

spec 0 0 one
run apply --yes
is "the fleet is there" 0 "$status"

spec 0 700 two
start a.log --limit '@a'
a=$pid
wait_for "a run on @a" are_held 1
start b.log --limit '@b'
b=$pid
wait_for "one on @b beside it" are_held 2
run lock ls
has "whose nodes" "$out" "lease of a-[0-5]"
has "and the other's" "$out" "lease of b-[0-5]"
run status
has "status tells as well" "$out" "lease of b-[0-5]"
run apply --yes --limit 'a-2'
is "a node of theirs is refused" 5 "$status"
has "it says who holds it" "$err" "6 objects, node.a[2] among them: apply, run"
has "and what to type" "$err" "muster lock break"
run apply --yes
is "all is refused" 5 "$status"
run destroy --yes-destroy=12 --yes --target cloud.network.default
is "so is what they stand on" 5 "$status"
run lock break --yes
is "which one to break must be said" 64 "$status"
run lock break nosuch </dev/null
has "what is not there is said without asking" "$err" "no run nosuch holds a lease"
run plan
is "reading is free" 0 "$status"
wait $a
is "the run on @a ends well" 0 $?
wait $b
is "the run on @b ends well" 0 $?
has "six nodes each" "$(cat a.log b.log)" "6 updated"
run plan --detailed-exitcode
is "nothing is left to do" 0 "$status"
run state check
is "the state is sound" 0 "$status"

# Both wrote at the same time: the history has their steps interleaved.
runs=$("$MUSTER" state export | python3 -c '
import json, sys
order = [e["run"] for e in json.load(sys.stdin)["events"] if e["what"] == "updated"]
print(sum(x != y for x, y in zip(order, order[1:])))')
ok "their steps are interleaved ($runs turns)" "$([ "$runs" -ge 2 ]; echo $?)"

# The whole fleet waits for a run on a part of it, and then does what is left.
spec 0 250 three
start a.log --limit '@a'
a=$pid
wait_for "a run on @a" are_held 1
run apply --yes --lock-timeout 60s
is "a run on all waits for it" 0 "$status"
has "it says so" "$err" "waiting"
has "and does the rest" "$out" "6 updated"
wait $a
is "the first ended well" 0 $?

# A saved plan of some nodes outlives what is done to others; not what is done to its own.
spec 0 0 four
run plan --limit '@b' --out b.plan
is "saved" 0 "$status"
run apply --yes --limit '@a'
is "others are changed" 0 "$status"
run apply --yes b.plan
is "the plan still holds" 0 "$status"
has "and does what it says" "$out" "6 updated"
spec 0 0 five
run plan --limit '@b' --out b.plan
run apply --yes --limit 'b-0'
run apply --yes b.plan
is "one of its own was changed: refused" 1 "$status"
has "it says what moved" "$err" "changed the state"

# A killed run: its nodes are free at once, and what it left open is settled by who takes them.
spec 0 400 six
start a.log --limit '@a'
a=$pid
wait_for "a run on @a" are_held 1
wait_for "it is in a step" sh -c "\"$MUSTER\" status | grep -q unfinished:"
kill -9 $a
wait $a 2>/dev/null
run lock ls
has "the dead one is shown" "$out" "(dead)"
has "and whose nodes it had" "$out" "a-[0-5]"
run apply --yes --limit '@b'
is "others do not mind" 0 "$status"
run status
hasnot "what it left open is settled by the next" "$out" "unfinished:"
run lock ls
has "and its lease is gone" "$out" "nobody holds"
run apply --yes
is "the rest is done" 0 "$status"
run plan --detailed-exitcode
is "and nothing is left" 0 "$status"
finish
