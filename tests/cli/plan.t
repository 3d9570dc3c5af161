# SPDX-License-Identifier: Apache-2.0
# Plans as they are read, posted and saved.
. tests/cli/lib.sh

spec() { # spec COUNT MACHINE
	cat >muster.yaml <<YAML
cluster: t
providers: {cloud: {type: fake, file: cloud.db}}
pools:
  a:
    provider: cloud
    count: $1
    machine: $2
    options: {labels: {token: "{{ secret('env:TOKEN') }}"}}
YAML
}
export TOKEN=hunter2-hunter2

refused() { # refused WHAT FILE REASON
	run apply "$2"
	is "$1 is refused" 1 "$status"
	has "$1: with its reason" "$err" "$3"
}

# ---- saved plans ----
spec 3 small
run plan --out p
is "saved" 0 "$status"
is "for the user alone" 600 "$(stat -c %a p)"
is "the key too" 600 "$(stat -c %a .muster/seal.key)"
hasnot "no secret inside" "$(cat p)" hunter2
cp p good

printf '%s' "$(cat good)" >p
refused "without its last newline" p "changed or cut"
head -c 700 good >p
refused "cut" p "changed or cut"
head -c 100 good >p
refused "cut in its head" p "does not begin as a plan does"
sed 's/small/SMALL/' good >p
refused "edited" p "changed or cut"
sum=$(sed 1d p | sha256sum | cut -d' ' -f1)
{
	sed -n '1s/"sha256": "[0-9a-f]*"/"sha256": "'"$sum"'"/p' p
	sed 1d p
} >q
refused "edited, with a new digest" q "it was edited, or made for another state"
cp .muster/seal.key kept.key
tr 0-9a-f 1-9a-f0 <kept.key >.muster/seal.key
refused "of another state" good "made for another state"
cp kept.key .muster/seal.key
echo '{"plan": {}}' >p
refused "any JSON" p "does not begin as a plan does"
: >p
refused "an empty file" p "does not begin as a plan does"
refused "an endless device" /dev/zero "no regular file"
refused "a folder" . "no regular file"
mkfifo pipe
refused "a pipe" pipe "no regular file"
truncate -s 2G huge
refused "two gigabytes" huge "more than 64 MiB"
rm -f huge
run apply absent
has "no file at all" "$err" "No such file"
run state list
hasnot "nothing of this did anything" "$out" "node."

cp good p
spec 3 large
refused "another spec" p "the spec (or a playbook, role or variable) was changed"
spec 3 small
run apply good
is "the plan itself is done" 0 "$status"
has "all of it" "$out" "4 created"
refused "and once" good "another run changed the state"

spec 3 large
run plan --out p
mv cloud.db cloud.kept
refused "a world that moved" p "what is there was changed outside"
rm -f cloud.db* && mv cloud.kept cloud.db
run plan --out p --destroy
run apply p
is "a saved plan to destroy" 0 "$status"
has "destroys" "$out" "4 destroyed"
run plan --out no/such/folder/p
is "no place for it" 1 "$status"

# ---- how it reads ----
spec 10000 small
run plan
is "ten thousand" 0 "$status"
has "are a line" "$out" "+ 10000 nodes a-[0-9999]: create (not there)"
ok "thirty lines at most" "$([ "$(printf '%s\n' "$out" | wc -l)" -le 30 ]; echo $?)"
run plan --markdown --full --max-bytes 5000
is "as Markdown" 0 "$status"
ok "no longer than was said" "$([ "$(printf '%s' "$out" | wc -c)" -le 5000 ]; echo $?)"
has "says what it left out" "$out" "have no room here"
run plan --markdown --full
ok "nor than a comment may be" "$([ "$(printf '%s' "$out" | wc -c)" -le 65536 ]; echo $?)"
hasnot "no secret there" "$out" hunter2
is "an even number of fences" 0 "$(($(printf '%s\n' "$out" | grep -c '^```') % 2))"
run plan --max-bytes 2000
is "a size for text is a mistake" 64 "$status"
run plan --markdown --max-bytes 10
is "so is one that is too small" 64 "$status"
run plan --markdown --json
is "and two formats" 64 "$status"
run drift --markdown
has "drift as Markdown" "$out" "**No drift.**"

# ---- what it may not touch ----
spec 4 small
run apply --yes
run plan --destroy --exclude a-3
has "what is excluded stays" "$out" "- 3 nodes a-[0-2]: destroy"
hasnot "and what it stands on" "$out" "cloud.network"

# ---- a fleet that is too large for a line a node ----
spec 100 small
run apply --yes
run status
has "status: one line a pool and state" "$out" "a     ready  100    a-[0-99]"
ok "and few of them" "$([ "$(printf '%s\n' "$out" | wc -l)" -le 6 ]; echo $?)"
run -v status
has "or each node, when asked" "$out" "a-57 "
finish
