# SPDX-License-Identifier: MIT
# What scripts that test the command line say of it; to be sourced. Writes said.txt into the current folder.

fail() { printf 'failed: %s\n' "$*" >&2; exit 1; }
# says STATUS WORDS COMMAND...: the command ends with this status and prints each of the words, which commas separate.
says() {
  local status=$1 words=$2 found=0 word
  shift 2
  "$@" >said.txt 2>&1 || found=$?
  [ "$found" -eq "$status" ] || fail "$*: exit status $found, expected $status: $(cat said.txt)"
  IFS=, read -ra words <<<"$words"
  for word in "${words[@]}"; do grep -qF -- "$word" said.txt || fail "$*: does not say '$word': $(cat said.txt)"; done
}
