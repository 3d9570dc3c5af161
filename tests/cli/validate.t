# SPDX-License-Identifier: Apache-2.0
# Every malformed spec of tests/spec/ is reported exactly as its .expect says. UPDATE=1 writes what is said now: read it before
# you keep it: is it the right place, does it say what is wrong, and how to mend it?
. tests/cli/lib.sh

cd "$TEST_TOP/tests/spec" || exit 1
for spec in [0-9]*.yaml; do
	want=${spec%.yaml}.expect
	run validate -f "$spec"
	[ -z "${UPDATE-}" ] || printf '%s\n' "$err" >"$want"
	is "$spec: exit status" 1 "$status"
	is "$spec: report" "$(cat "$want")" "$err"
	is "$spec: nothing on stdout" "" "$out"
done
cd "$TEST_TMP" || exit 1

printf 'cluster: ok\nproviders: {metal: {type: ssh}}\npools: {web: {provider: metal, hosts: ["n[1-3]"]}}\n' >"$TEST_TMP/good.yaml"
run validate -f "$TEST_TMP/good.yaml"
is "a good spec" 0 "$status"
has "says what is in it" "$out" "cluster ok, 1 pool, 3 nodes"
finish
