# SPDX-License-Identifier: Apache-2.0
# ^C once, ^C twice, and kill -9: nothing is lost, the next run goes on.
. tests/cli/lib.sh

cat >muster.yaml <<'YAML'
cluster: t
providers: {cloud: {type: fake, create_ms: 300}}
pools:
  a: {provider: cloud, count: 40, image: debian-12}
YAML

wait_for_machines() {
	for _ in $(seq 100); do
		[ "$("$MUSTER" state list 2>/dev/null | grep -c ' ready ')" -ge 4 ] && return 0
		sleep 0.05
	done
	return 1
}

begin() {
	"$MUSTER" apply --yes --parallel 4 >log 2>&1 </dev/null &
	pid=$!
	wait_for_machines
	ok "$1: the run has begun" $?
}

begin "^C"
kill -INT $pid
wait $pid
is "^C: exit status" 130 $?
has "^C: it says what it does" "$(cat log)" "stopping"
run status
hasnot "^C: nothing is unfinished" "$out" "unfinished:"
begin "TERM"
kill -TERM $pid
wait $pid
is "TERM: exit status" 143 $?
begin "HUP"
kill -HUP $pid
wait $pid
is "HUP: exit status" 129 $?
run status
hasnot "HUP: nothing is unfinished" "$out" "unfinished:"
run lock ls
has "HUP: the lease is given back" "$out" "nobody holds the lease"

run destroy --yes-destroy="$("$MUSTER" state list | grep -c 'node\.')"
begin "twice"
kill -INT $pid
sleep 0.02
kill -INT $pid
wait $pid
is "twice: exit status" 130 $?

run apply --yes --parallel 40
is "the next run goes on" 0 "$status"
run destroy --yes-destroy=40
begin "kill"
run apply --yes
is "kill: another run is refused meanwhile" 5 "$status"
has "kill: it says who" "$err" "lease"
kill -KILL $pid
wait $pid 2>/dev/null
run apply --yes --parallel 40
is "kill: the next run takes over" 0 "$status"
run plan --detailed-exitcode
is "kill: converged" 0 "$status"
run gc
has "kill: no orphan" "$out" "no leftovers"
run status
has "kill: all forty" "$out" "40 ready"

# A cloud that refuses is asked again for half an hour; TERM ends that at once.
mkdir busy
cat >busy/muster.yaml <<'YAML'
cluster: t
providers: {cloud: {type: fake, error_script: [{call: create, match: "a-1", error: busy}]}}
pools:
  a: {provider: cloud, count: 3, image: debian-12}
YAML
timeout -k 15 -s TERM 3 "$MUSTER" -C busy apply --yes >log 2>&1 </dev/null
is "busy: TERM ends the waiting" 124 $?
has "busy: it says what remains" "$(cat log)" "3 created, 1 failed"
run -C busy recover
has "busy: nothing is unfinished" "$out" "nothing was left unfinished"
run -C busy lock ls
has "busy: the lease is given back" "$out" "nobody holds"

run destroy --yes-destroy=40
begin "state removed"
mv .muster/state.db elsewhere.db
wait $pid
is "state removed: the run stops" 1 $?
has "state removed: it says why" "$(cat log)" "was removed or replaced"
finish
