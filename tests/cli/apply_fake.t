# SPDX-License-Identifier: Apache-2.0
# The whole life of a fleet on the pretended cloud, as a user types it.
. tests/cli/lib.sh

spec() {
	cat >muster.yaml <<YAML
cluster: t
providers: {cloud: {type: fake}}
pools:
  a: {provider: cloud, count: $1, image: $2, machine: $3}
outputs: {names: "{{ nodes.a | map(attribute='name') | join(',') }}"}
YAML
}

spec 3 debian-12 small
run plan
is "plan" 0 "$status"
has "equal nodes are one line" "$out" "3 nodes a-[0-2]"
has "the summary line" "$out" "to add, 0 to change, 0 to destroy."
ok "plan makes no state" "$([ ! -e .muster/state.db ]; echo $?)"
run plan --detailed-exitcode
is "changes pending" 2 "$status"
run apply
is "nobody to ask" 64 "$status"
has "names the flag" "$err" "--yes"
run apply --yes
is "apply" 0 "$status"
has "outputs" "$out" "a-0,a-1,a-2"
run plan --detailed-exitcode
is "nothing left" 0 "$status"
has "No changes" "$out" "No changes."
run apply --yes
is "a second apply" 0 "$status"
has "does nothing" "$out" "No changes."
run status
has "status counts" "$out" "3 ready"
run status --json
has "status as JSON" "$out" '"state": "ready"'
run status --names
is "names" "a-0
a-1
a-2" "$out"
run history
has "history has the run" "$out" "apply"
run state list
has "state list" "$out" "node.a[1]"
run state show 'node.a[1]'
has "state show" "$out" "debian-12"
run state check
is "state check" 0 "$status"

spec 3 debian-12 large
run plan
has "a size changes in place" "$out" "update in place"
has "before and after" "$out" '"small" → "large"'
run apply --yes
is "update" 0 "$status"
spec 3 debian-13 large
run plan
has "an image forces replacement" "$out" "# forces replacement"
has "replacements are told in full" "$out" "-/+ 3 nodes a-[0-2]: destroy, then create again"
run apply --yes
is "replace" 0 "$status"
run plan --detailed-exitcode
is "converged" 0 "$status"

spec 5 debian-13 large
run plan --out p
is "saved plan" 0 "$status"
run apply p
is "a saved plan is applied without asking" 0 "$status"
run apply p
is "and only once" 1 "$status"
has "it says why" "$err" "another run changed the state"
spec 1 debian-13 large
run plan
has "fewer nodes" "$out" "4 to destroy"
run apply --yes
is "shrink" 0 "$status"
run --json plan
has "plan as JSON" "$out" '"format_version": "1.0"'
run --json-into events.ndjson apply --yes
has "text on the screen" "$out" "No changes."
has "events in the file" "$(cat events.ndjson)" '"type":"result"'

spec 20 debian-13 large
run apply --yes
is "twenty" 0 "$status"
run destroy --yes
is "many nodes need their number" 64 "$status"
has "the number is told" "$err" "--yes-destroy=20"
run destroy --yes-destroy=19
is "a wrong number" 64 "$status"
run destroy --yes-destroy=20
is "destroy" 0 "$status"
run state list
hasnot "nothing is left" "$out" "node."
run gc
has "nothing is left at the provider" "$out" "no leftovers"
run destroy --yes
has "nothing to destroy" "$out" "Nothing to destroy"
run destroy --yes --json
has "for machines too" "$out" '"type":"result"'
hasnot "no text between JSON" "$out" "Nothing"
finish
