# SPDX-License-Identifier: Apache-2.0
# Events: golden streams (tests/cli/events/, times and ids taken out), what a sink that fails does, and that no event is undocumented.
# With UPDATE=1 the golden files are written anew.
. tests/cli/lib.sh
golden="$TEST_TOP/tests/cli/events"

spec() { # spec PROVIDER-OPTIONS COUNT
	cat >muster.yaml <<YAML
cluster: t
providers: {cloud: {type: fake$1}}
pools:
  a: {provider: cloud, count: $2, image: debian-12}
YAML
}

# Times, ids and digests differ in each run; the plan's document has tests of its own.
norm() {
	sed -e 's/"@timestamp":"[0-9]\{4\}-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\.[0-9]\{3\}Z"/"@timestamp":TIME/' \
		-e 's/"\(elapsed_ms\|took_ms\|left_ms\|pid\)":[0-9][0-9]*/"\1":N/g' \
		-e 's/"muster":"[^"]*"/"muster":VERSION/' -e 's/"\(run\|digest\)":"[0-9a-z]*"/"\1":ID/g' \
		-e 's/run [0-9a-z]\{26\}/run ID/g' -e '/"type":"planned"/s/"changes":\[.*"diagnostics":/"changes":...,"diagnostics":/' \
		-e 's/fake-req-[0-9]*/REQUEST/g' -e 's/known keys: [^"]*/known keys: .../' -e "s|$PWD|FOLDER|g"
}

same() { # same CASE FILE
	norm <"$2" >"$1.got"
	if [ "${UPDATE-}" = 1 ]; then
		mkdir -p "$golden"
		cp "$1.got" "$golden/$1.ndjson"
	fi
	cmp -s "$1.got" "$golden/$1.ndjson"
	ok "$1: the golden stream" $?
	cmp -s "$1.got" "$golden/$1.ndjson" || note "$(diff -u "$golden/$1.ndjson" "$1.got" | head -n 40)"
}

documented() { # documented CASE
	hasnot "$1: no event is undocumented" "$err" "undocumented"
}

into() { # into CASE COMMAND...
	case=$1
	shift
	run --json-into "$case.ndjson" "$@"
	documented "$case"
	same "$case" "$case.ndjson"
}

# ---- golden streams ----

spec '' 2
into apply apply --yes --parallel 1
is "apply: exit status" 0 "$status"
cmp -s apply.ndjson .muster/runs/*.ndjson
ok "apply: the run's own record is the same, byte for byte" $?
run --json apply --yes
printf '%s\n' "$out" >nothing.ndjson
same nothing nothing.ndjson
into plan plan
into drift drift
into gc gc
into destroy destroy --yes --parallel 1

rm -rf .muster
spec ', error_script: [{call: create, match: a-1, error: remote}]' 3
into failure apply --yes --parallel 1 --max-failures 2
is "failure: exit status" 4 "$status"

rm -rf .muster
spec ', error_script: [{call: create, match: a-0, error: busy, nth: 1, times: 2}]' 1
into retry apply --yes --parallel 1
is "retry: exit status" 0 "$status"

rm -rf .muster
spec ', create_ms: 20000' 1
"$MUSTER" apply --yes >/dev/null 2>&1 </dev/null &
pid=$!
for _ in $(seq 200); do
	"$MUSTER" status 2>/dev/null | grep -q '^unfinished: create' && break
	sleep 0.05
done
run --json apply --yes
is "leased: exit status" 5 "$status"
has "leased: the result says so" "$out" '"exit_code":5,"outcome":"leased"'
documented leased
kill -KILL $pid
wait $pid 2>/dev/null
spec '' 1
into recover recover
is "recover: exit status" 0 "$status"

run --json exec -i 'h1,h2,' -c local --parallel 1 all -- 'echo hello'
printf '%s\n' "$out" >exec.ndjson
documented exec
same exec exec.ndjson
cat >play.yml <<'YAML'
- hosts: all
  gather_facts: false
  tasks:
    - name: a file
      copy: {dest: "{{ folder }}/motd", content: "hello\n"}
    - name: skipped
      command: "false"
      when: false
YAML
run --json run -i 'h1,' -c local -e "folder=$PWD" play.yml
printf '%s\n' "$out" >run.ndjson
documented run
same run run.ndjson

echo 'bogus: 1' >>muster.yaml
run --json apply --yes
printf '%s\n' "$out" >spec.ndjson
documented spec
same spec spec.ndjson

# ---- ^C: a true end ----

rm -rf .muster
spec ', create_ms: 300' 40
"$MUSTER" --json --json-into stop.ndjson apply --yes --parallel 4 >stop.out 2>stop.err </dev/null &
pid=$!
for _ in $(seq 100); do
	grep -qs '"type":"step_done".*"node"' stop.ndjson && break
	sleep 0.05
done
kill -INT $pid
wait $pid
is "^C: exit status" 130 $?
cmp -s stop.ndjson stop.out
ok "^C: stdout and the file have the same lines" $?
has "^C: it is told" "$(cat stop.ndjson)" '"type":"stopping"'
has "^C: the last line is the result" "$(tail -n 1 stop.ndjson)" '"exit_code":130,"outcome":"stopped"'
begun=$(grep -c '"type":"step_start"' stop.ndjson)
ended=$(grep -c '"type":"step_\(done\|failed\)"' stop.ndjson)
is "^C: what had begun has ended" "$begun" "$ended"
err=$(cat stop.err)
documented "^C"

# ---- kill -9: whole lines ----

: >kill.ndjson
for after in 0.2 0.4 0.7; do
	"$MUSTER" --json-into kill.ndjson apply --yes --parallel 4 >/dev/null 2>&1 </dev/null &
	pid=$!
	sleep $after
	kill -KILL $pid
	wait $pid 2>/dev/null
done
is "kill: every line of the file is whole" "$(wc -l <kill.ndjson)" "$(grep -c '^{"@timestamp".*}$' kill.ndjson)"
printf '{"@timestamp":"half a li' >>kill.ndjson
run --json-into kill.ndjson plan
has "kill: half a line is ended before the next" "$(grep -A1 'half a li' kill.ndjson)" '"type":"start"'
is "kill: the file goes on" "result" "$(tail -n 1 kill.ndjson | sed 's/.*"type":"\([a-z]*\)".*/\1/')"

