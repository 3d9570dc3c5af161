# SPDX-License-Identifier: Apache-2.0
# What a run leaves in the history: who, when, the command line, the commit, its steps and their time.
. tests/cli/lib.sh

git() { HOME=$TEST_TMP GIT_CONFIG_NOSYSTEM=1 command git -c user.name=x -c user.email=x@y -c init.defaultBranch=main "$@"; }
commit() { git add -A && git commit -q -m "$1"; }
lines() { printf '%s\n' "$1" | wc -l | tr -d ' '; }

mkdir fleet && cd fleet || exit 1
cat >muster.yaml <<YAML
cluster: t
providers: {cloud: {type: fake}}
vars: {word: small, secret: x}
pools:
  a: {provider: cloud, count: 9, image: debian-12, machine: "{{ word }}"}
YAML

run history last
is "no run yet" 1 "$status"
has "says so" "$err" "nothing was ever run"
run history --slowest
is "which run?" 64 "$status"

run -v apply --yes
is "a run outside of git" 0 "$status"
has "the reason, with -v" "$err" "not in a git repository"
run history last
has "no commit" "$out" "no commit: "
has "why" "$out" "not in a git repository"
has "who" "$out" "$(id -un)@"
has "steps are folded" "$out" "a-[0-8]"
has "critical path" "$out" "ON THE CRITICAL PATH"

git init -q .
run apply --yes --limit a-0 -e word=large
run history last
has "nothing was committed" "$out" "nothing was committed yet"
commit one
head=$(git rev-parse HEAD)
run apply --yes --parallel 4 -e secret=hunter2hunter2 -e '{"more": "hunter3hunter3"}'
is "a run in git" 0 "$status"
run history last
has "commit and branch" "$out" "$(printf %.12s "$head") on main, muster.yaml"
hasnot "clean" "$out" "not as committed"
has "command line" "$out" "muster apply --yes --parallel=4"
has "the variable's name" "$out" "--var='secret=...' --var=..."
hasnot "not its value" "$out" "hunter"
run history last --json
has "JSON: commit" "$out" "\"commit\": \"$head\""
has "JSON: clean" "$out" '"dirty": false'
has "JSON: steps" "$out" '"took_ms": '
has "JSON: critical path" "$out" '"critical_path": ['
has "JSON: names of variables" "$out" '"more"'
hasnot "JSON: no values" "$out" "hunter"
ok "no value in the state" "$(! grep -aq hunter .muster/state.db .muster/state.db-wal 2>/dev/null; echo $?)"

sed -i 's/word: small/word: large/' muster.yaml
run apply --yes
run history
has "a + where the spec was not as committed" "$out" "$(printf %.9s "$head")+"
is "newest first: two lines of words, four runs" 6 "$(lines "$out")"
run history last
has "which file" "$out" "not as committed (muster.yaml)"
run history --json
has "list as JSON" "$out" '"dirty": true'

id=$(printf '%s' "$out" | sed -n 's/.*"id": "\(.*\)".*/\1/p' | sed -n 1p)
run history "$id" --events
has "events" "$out" "run begun"
has "of the steps" "$out" '"action":"update"'
run history "$id" --events --json
is "a JSON line each" "$(lines "$out")" "$(printf '%s\n' "$out" | grep -c '^{.*}$')"
run history "$(printf %.25s "$id")"
has "the beginning of an id is enough" "$out" "run $id"
run history 0
is "but not of several" 64 "$status"
has "names them" "$err" "several runs begin with"
run history zzz
is "no such run" 1 "$status"
run history last --slowest 3
is "slowest: head, facts, three" 3 "$(printf '%s\n' "$out" | grep -c 'updated *a-[0-9]')"
run history last --slowest x
is "no number" 64 "$status"

# A failure is told with its cause, once for all nodes.
cat >muster.yaml <<YAML
cluster: t
providers:
  cloud:
    type: fake
    error_script: [{call: create, match: "b-*", error: quota, times: 100}]
pools:
  a: {provider: cloud, count: 12, image: debian-12, machine: small}
  b: {provider: cloud, count: 5, image: debian-12, machine: small}
YAML
run apply --yes --max-failures 100
run history last
has "what failed is folded" "$out" "create failed: b-[0-4]"
has "what went well, too" "$out" "created"
ok "at most 40 lines" "$([ "$(lines "$out")" -le 40 ]; echo $?)"
run history last --critical-path
hasnot "only the path" "$out" "FAILED"

# A run that was killed tells what it had begun.
sed -i 's/count: 12/count: 15/' muster.yaml
MUSTER_FAULT=create.done:2 run apply --yes
run history
has "a killed run" "$out" "unfinished"
run history last
has "what it had begun" "$out" "BEGUN, AND NOT ENDED"
has "on which nodes" "$out" "create "
run recover

run state check
is "the chain is whole" 0 "$status"
cp -r .muster ../copy
sqlite3 .muster/state.db "UPDATE runs SET result = 'ok', who = 'nobody' WHERE id = '$id'"
run state check
is "an edited run is found" 1 "$status"
has "which" "$err" "run $id was edited"
rm -rf .muster && mv ../copy .muster
sqlite3 .muster/state.db "UPDATE events SET data = replace(data, '\"ms\":', '\"ms\":1') WHERE run = '$id' AND what = 'updated'"
run state check
is "an edited step is found" 1 "$status"
has "as a broken chain" "$err" "history: event"

finish
