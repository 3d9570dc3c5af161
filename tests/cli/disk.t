# SPDX-License-Identifier: Apache-2.0
# Disks that are full or read-only, and states that are damaged or from a newer version: each is found and told before anything is
# made, names what to type, and what is typed brings it back. (What may happen to single bytes: tests/unit/state/test_damage.c.)
. tests/cli/lib.sh

spec() { # spec COUNT: the cloud is elsewhere, as clouds are
	cat >muster.yaml <<YAML
cluster: t
providers: {cloud: {type: fake, file: $TEST_TMP/cloud.db}}
pools:
  a: {provider: cloud, count: $1, image: debian-12}
YAML
}

objects() {
	sqlite3 "$TEST_TMP/cloud.db" 'SELECT count(*) FROM object'
}

converged() { # converged WHAT OBJECTS
	run plan --detailed-exitcode
	is "$1: then the plan is empty" 0 "$status"
	run gc
	has "$1: no leftover" "$out" "no leftovers"
	is "$1: all is there, once" "$2" "$(objects)"
	run state check
	is "$1: the state is sound" 0 "$status"
	run lock ls
	case $out in # a backup was made under the lease of a run that has ended since
	*"nobody holds"* | *"(dead)"*) ok "$1: nobody is in the way" 0 ;;
	*) ok "$1: nobody is in the way" 1 ;;
	esac
}

# ---- a damaged state ----

spec 3
run apply --yes
is "apply" 0 "$status"
cp -r .muster good

bend() { # bend HOW: what happens to the file
	case $1 in
	"cut in half") truncate -s $(($(stat -c %s .muster/state.db) / 2)) .muster/state.db ;;
	"cut within a page") truncate -s $(($(stat -c %s .muster/state.db) - 1000)) .muster/state.db ;;
	"emptied") : >.muster/state.db ;;
	"overwritten at its head") printf 'garbage' | dd of=.muster/state.db bs=1 seek=20 conv=notrunc 2>/dev/null ;;
	"a page of zeroes") dd if=/dev/zero of=.muster/state.db bs=4096 seek=1 count=1 conv=notrunc 2>/dev/null ;;
	"another kind of file") head -c 20000 /dev/zero | tr '\0' 'x' >.muster/state.db ;;
	"an id changed") sqlite3 .muster/state.db "UPDATE resources SET id = 'vm-99' WHERE addr = 'node.a[1]'" ;;
	"a bit flipped in what was asked for") sqlite3 .muster/state.db \
		"UPDATE resources SET want = replace(want, 'debian', 'eebian') WHERE addr = 'node.a[2]'" ;;
	esac
}

for how in "cut in half" "cut within a page" "emptied" "overwritten at its head" "a page of zeroes" "another kind of file" \
	"an id changed" "a bit flipped in what was asked for"; do
	rm -rf .muster
	cp -r good .muster
	bend "$how"
	for command in status "destroy --yes" "apply --yes" plan; do
		# shellcheck disable=SC2086 # a command with its options
		run $command
		is "$how: $command is refused" 1 "$status"
		has "$how: $command names the file" "$err" ".muster/state.db"
	done
	is "$how: nothing was made or deleted" 4 "$(objects)"
	hint=$(printf '%s\n' "$err" | sed -n 's/.*: muster \(state import .*\)/\1/p')
	has "$how: the hint names a backup that is there" "$hint" "$TEST_TMP/.muster/backups/"
	# shellcheck disable=SC2086 # the very words of the hint
	run $hint
	is "$how: what the hint says brings it back" 0 "$status"
	converged "$how" 4
	ok "$how: the damaged one is kept" "$(ls .muster/state.db.damaged-* >/dev/null 2>&1; echo $?)"
done

# ---- from a newer version ----

rm -rf .muster
cp -r good .muster
sqlite3 .muster/state.db 'PRAGMA user_version = 4711'
for command in plan "apply --yes" status; do
	# shellcheck disable=SC2086
	run $command
	is "a newer state: $command is refused" 1 "$status"
	has "a newer state: $command says so" "$err" "newer muster (version 4711"
