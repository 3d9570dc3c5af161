# SPDX-License-Identifier: Apache-2.0
# After a crash: what recover decides and says, and what gc finds, shows and deletes.
. tests/cli/lib.sh

spec() { # spec OPTIONS COUNT
	cat >muster.yaml <<YAML
cluster: t
providers: {cloud: {type: fake$1}}
pools:
  a: {provider: cloud, count: $2, image: debian-12}
YAML
}

killed() { # killed POINT COMMAND...: by the fault
	fault=$1
	shift
	MUSTER_FAULT=$fault "$MUSTER" "$@" >/dev/null 2>&1 </dev/null
	is "a kill at $fault" 137 $?
}

id_of() { # id_of NAME: at the cloud
	sqlite3 .muster/fake-cloud.db "SELECT 'vm-' || id FROM object WHERE name = '$1'"
}

objects() { # in the cloud, whatever it shows
	sqlite3 .muster/fake-cloud.db 'SELECT count(*) FROM object'
}

fresh() {
	rm -rf .muster
	spec "$@"
}

# ---- recover ----

fresh "" 3
killed cloud.create.effect:2 apply --yes --parallel 1
run status
has "status shows what is unfinished" "$out$err" "unfinished"
run recover
is "recover" 0 "$status"
has "what was made is recorded" "$out" "create node.a[0]: made: recorded as vm-"
has "and why" "$out" "the provider has an object with its token"
run recover
has "and that is that" "$out" "nothing was left unfinished"
run apply --yes
is "the rest is made" 0 "$status"
is "nothing twice" 4 "$(objects)"

fresh "" 2
killed call.create.before:2 apply --yes --parallel 1
run recover --json
is "recover as JSON" 0 "$status"
has "what never happened" "$out" '"outcome": "dropped"'
has "why" "$out" '"reason": "the provider has no object with its token"'
has "of which run" "$out" '"run": "'
has "since when" "$out" '"since": "20'

fresh "" 3
run apply --yes
spec "" 1
killed call.destroy.before:1 apply --yes --parallel 1
before=$(objects)
run recover
is "recover after an interrupted delete" 0 "$status"
has "says that it is not deleted" "$out" "not deleted: the next plan does it"
is "recover deletes nothing" "$before" "$(objects)"
run plan
has "the plan shows it" "$out" "to destroy"
spec "" 3
run plan
has "wanted again, it is replaced" "$out" "its deletion was interrupted"
spec "" 1
run apply --yes
is "the plan does it" 0 "$status"
is "and it is gone" 2 "$(objects)"

spec ", settle_ms: 3000" 2
killed cloud.create.effect:1 apply --yes
run recover
is "what may still appear is no success" 1 "$status"
has "it is kept" "$out" "still unknown: kept"
has "because the provider says so" "$out" "the provider says that it may appear later"
has "until when" "$out" "look again after 20"
run recover --json
has "until when, for machines" "$out" '"until": "20'
run gc
has "and gc calls it no leftover" "$out" "no leftovers"
sleep 3.1
run gc
has "gc says whose it may be" "$out" "unfinished: create node.a[1]"
late=$(id_of a-1)
run gc --delete "$late" --yes
is "and does not delete it" 1 "$status"
has "but names recover" "$err" "muster recover"
run gc --all --yes
is "nor with all" 0 "$status"
run recover
has "later it is found" "$out" "made: recorded as $late"
is "it is still there" 3 "$(objects)"

# ---- gc ----

spec "" 4
run apply --yes
run state rm --yes 'node.a[1]'
run state rm --yes 'node.a[3]'
run gc
is "gc lists" 0 "$status"
has "by name" "$out" "a-1"
has "with its age" "$out" " ago"
has "and the quota that it holds" "$out" "machines"
has "and what to type" "$out" "muster gc --delete ID"
run gc --json
has "created, for machines" "$out" '"created": "20'
has "scarcity, for machines" "$out" '"scarcity": 5'
kept=$(id_of a-0) first=$(id_of a-1) left=$(id_of a-3)
run gc --delete "$first"
is "nobody to ask" 64 "$status"
run gc --delete "$kept" --yes
is "what the state knows is no leftover" 1 "$status"
has "and whose it is" "$err" "node.a[0]"
run gc --delete vm-99 --yes
is "nor is what is not there" 1 "$status"
run gc --all --delete vm-2 --yes
is "two ways at once" 64 "$status"
before=$(objects)
run gc --delete "$first" --delete vm-99 --yes
is "one wrong id" 1 "$status"
is "and nothing is deleted" "$before" "$(objects)"
run gc --delete "$first" --yes
is "gc deletes the one that was named" 0 "$status"
has "and says so" "$out" "1 deleted"
is "and no other" $((before - 1)) "$(objects)"
run gc
hasnot "the deleted one is gone" "$out" "$first "

spec ", error_script: [{call: destroy, nth: 1, error: auth}]" 4
run gc --delete "$left" --yes
is "a refusal is a failure" 1 "$status"
has "which one" "$err" "deleting machine $left"
has "how many" "$out" "1 could not be deleted"
run status
has "it stays an open item" "$out$err" "unfinished"
run recover
is "and recover says so" 1 "$status"
has "that it is still there" "$out" "the provider still has it"
run gc --delete "$left" --yes
is "until it is deleted" 0 "$status"
run recover
has "then nothing is open" "$out" "nothing was left unfinished"
run state check
is "the state is sound" 0 "$status"

# Quota-bearing ones first; more than ten need their number.
spec "" 12
run apply --yes
cp .muster/fake-cloud.db kept.db
run destroy --yes-destroy=12
cp kept.db .muster/fake-cloud.db
rm -f .muster/fake-cloud.db-wal .muster/fake-cloud.db-shm
run gc
has "thirteen are left" "$out" "13 leftovers"
is "machines before networks" "machine network" "$(printf '%s\n' "$out" | awk '$1 == "cloud" { print $2 }' | uniq | tr '\n' ' ' | sed 's/ $//')"
run gc --all --yes
is "many need their number" 64 "$status"
has "which is told" "$err" "--yes-delete=13"
run gc --all --yes-delete=12
is "a wrong number" 64 "$status"
is "and all are there" 13 "$(objects)"
run gc --all --yes-delete=13
is "the right one" 0 "$status"
is "and none is" 0 "$(objects)"
finish
