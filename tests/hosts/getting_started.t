# SPDX-License-Identifier: Apache-2.0
# Every block of docs/getting-started.md runs as written, in order, in one shell; the outputs that the text promises are there.
. tests/cli/lib.sh

doc=$TEST_TOP/docs/getting-started.md
mkdir bin
ln -s "$MUSTER" bin/muster

# The first block builds, which is done: it is checked for what it says, not run again.
blocks=$(awk '/^```sh$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > ("block." n) } END { print n }' "$doc")
is "the guide has its blocks" 1 "$([ "$blocks" -ge 8 ]; echo $((1 - $?)))"
has "the first one builds" "$(cat block.1)" "make"

export PATH="$TEST_TMP/bin:$PATH" CI=1
{
	echo 'set -eu'
	for i in $(seq 2 "$blocks"); do
		echo "echo '@@ $i' >&2; echo '@@ $i'"
		cat "block.$i"
	done
} >all.sh
sh all.sh >all.out 2>all.err </dev/null
status=$?
out=$(cat all.out) err=$(cat all.err)
is "all blocks run" 0 "$status"
[ "$status" = 0 ] || {
	note "$(tail -n 40 all.out)"
	note "$(tail -n 40 all.err)"
	[ ! -d fleet ] || "$MUSTER" -C fleet destroy --yes >/dev/null 2>&1
}

part() { awk -v n="@@ $1" '$0 == n { on = 1; next } /^@@ / { on = 0 } on' "$2"; }

has "a broken spec is told" "$(part 3 all.err)" 'did you mean "count"?'
has "plan shows three nodes" "$(part 4 all.out)" "web-[0-2]"
has "status counts them" "$(part 4 all.out)" "3 ready"
has "the playbook greeted" "$(part 5 all.out)" "hello from web-0"
has "drift is found" "$(part 6 all.out)" "/etc/motd"
has "with exit 3" "$(part 6 all.out)" "exit 3"
has "and mended" "$(part 6 all.out)" "No changes."
has "one node fewer" "$(part 7 all.out)" "to destroy"
ok "nothing is mounted" "$(grep -q "$TEST_TMP" /proc/mounts; echo $((1 - $?)))"
finish