done
is "a newer state is left as it is" 4711 "$(sqlite3 .muster/state.db 'PRAGMA user_version')"
is "a newer state: nothing was made" 4 "$(objects)"

# ---- read-only ----

rm -rf .muster
cp -r good .muster
mkdir ro
read_only=
if mount -t tmpfs -o size=8m tmpfs ro 2>/dev/null; then
	trap 'umount ro' EXIT
	cp -r muster.yaml .muster ro/
	mount -o remount,ro ro && read_only=yes
elif [ "$(id -u)" != 0 ]; then
	cp -r muster.yaml .muster ro/
	chmod -R a-w ro
	trap 'chmod -R u+w ro' EXIT
	read_only=yes
fi
if [ "$read_only" ]; then
	run -C ro plan --detailed-exitcode
	is "read-only: plan works" 0 "$status"
	run -C ro status
	is "read-only: status works" 0 "$status"
	has "read-only: and tells" "$out" "3 ready"
	run -C ro state list
	is "read-only: state list works" 0 "$status"
	run -C ro gc
	is "read-only: gc lists" 0 "$status"
	sed "s/count: 3/count: 5/" muster.yaml >more.yaml
	run -C ro -f "$TEST_TMP/more.yaml" plan
	has "read-only: plan shows changes" "$out" "2 to add"
	for command in "apply --yes" "destroy --yes" recover; do
		# shellcheck disable=SC2086
		run -C ro $command
		is "read-only: $command is refused" 1 "$status"
		has "read-only: $command says why" "$err" "cannot be written"
	done
	is "read-only: nothing was made or deleted" 4 "$(objects)"
else
	echo "# read-only: neither a mount nor rights that bind"
fi

# ---- full ----

# full_in LIMIT: applies where the disk ends in the middle, then where it does not.
full_in() {
	rm -f cloud.db cloud.db-wal cloud.db-shm
	rm -rf full/* full/.muster
	cp muster.yaml full/
	"$1" "$2"
	[ "$status" = 0 ] && whole=$((whole + 1))
	[ "$status" = 0 ] || case $status:$err in
	1:*"disk is full"* | 1:*"No space left"* | 1:*"too large"* | 153:*) told=$((told + 1)) ;;
	*) note "$1 $2: $status: $err" ;;
	esac
	tried=$((tried + 1))
}

applies_in_tmpfs() {
	mount -o "remount,size=${1}k" full
	run -C full apply --yes
	mount -o remount,size=20m full
}

applies_with_limit() { # in blocks of 512 bytes; the kernel's answer is a signal or an error
	out='' err=$( (ulimit -f "$1" && exec "$MUSTER" -C full apply --yes) 2>&1 >/dev/null </dev/null)
	status=$?
}

ends_well() { # the next run finishes
	run -C full apply --yes
	[ "$status" = 0 ] || { note "$1: apply: $err"; return 1; }
	run -C full plan --detailed-exitcode
	[ "$status" = 0 ] || { note "$1: plan: $out$err"; return 1; }
	[ "$(objects)" = 13 ] || { note "$1: $(objects) objects"; return 1; }
	run -C full state check
	[ "$status" = 0 ] || { note "$1: $err"; return 1; }
	run -C full gc
	case $out in *"no leftovers"*) ;; *) note "$1: $out"; return 1 ;; esac
}

full_cases() { # full_cases HOW SIZE...
	how=$1
	shift
	tried=0 told=0 whole=0 well=0
	for size; do
		full_in "$how" "$size"
		ends_well "$how $size" && well=$((well + 1))
	done
	is "$how: each failure says that the disk is full" "$tried" "$((told + whole))"
	is "$how: each time the next run finishes" "$tried" "$well"
	ok "$how: some did fail" "$([ "$told" -gt 2 ]; echo $?)"
}

spec 12
mkdir full
if mount -t tmpfs -o size=20m tmpfs full 2>/dev/null; then
	trap 'umount ro; umount full' EXIT
	full_cases applies_in_tmpfs 100 160 200 240 260 280 300 320 360 400
else
	echo "# full: no mount for this user"
fi
full_cases applies_with_limit 40 100 130 160 190 220 260 300
finish
