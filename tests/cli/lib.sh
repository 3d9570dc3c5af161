# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# tests/cli/lib.sh - what the scripts share: TAP, and running the program with its output kept.
#
#	. tests/cli/lib.sh
#	run plan                      # -> $status, $out (stdout), $err (stderr)
#	is "a fleet is planned" 0 "$status"
#	has "says how many" "$out" "3 to add"
#	finish

n=0 bad=0

ok() { # ok WHAT CONDITION-STATUS
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n - $1"
	else
		bad=$((bad + 1))
		echo "not ok $n - $1"
	fi
}

note() { printf '%s\n' "$1" | sed 's/^/# /'; }

is() { # is WHAT EXPECTED GOT
	[ "$2" = "$3" ]
	ok "$1" $?
	[ "$2" = "$3" ] || {
		note "expected: $2"
		note "got:      $3"
		note "stdout:   $(printf '%s' "$out" | head -c 2000)"
		note "stderr:   $(printf '%s' "$err" | head -c 2000)"
	}
}

has() { # has WHAT TEXT PART
	case $2 in
	*"$3"*) ok "$1" 0 ;;
	*)
		ok "$1" 1
		note "no \"$3\" in:"
		note "$(printf '%s' "$2" | head -c 3000)"
		;;
	esac
}

hasnot() { # hasnot WHAT TEXT PART
	case $2 in
	*"$3"*)
		ok "$1" 1
		note "\"$3\" in:"
		note "$(printf '%s' "$2" | head -c 3000)"
		;;
	*) ok "$1" 0 ;;
	esac
}

run() {
	out=$("$MUSTER" "$@" 2>"$TEST_TMP/.err" </dev/null)
	status=$?
	err=$(cat "$TEST_TMP/.err")
}

finish() {
	echo "1..$n"
	[ "$bad" = 0 ]
	exit $?
}

# shellcheck disable=SC2034 # read by the scripts
out='' err='' status=0
export MUSTER_SHARE="$TEST_TOP/playbooks"
cd "$TEST_TMP" || exit 1
