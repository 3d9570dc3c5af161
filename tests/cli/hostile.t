# SPDX-License-Identifier: Apache-2.0
# What nobody writes on purpose: specs out of bounds, outputs that cannot be written, text that would drive the terminal.
. tests/cli/lib.sh

spec() { # spec COUNT IMAGE
	cat >muster.yaml <<YAML
cluster: t
providers: {cloud: {type: fake}}
pools:
  a: {provider: cloud, count: $1, image: $2}
YAML
}

spec 1000000000 debian-12
out=$(timeout 20 "$MUSTER" validate 2>&1)
is "a count out of bounds is refused, not expanded" 1 $?
has "says the bound" "$out" "must be at most 100000"

spec 2 debian-12
if [ -w /dev/full ]; then
	err=$("$MUSTER" plan 2>&1 >/dev/full)
	is "an output that cannot be written is an error" 1 $?
	has "says so" "$err" "writing the output"
	err=$("$MUSTER" --json plan 2>&1 >/dev/full)
	is "the same with --json" 1 $?
fi
"$MUSTER" help 2>"$TEST_TMP/.err" | head -n 1 >/dev/null
is "a reader that goes away is no error" "" "$(cat "$TEST_TMP/.err")"
"$MUSTER" apply --yes >&- 2>&- <&-
is "apply without standard files" 0 $?
run state check
is "nothing was printed into the state" 0 "$status"

# --json is JSON, whatever happens. python3 reads it; where there is none a rough look must do.
json() { # json WHAT TEXT
	if command -v python3 >/dev/null; then
		printf '%s' "$2" | python3 -m json.tool >/dev/null 2>&1
	else
		case $2 in "{"*"}") true ;; *) false ;; esac
	fi
	ok "$1" $?
}
cp muster.yaml good.yaml
echo 'bogus: 1' >>muster.yaml
for command in validate plan drift status recover gc plam "plan --bogus"; do
	# shellcheck disable=SC2086 # words
	run --json $command
	json "--json $command: a faulty spec is told in JSON" "$out"
	has "and why" "$out" '"diagnostics"'
done
# Long commands tell it as an event of their stream.
for command in "apply --yes" "destroy --yes"; do
	# shellcheck disable=SC2086
	run --json $command
	json "--json $command: a faulty spec ends a stream of events" "$(printf '%s\n' "$out" | tail -n 1)"
	has "and why" "$out" '"type":"diagnostic"'
	has "and with what exit code" "$out" '"exit_code":1'
done
cp good.yaml muster.yaml
for command in "state check" "state mv node.a[1] node.a[7]" "state rm node.a[7]" "state show nope" "plan --limit nope"; do
	# shellcheck disable=SC2086
	run --json $command
	json "--json $command" "$out"
done

# A variable that is not set must not choose the whole fleet; what excludes itself chooses nobody.
for command in "destroy --yes --limit" "destroy --yes --target" "destroy --yes --exclude" "plan --limit" "exec x --limit"; do
	# shellcheck disable=SC2086
	run $command ""
	is "$command of nothing" 64 "$status"
done
run destroy --yes --limit 'a-0!a-0'
is "a limit that leaves nobody" 0 "$status"
has "destroys nobody" "$out" "Nothing to destroy"

# A pool that goes to another provider leaves nothing at the old one.
rm -rf .muster
sed -i 's/{cloud: {type: fake}}/{cloud: {type: fake}, other: {type: fake}}/' muster.yaml
run apply --yes
sed -i 's/provider: cloud/provider: other/' muster.yaml
run plan
has "a pool at another provider is replaced" "$out" 'provider changed from "cloud" to "other"'
has "the old machines are destroyed" "$out" "3 to add, 0 to change, 3 to destroy."
sed -i 's/cloud: {type: fake}, //' muster.yaml
run apply --yes
is "also when the old provider is out of the spec" 0 "$status"
if command -v sqlite3 >/dev/null; then
	is "nothing is left there" 0 "$(sqlite3 .muster/fake-cloud.db 'SELECT count(*) FROM object')"
fi
run plan --detailed-exitcode
is "and that is all" 0 "$status"

esc=$(printf '\033')
cat >broken.yaml <<'YAML'
cluster: t
"\e[2Jpools": {}
YAML
run validate -f broken.yaml
is "an unknown key" 1 "$status"
hasnot "escape sequences do not reach the terminal" "$err" "$esc"
has "they are shown as something else" "$err" '"?[2Jpools"'
printf 'cluster: t\nvars: {"日本": 1, é: 2, "x\377": 1}\n' >broken.yaml
run validate -f broken.yaml
has "broken UTF-8 is shown as something else" "$err" '"x?": 1}'
has "the caret stands below it, after wide characters" "$err" "
          |                           ^"
finish