# ---- sinks that fail ----

rm -rf .muster
spec '' 3
if [ -w /dev/full ]; then
	run --json-into /dev/full apply --yes
	is "a full disk: the run goes on" 0 "$status"
	has "a full disk: told" "$err" "/dev/full: No space left on device: later events are not written there; the run goes on"
	is "a full disk: told once" 1 "$(printf '%s\n' "$err" | grep -c 'later events')"
	run status
	has "a full disk: all is done" "$out" "3 ready"
fi
(
	ulimit -f 2 # blocks of 512 bytes
	trap '' XFSZ
	"$MUSTER" --json-into small.ndjson exec -i "$(seq -s, 20)," -c local all -- true >/dev/null 2>small.err </dev/null
)
has "a file that may not grow: told" "$(cat small.err)" "small.ndjson: File too large"
is "a file that may not grow: has whole lines" "$(wc -l <small.ndjson)" "$(grep -c '^{"@timestamp".*}$' small.ndjson)"
run --json-into nowhere/x.ndjson plan
is "a folder that is not there: nothing is done" 1 "$status"
has "a folder that is not there: told" "$err" "opening nowhere/x.ndjson"

spec ', create_ms: 300' 30
mkfifo pipe
run destroy --yes
(while read -r line; do case $line in *'"a-'*'"created"'*) break ;; esac; done <pipe) &
"$MUSTER" --json apply --yes --parallel 3 >pipe 2>pipe.err </dev/null
is "a reader that goes away: exit status" 141 $?
has "a reader that goes away: told" "$(cat pipe.err)" "stopping: running steps finish"
has "a reader that goes away: the record has the end" "$(tail -qn 1 .muster/runs/*.ndjson)" '"exit_code":141,"outcome":"stopped"'
run lock ls
hasnot "a reader that goes away: the lease is given back" "$out" "pid"
run recover
has "a reader that goes away: nothing is unfinished" "$out" "nothing was left unfinished"

mkfifo unread
run --json-into unread plan
is "a pipe nobody reads: nothing is done" 1 "$status"
has "a pipe nobody reads: told" "$err" "opening unread: nobody reads this pipe"
cat unread >read.ndjson &
run --json-into unread plan
wait $!
has "a pipe that is read: has the events" "$(head -n 1 read.ndjson)" '"type":"start"'

# ---- secrets ----

rm -rf .muster
cat >muster.yaml <<'YAML'
cluster: t
vars:
  token: {secret: {env: TOKEN}}
providers: {cloud: {type: fake}}
pools:
  a: {provider: cloud, count: 1, image: "img-{{ token }}"}
outputs: {token: "{{ token }}"}
YAML
export TOKEN=sesame-open-up
run --json-into secret.ndjson apply --yes
hasnot "a secret is in no event" "$(cat secret.ndjson .muster/runs/*.ndjson)" "sesame"

# ---- the heartbeat ----

rm -rf .muster
spec ', create_ms: 1500' 2
run --json-into beat.ndjson --heartbeat 300ms apply --yes
has "heartbeat: what is waited for" "$err" "still creating a-1 ("
has "heartbeat: what the cloud says" "$err" "): building"
has "heartbeat: how far it is" "$err" "1 of 3 done, 2 at work, 0 failed"
has "heartbeat: for machines" "$(cat beat.ndjson)" '"type":"progress"'
has "heartbeat: the slowest" "$(cat beat.ndjson)" '"slowest":[{"name":"a-0","action":"create"'
has "what the cloud says, for machines" "$(cat beat.ndjson)" '"type":"step_progress"'
documented heartbeat
run -q --heartbeat 300ms apply --yes
is "heartbeat: nothing with -q" "" "$(printf '%s' "$err" | grep -v 'WARNING: ASan')"

# ---- the table ----

part() { sed -n '/^<!-- table: events.md -->$/,/^<!-- end -->$/p' "$1" | sed '1,2d;$d'; }
run docs-table events.md
is "docs/events.md has the table" "$out" "$(part "$TEST_TOP/docs/events.md")"
# shellcheck disable=SC2013 # words
for type in $(grep -rhoE '\.type = "[a-z_]+"' "$TEST_TOP"/engine/*.c | sed 's/.*"\(.*\)"/\1/' | sort -u) \
	$(grep -rhoE 'events_emit\([a-z>-]+, "[a-z_]+"' "$TEST_TOP"/cli/*.c | sed 's/.*"\(.*\)"/\1/' | sort -u); do
	has "the type $type is documented" "$out" "### \`$type\`"
done
finish
