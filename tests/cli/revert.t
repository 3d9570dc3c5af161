# SPDX-License-Identifier: Apache-2.0
# revert: which runs there is a way back to. That the way is gone is shown on real hosts (tests/hosts/revert.t).
. tests/cli/lib.sh

git() { HOME=$TEST_TMP GIT_CONFIG_NOSYSTEM=1 command git -c user.name=x -c user.email=x@y -c init.defaultBranch=main "$@"; }
commit() { git add -A && git commit -q -m "$1"; }
last() { "$MUSTER" history last --json | sed -n 's/^  "id": "\(.*\)".*/\1/p'; }
refused() { # refused WHAT RUN TEXT [OPTION...]
	what=$1 to=$2 text=$3
	shift 3
	run revert "$to" --yes "$@"
	is "$what" 1 "$status"
	has "$what: why" "$err" "$text"
}
count=3
spec() { # spec MACHINE
	cat >muster.yaml <<YAML
cluster: t
providers: {cloud: {type: fake}}
vars: {size: $1, extra: x}
pools:
  a: {provider: cloud, count: $count, image: debian-12, machine: "{{ size }}"}
YAML
}

mkdir fleet && cd fleet || exit 1
run revert
is "a run must be named" 64 "$status"
run revert last --yes
is "where nothing was ever run" 1 "$status"
ok "makes no state" "$([ ! -e .muster/state.db ]; echo $?)"

spec small
run apply --yes
refused "a run outside of git" last "its commit is not known: . is not in a git repository"
refused "a run that never was" zzz "there is no run zzz"

git init -q .
printf '.muster\n' >.gitignore
commit one
spec medium
run apply --yes
refused "a run of what was not committed" last "its files were not as in commit"
has "names the file" "$err" "(muster.yaml)"

commit two
spec large
commit three
run apply --yes
good=$(last)
run revert "$good" --yes
is "no playbook, no change" 0 "$status"
has "says so" "$out" "No changes"
ok "no folder is left" "$([ -z "$(ls -d .muster/revert-* 2>/dev/null)" ]; echo $?)"

run apply --yes -e extra=hunter2hunter2 -e size=small
refused "a variable is missing" last 'the variable "extra", whose value is not kept'
has "how to give it" "$err" "-e extra=VALUE"
refused "another is missing" last 'the variable "size"' -e extra=y
run revert last --yes -e extra=y -e size=small
is "all variables are there" 0 "$status"
has "another value is told" "$err" "not byte for byte what run"

# The commit of the spec only: what stands in the work tree now does not count.
echo 'nonsense: [' >muster.yaml
run revert "$good" --yes
is "a broken spec of now is no hindrance" 0 "$status"
git checkout -q muster.yaml

# Secrets are read from where the present spec has them.
cat >>muster.yaml <<YAML
outputs: {token: "{{ secret('file:token') }}"}
YAML
printf '.muster\ntoken\n' >.gitignore
echo s3cret-s3cret >token
commit secret
run apply --yes -e size=large
secret=$(last)
run revert "$secret" --yes -e size=large
is "a secret from a file that no commit has" 0 "$status"
mv token ../away
refused "a secret that is gone" "$secret" "it needs a secret: " -e size=large
has "which" "$err" "token"
mv ../away token

# A file that git keeps as a link out of the tree, and a submodule, can't be given back.
ln -s /etc/hostname file
spec small
commit link
run apply --yes
refused "a link out of the tree" last "file is a link that leads out of the tree"
git rm -q --cached file && rm file
spec medium
git add -A
git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),sub"
git commit -q -m sub
run apply --yes
refused "a submodule" last "sub is a submodule"
git rm -q --cached sub

# Nodes that came later or are gone are left alone.
spec large
commit four
run apply --yes
four=$(last)
count=5
spec large
commit five
run apply --yes
run revert "$four" --yes
is "nodes that came later" 0 "$status"
has "are named" "$err" "left alone: a-[3-4] (not in that spec)"
five=$(last)
count=2
spec large
commit six
run apply --yes
run revert "$(last)" --yes
hasnot "all are there" "$err" "left alone"
run history --json
five=$(printf '%s\n' "$out" | sed -n 's/.*"id": "\(.*\)".*/\1/p' | sed -n 2p)
run revert "$five" --yes
has "nodes that are gone" "$err" "left alone: a-[2-4] (not there now)"

# Another repository, or one without that commit.
mv .git ../git.away
refused "no repository any more" "$four" "is not in a git repository"
git init -q .
refused "another repository" "$four" "is not in the git repository here"
rm -rf .git && mv ../git.away .git

run destroy --yes
refused "a run that destroyed" last "it was a destroy, which configures no node"
run revert "$four"
is "still a way back" 0 "$status"
has "with nothing there" "$err" "left alone: a-[0-2] (not there now)"
finish
