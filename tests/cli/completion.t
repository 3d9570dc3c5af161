# SPDX-License-Identifier: Apache-2.0
# Completion scripts, the schema, init, and the examples.
. tests/cli/lib.sh

run completion bash
is "bash" 0 "$status"
printf '%s\n' "$out" >c.bash
bash -n c.bash
ok "bash reads it" $?
words=$(bash -c '. ./c.bash; COMP_WORDS=(muster pl); COMP_CWORD=1; _muster; echo "${COMPREPLY[*]}"')
is "pl completes to plan" "plan" "$words"
words=$(bash -c '. ./c.bash; COMP_WORDS=(muster plan --det); COMP_CWORD=2; _muster; echo "${COMPREPLY[*]}"')
is "options of the command complete" "--detailed-exitcode" "$words"
words=$(bash -c '. ./c.bash; COMP_WORDS=(muster state e); COMP_CWORD=2; _muster; echo "${COMPREPLY[*]}"')
is "words of a command complete" "export" "$words"
words=$(bash -c '. ./c.bash; COMP_WORDS=(muster help ex); COMP_CWORD=2; _muster; echo "${COMPREPLY[*]}"')
is "help completes commands and topics" "exec exit-codes" "$words"
run completion zsh
has "zsh" "$out" "#compdef muster"
run completion fish
has "fish" "$out" "complete -c muster"
run completion csh
is "others are refused" 64 "$status"

run schema
is "schema" 0 "$status"
printf '%s' "$out" | python3 -c 'import json,sys; d=json.load(sys.stdin); assert d["properties"]["pools"]'
ok "the schema is JSON Schema and knows pools" $?

for p in local ssh fake; do
	mkdir "$p"
	run -C "$p" init $p --name try
	is "init $p" 0 "$status"
	run -C "$p" validate
	is "init $p is valid" 0 "$status"
done
run -C local init
is "init overwrites nothing" 1 "$status"
run init clowd
is "init of what is not there" 64 "$status"

for d in "$TEST_TOP"/examples/*/; do
	cp -R "$d" "ex-$(basename "$d")"
	run -C "ex-$(basename "$d")" validate
	is "example $(basename "$d") is valid" 0 "$status"
done
run -C ex-fake apply --yes
is "example fake applies" 0 "$status"
run -C ex-fake plan --detailed-exitcode
is "and is then as the spec says" 0 "$status"
sed -i 's/count: 1000/count: 1003/' ex-fake/muster.yaml
run -C ex-fake plan
is "one change of a thousand nodes is a short plan" 1 "$([ "$(printf '%s\n' "$out" | wc -l)" -le 30 ]; echo $((1 - $?)))"
finish
