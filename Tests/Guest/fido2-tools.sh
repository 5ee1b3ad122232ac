# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts in this folder that test the virtual key on uhid with Debian's fido2-tools.
# shellcheck shell=bash

# stop NAME: unplugs the virtual key that was plugged in last.
stop() {
    kill "$SERVER" && wait "$SERVER"
    expect "$1: ended in order" 0 $?
    unplug "$SERVER"
}

# says NAME PATTERN COMMAND…: checks that the command succeeds and its output matches the pattern.
says() {
    local name=$1 pattern=$2 output status
    shift 2
    output=$("$@" 2>&1)
    status=$?
    [ $status -eq 0 ] || output+=" (status $status)"
    [ $status -eq 0 ] && holds "$name" "$pattern" "$output" || expect "$name" "$pattern" "$output"
}

# refuses NAME PATTERN COMMAND…: checks that the command fails and says why.
refuses() {
    local name=$1 pattern=$2 output
    shift 2
    if output=$("$@" 2>&1); then fails "$name" "a failure" "$output"; else holds "$name" "$pattern" "$output"; fi
}

typing() { "$TESTS/answer.py" "$@"; }

# ceremony ALGORITHM [ANSWERS [OPTION…]]: registers and asserts, and verifies both.
ceremony() {
    local kind=$1 pin=${2-} name="$1${2:+ with PIN}${3:+ $3}"
    local ask=() options=("${@:3}") checks=()
    [ -z "$pin" ] || ask=(typing "$pin")
    [ "${3-}" != -v ] || checks=(-v)
    head -c 32 /dev/urandom | base64 >"$WORK/hash"
    { cat "$WORK/hash"; echo example.com; echo alice; head -c 16 /dev/urandom | base64; } >"$WORK/make"
    says "$name: fido2-cred -M" "" "${ask[@]}" fido2-cred -M "${options[@]}" -i "$WORK/make" -o "$WORK/made" "$NODE" "$kind"
    says "$name: fido2-cred -V" "" fido2-cred -V "${checks[@]}" -i "$WORK/made" -o "$WORK/cred" "$kind"
    { cat "$WORK/hash"; echo example.com; head -1 "$WORK/cred"; } >"$WORK/get"
    tail -n +2 "$WORK/cred" >"$WORK/public"
    says "$name: fido2-assert -G" "" "${ask[@]}" fido2-assert -G "${checks[@]}" -i "$WORK/get" -o "$WORK/got" "$NODE"
    says "$name: fido2-assert -V" "" fido2-assert -V "${checks[@]}" -i "$WORK/got" "$WORK/public" "$kind"
}
