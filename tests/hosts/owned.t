# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # the hosts expand it
# Machines that exist: hosts that one cluster made are the owned hosts of another. They answer before any apply, are taken
# in, configured, watched, and only forgotten by destroy. What keys, known hosts, jumps and passwords do on the way.
. tests/cli/lib.sh

trap '"$MUSTER" -C "$TEST_TMP/there" destroy --yes -q >/dev/null 2>&1' EXIT
unset SSH_AUTH_SOCK
mkdir there keys
cat >there/muster.yaml <<'YAML'
cluster: there
providers: {local: {packages: [sudo]}}
pools:
  n: {provider: local, count: 2, image: debian-12}
YAML
for type in ed25519 ecdsa rsa; do ssh-keygen -q -t $type -N '' -C test -f keys/$type; done
ssh-keygen -q -t ed25519 -N secret -C test -f keys/locked
cat keys/*.pub >keys/all

run -C there apply --yes
is "hosts are made" 0 "$status"
run -C there copy ../keys/all n:/srv/all
run -C there exec n -- 'cat /srv/all >>/root/.ssh/authorized_keys; useradd -m -s /bin/sh ops
	mkdir ~ops/.ssh; cp /srv/all ~ops/.ssh/authorized_keys; chown -R ops ~ops/.ssh
	echo ops:pw-1 | chpasswd; adduser --quiet ops sudo'
is "and prepared" 0 "$status"
run -C there state show 'node.n[0]'
netns=$(printf '%s\n' "$out" | sed -n 's/^  netns: .*\///p')
a=$(printf '%s\n' "$out" | sed -n 's/^  address: //p')
a_key=$(printf '%s\n' "$out" | sed -n 's/^  host_key_public: \([^ ]* [^ ]*\).*/\1/p')
run -C there state show 'node.n[1]'
b=$(printf '%s\n' "$out" | sed -n 's/^  address: //p')
b_key=$(printf '%s\n' "$out" | sed -n 's/^  host_key_public: \([^ ]* [^ ]*\).*/\1/p')
printf '%s %s\n' "$a" "$a_key" "$b" "$b_key" >known

inside() { # as run, where the hosts can be reached
	out=$(ip netns exec "$netns" "$MUSTER" "$@" 2>"$TEST_TMP/.err" </dev/null)
	status=$?
	err=$(cat "$TEST_TMP/.err")
}

spec() { # spec SSH...: the spec with these keys under ssh:
	cat <<YAML
cluster: owned
providers: {metal: {type: ssh}}
pools:
  m:
    provider: metal
    hosts: [$a, $b]
    playbooks: [site.yml]
    ssh: {$1}
YAML
}

cat >site.yml <<'YAML'
- hosts: all
  tasks: [{name: mark, copy: {content: "{{ inventory_hostname }}\n", dest: /etc/owned}}]
YAML
spec "user: root, key: keys/rsa, known_hosts: known" >muster.yaml

inside exec @m -- uname -n
is "owned hosts answer before any apply" 0 "$status"
has "each by itself" "$out" "n-1"
inside run site.yml --check
is "and can be looked at" 0 "$status"
inside plan --detailed-exitcode
is "they are not taken in by that" 2 "$status"
inside apply --yes
is "apply takes them in" 0 "$status"
inside plan --detailed-exitcode
is "then there is nothing to do" 0 "$status"
inside exec "$a" -- 'echo edited >>/etc/owned'
inside drift
is "drift is found" 3 "$status"
has "on that host" "$out" "$a"
hasnot "and on no other" "$out" "$b"
inside apply --yes
is "and mended" 0 "$status"
inside exec @m -- cat /etc/owned
has "as it was" "$out" "== $a (1)
$a"

# ---- keys, host keys, jumps, passwords ----

for type in ed25519 ecdsa; do
	spec "user: root, key: keys/$type, known_hosts: known" >muster.yaml
	inside exec @m -- true
	is "an $type key" 0 "$status"
done
spec "user: root, key: keys/locked, known_hosts: known" >muster.yaml
inside exec "$a" -- true
is "an encrypted key needs the agent" 1 "$status"
has "the error says how" "$err" "ssh-add keys/locked"
spec "user: root, key: keys/none, known_hosts: known" >muster.yaml
inside exec "$a" -- true
has "a key that is missing is named" "$err" "keys/none"

spec "user: root, key: keys/rsa, known_hosts: known, jump: root@$a" >muster.yaml
inside exec "$b" -- 'echo "$SSH_CONNECTION"'
has "through another host" "$out" "$a"
inside ssh "$b" -- 'echo "$SSH_CONNECTION"'
has "ssh goes that way too" "$out" "$a"

printf '%s %s\n' "$a" "$b_key" >changed
spec "user: root, key: keys/rsa, known_hosts: changed" >muster.yaml
inside exec "$a" -- true
is "a changed host key is refused" 1 "$status"
has "in those words" "$err" "has changed"
inside exec "$b" -- true
is "an unknown one too" 1 "$status"
has "with its fingerprint" "$err" "SHA256:"
inside ssh "$a" -- true
is "ssh refuses it as well" 255 "$status"
inside exec "$b" -- true
has "with its fingerprint" "$err" "SHA256:"

spec "user: ops, key: keys/rsa, known_hosts: known, become: true, become_password: \"{{ secret('env:PW') }}\"" >muster.yaml
export PW=pw-1
inside exec @m -- id -un
is "sudo with a password" 0 "$status"
has "makes root" "$out" "root"
PW=pw-2
inside exec "$a" -- id -un
is "not with a wrong one" 1 "$status"
has "which is said" "$err" "password is wrong"
hasnot "without telling it" "$err$out" "pw-2"
spec "user: ops, key: keys/rsa, known_hosts: known, become: true" >muster.yaml
inside exec "$a" -- id -un
has "nor without one" "$err" "sudo asks for a password"

# ---- answers ----

spec "user: root, key: keys/rsa, known_hosts: known" >muster.yaml
inside exec @m -- 'exit 3'
is "all failed" 1 "$status"
has "with that status" "$out" "(2) exit 3"
inside exec @m -- 'test "$(uname -n)" = n-0'
is "one failed" 4 "$status"
inside exec @m -t 1s -- 'sleep 20'
has "a command is given up in time" "$err" "timed out"
inside exec @m -- 'head -c 5000000 /dev/zero | tr "\0" x'
has "what was cut is said to be" "$(printf '%s' "$out" | head -c 200)" "output cut at 4 MiB"
head -c 3000000 /dev/urandom >blob
inside copy blob @m:/srv/blob
is "a file up" 0 "$status"
inside copy @m:/srv/blob blobs
is "and down from each" 0 "$status"
cmp -s blob "blobs/$a" && cmp -s blob "blobs/$b"
ok "is the same file" $?
inside ssh "$a" -- 'exit 7'
is "ssh ends with the command's status" 7 "$status"

# ---- the end ----

inside destroy --yes
is "destroy" 0 "$status"
inside state list
hasnot "forgets" "$out" "node."
run -C there exec n -- cat /etc/owned
has "and leaves the machines as they are" "$out" "$b"
run -C there destroy --yes
is "they go with the cluster that made them" 0 "$status"
finish
