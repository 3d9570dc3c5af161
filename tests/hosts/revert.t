# SPDX-License-Identifier: Apache-2.0
# Three commits, three applies; then back to the first on real hosts: the file is as it was, and the next plan says so.
. tests/cli/lib.sh

git() { HOME=$TEST_TMP GIT_CONFIG_NOSYSTEM=1 command git -c user.name=x -c user.email=x@y -c init.defaultBranch=main "$@"; }
commit() { git add -A && git commit -q -m "$1"; }
last() { "$MUSTER" history last --json | sed -n 's/^  "id": "\(.*\)".*/\1/p'; }
word() { "$MUSTER" exec "$1" -- 'cat /etc/word /etc/greeting' 2>/dev/null </dev/null; }

trap '"$MUSTER" -C "$TEST_TMP/fleet" destroy --yes -q >/dev/null 2>&1' EXIT
mkdir -p fleet/roles/greet/templates fleet/roles/greet/tasks && cd fleet || exit 1
cat >muster.yaml <<'YAML'
cluster: revert
providers: {local: {}}
pools:
  n: {provider: local, count: 2, image: debian-12, roles: [greet], playbooks: [word.yml]}
YAML
cat >roles/greet/tasks/main.yml <<'YAML'
- name: greeting
  template: {src: greeting.j2, dest: /etc/greeting}
YAML
version() { # version WORD
	echo "hello from {{ inventory_hostname }}, $1" >roles/greet/templates/greeting.j2
	cat >word.yml <<YAML
- hosts: all
  become: true
  tasks:
    - name: word
      copy: {content: "$1\n", dest: /etc/word}
YAML
}

printf '.muster\n' >.gitignore
git init -q .
version one && commit one
one_commit=$(git rev-parse HEAD)
run apply --yes
is "apply of the first commit" 0 "$status"
one=$(last)
version two && commit two
run apply --yes --limit n-0
is "apply of the second, to one node" 0 "$status"
two=$(last)
version three && commit three
run apply --yes
is "apply of the third" 0 "$status"
has "the third is there" "$(word n-1)" "three"

run revert "$one"
is "nobody to ask" 64 "$status"
has "the plan is shown" "$out" "2 nodes n-[0-1]: configure"
has "with what differs" "$out" "/etc/word"
run revert "$one" --limit n-1 --yes
is "one node goes back" 0 "$status"
has "that one" "$(word n-1)" "one"
has "its template too" "$(word n-1)" "hello from n-1, one"
has "and no other" "$(word n-0)" "three"
run revert "$one" --yes
is "all go back" 0 "$status"
has "only the other had to" "$out" "1 configured"
has "the first is there" "$(word n-0)" "one"
hasnot "byte for byte" "$err" "not byte for byte"
run revert "$one" --yes
has "nothing more to do" "$out" "No changes"

run history last --json
has "the history knows the commit" "$out" "\"commit\": \"$one_commit\""
has "and what it was instead of" "$out" "\"commit\": \"$(git rev-parse HEAD)\""
has "as a revert" "$out" '"command": "revert"'
run history last
has "to which run" "$out" "to run $one"

is "the work tree is as it was" "" "$(git status --porcelain)"
ok "no folder is left" "$([ -z "$(ls -d .muster/revert-* 2>/dev/null)" ]; echo $?)"
run plan --detailed-exitcode
is "the present spec wants the third again" 2 "$status"
has "on both" "$out" "2 nodes n-[0-1]: configure"
has "word" "$out" "/etc/word"

run revert "$two" --yes
is "to the second" 0 "$status"
has "on a node that never had it" "$(word n-1)" "two"
run apply --yes
is "and forward" 0 "$status"
has "the third again" "$(word n-0)" "three"
run plan --detailed-exitcode
is "an empty plan" 0 "$status"
run state check
is "the state is sound" 0 "$status"
finish
