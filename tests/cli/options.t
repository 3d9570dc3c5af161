# SPDX-License-Identifier: Apache-2.0
# The command line itself: help, versions, spellings, mistakes.
. tests/cli/lib.sh

run
is "no command: help" 0 "$status"
has "help lists commands" "$out" "  apply "
has "help lists options" "$out" "--limit"
run help plan
has "help of a command shows its options" "$out" "--detailed-exitcode"
run plan --help
has "--help is the same" "$out" "--detailed-exitcode"
run help modules
is "help lists the modules" 0 "$status"
has "with what they are for" "$out" "  lineinfile "
run help module ansible.builtin.copy
has "help of a module shows its arguments" "$out" "  dest (path; required"
run help module nosuch
is "no such module" 64 "$status"
run help module
is "module of what?" 64 "$status"
run help exit-codes
has "exit codes are explained" "$out" "another run holds the lease"
run version
is "version" 0 "$status"
has "version" "$out" "muster "
run version --json
has "version as JSON" "$out" '"version"'

run plann
is "a wrong command is wrong use" 64 "$status"
has "and gets a suggestion" "$err" "did you mean \`muster plan\`?"
run plan --detailed-exitcod
is "a wrong option is wrong use" 64 "$status"
has "and gets a suggestion" "$err" "did you mean --detailed-exitcode?"
run apply --parallel many
is "a word for a number" 64 "$status"
has "says which option" "$err" "--parallel takes a number"
run apply --max-failures 99999999999999999999
has "a number has a limit" "$err" "is too large a number"
run apply --max-failures five
is "a bad share" 64 "$status"
run plan --out
is "a missing value" 64 "$status"
has "says what is missing" "$err" "--out needs a value"
run version extra
is "too many arguments" 64 "$status"
run --color=blue version
is "a bad choice" 64 "$status"

run -f nowhere.yaml validate
is "no spec" 1 "$status"
has "says what to do" "$err" "muster init"

cat >muster.yaml <<'YAML'
cluster: t
providers: {cloud: {type: fake}}
pools:
  a: {provider: cloud, count: 2, image: debian-12}
YAML
for spelling in "-auto-approve" "--yes" "-y" "--auto-approve=true"; do
	rm -rf .muster
	run apply $spelling
	is "apply $spelling" 0 "$status"
done
run plan -detailed-exitcode -no-color
is "-no-color is no option of ours" 64 "$status"
run plan -out=p -var x=1 -target=node.a[0]
is "Terraform's spellings" 0 "$status"
ok "the plan file is there" "$([ -f p ]; echo $?)"
mkdir elsewhere
out=$(cd elsewhere && "$MUSTER" -C .. validate 2>&1)
has "-C" "$out" "is valid"
out=$(MUSTER_FILE=muster.yaml MUSTER_JSON=1 "$MUSTER" validate)
has "options from the environment" "$out" '"valid": true'
out=$(NO_COLOR=1 "$MUSTER" plan --color=always)
has "--color=always wins over NO_COLOR" "$out" "$(printf '\033')"
out=$("$MUSTER" plan 2>&1)
hasnot "no colour into a pipe" "$out" "$(printf '\033')"
# muster run shows what debug says, once for all hosts that say the same, and hides it under no_log.
cat >say.yml <<'E'
- hosts: all
  gather_facts: false
  vars: {name: world}
  tasks:
    - debug: {msg: "hello {{ name }}"}
    - debug: {var: name}
    - debug: {msg: "hidden {{ name }}"}
      no_log: true
    - ping:
E
run run -i 'a,b,' -c local say.yml
is "run" 0 "$status"
has "debug's msg is shown" "$out" "    hello world"
has "once for both hosts" "$out" "debug: ok on 2: a,b"
has "debug's var is shown" "$out" "    name: world"
hasnot "no_log hides it" "$out" "hidden world"
finish
