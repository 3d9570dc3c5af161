# SPDX-License-Identifier: Apache-2.0
# render and eval: a template's text, an expression's value, with -e and with a spec.
. tests/cli/lib.sh
cd "$TEST_TMP" || exit 1

printf '#jinja2: lstrip_blocks:True\nhi {{ x }}\n{%% for i in range(3) %%}\n  {%% if i %%}\nv{{ i }}\n  {%% endif %%}\n{%% endfor %%}\n' >t.j2
run render t.j2 -e x=5
is "a template" 0 "$status"
is "its text" "hi 5
v1
v2" "$out"
run render t.j2
is "an undefined name" 1 "$status"
has "its place" "$err" "t.j2:2:7"
has "its line" "$err" "hi {{ x }}"
printf '{{ a }}{%% include "part.j2" %%}' >whole.j2
printf 'part\n{{ nope }}' >part.j2
run render whole.j2 -e a=1
has "a fault in another file is told there" "$err" "part.j2:2:4"
has "and who asked for it" "$err" "included from whole.j2:1"
printf 'part {{ a }}\n' >part.j2
run render whole.j2 -e a=1
is "a file includes another" "1part 1" "$out"
printf '{%% include "../secret" %%}' >out.j2
run render out.j2
is "but none outside of its folders" 1 "$status"
out=$(printf '{{ 1 + 1 }}' | "$MUSTER" render - 2>&1)
is "from stdin" 2 "$out"
out=$( (sleep 1; printf '{{ 1 + '; sleep 1; printf '2 }}') | "$MUSTER" render - 2>&1)
is "that comes slowly" 3 "$out"

run eval 'x | default(1) + 2'
is "an expression" 3 "$out"
run eval --native '{"a": [1, none], "b": 1.5}'
is "as JSON, in one line" '{"a":[1,null],"b":1.5}' "$(printf '%s' "$out" | tr -d ' \n')"
run eval --native '{{ range(2) | list }}'
is "a text of one expression keeps its type" '[0,1]' "$(printf '%s' "$out" | tr -d ' \n')"
run eval 'nope.x'
is "undefined" 1 "$status"
run eval '1 +'
has "a fault of syntax has a place" "$err" "expression:1:4"
run eval 'lookup("pipe", "echo hi")'
is "commands are not run" 1 "$status"
has "unless they are allowed" "$err" "--allow-pipe"
run eval 'lookup("pipe", "echo hi")' --allow-pipe
is "then they are" hi "$out"
HIDDEN=x run eval 'lookup("env", "HIDDEN")'
is "the environment" x "$out"
run eval 'lookup("password", "pw length=12")'
is "a password is not shown" "(sensitive)" "$out"
is "but kept, for its owner alone" 600 "$(stat -c %a pw)"
first=$(cat pw)
run eval 'lookup("password", "pw length=12")'
is "and stays" "$first" "$(cat pw)"
run eval 'lookup("file", "part.j2") ~ lookup("sequence", "3")'
is "files and sequences" "part {{ a }}1,2,3" "$out"
run eval 'lookup("url", "http://x/")'
has "no network" "$err" "get_url"

# What calls itself for ever ends with a word, on the small stack of a task.
i=0
while IFS= read -r template; do
	i=$((i + 1))
	printf '%s' "$template" >"deep$i.j2"
	run render "deep$i.j2"
	is "deep $i: refused" 1 "$status"
	has "deep $i: says why" "$err" "too deep"
done <<'END'
{% macro m(n) %}{% for i in [1] %}{{ m(n + 1) }}{% endfor %}{% endmacro %}{{ m(0) }}
{% include 'deep2.j2' %}
{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}
{% block a %}{{ self.a() }}{% endblock %}
{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}
{% extends 'deep6.j2' %}
{{ lookup('template', 'deep7.j2') }}
{% import 'deep8.j2' as x %}{{ x.a }}
{% macro m() %}{% filter upper %}{% set q %}{{ [m()]|map('upper')|join(',') ~ '%s' % (m(),) }}{% endset %}{% endfilter %}{% endmacro %}{{ m() }}
END

printf '{%% set ns = namespace(l=[]) %%}{%% for i in range(1000) %%}{%% set ns.l = ns.l + ["x" * 1000000] %%}{%% endfor %%}' >large.j2
run render large.j2
has "memory has a bound" "$err" "more than 512 MiB"

printf 'cluster: c\nvars: {color: blue}\nproviders: {fake: {}}\npools: {a: {provider: fake, count: 2, image: i, machine: m, vars: {color: red}}}\n' >muster.yaml
run eval 'color'
is "a spec's variables" blue "$out"
run eval 'color' --node 'a-1'
is "a node's" red "$out"
run eval 'color' --node nope
is "no such node" 1 "$status"
finish
