# SPDX-License-Identifier: Apache-2.0
# Looking at the state, repairing it, and the lease.
. tests/cli/lib.sh

cat >muster.yaml <<'YAML'
cluster: t
providers: {cloud: {type: fake}}
pools:
  a: {provider: cloud, count: 3, image: debian-12}
YAML
run state list
is "no state yet" 1 "$status"
run status
is "status without a state" 0 "$status"
has "says so" "$out" "not created"
run history
is "history without a state" 0 "$status"
run apply --yes
is "apply" 0 "$status"

run state show 'node.a[9]'
is "an unknown address" 1 "$status"
has "and what to do" "$err" "muster state list"
run state shwo
is "a wrong verb" 64 "$status"
has "gets a suggestion" "$err" "state show"

run state export all.json
is "export" 0 "$status"
is "an export is private" 600 "$(stat -c %a all.json)"
mkdir copy
cp muster.yaml copy/
run -C copy state import ../all.json
is "import" 0 "$status"
run -C copy state list
has "the copy is whole" "$out" "node.a[2]"
run -C copy state import ../all.json
is "import into a used state is refused" 1 "$status"
echo '{"resources": 1}' >bad.json
mkdir copy2
cp muster.yaml copy2/
run -C copy2 state import ../bad.json
is "a wrong document is refused" 1 "$status"

run state rm 'node.a[2]'
is "rm asks" 64 "$status"
run state rm --yes 'node.a[2]'
is "rm" 0 "$status"
run gc
has "the forgotten machine is a leftover" "$out" "a-2"
run gc --all --yes
is "gc deletes" 0 "$status"
run gc
has "and then there is none" "$out" "no leftovers"
run plan
has "the plan makes it again" "$out" "1 to add"
run state mv 'node.a[1]' 'node.b[1]'
is "mv" 0 "$status"
run state list
has "mv moved" "$out" "node.b[1]"
run state mv 'node.b[1]' 'node.a[1]'

run lock ls
has "nobody" "$out" "nobody holds the lease"
run state backup b.db
is "backup" 0 "$status"
printf 'garbage' | dd of=.muster/state.db bs=1 seek=20 conv=notrunc 2>/dev/null
rm -f .muster/state.db-wal .muster/state.db-shm
run state list
is "a damaged state is refused" 1 "$status"
has "it says what it is" "$err" "state.db"
has "and how to mend it" "$err" "muster state import"
run state import b.db
is "a backup restores it" 0 "$status"
run state list
has "and it is whole" "$out" "node.a[0]"
finish
