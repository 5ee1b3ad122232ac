# SPDX-License-Identifier: Apache-2.0
# For the scripts of this folder: starts the guest, and there counts what was shown.
# shellcheck shell=bash

# in_guest MODULES [SECONDS]: runs the script once more as root of a guest with these kernel modules; returns there.
in_guest() {
    TESTS=$(cd "$(dirname "$0")" && pwd)
    ROOT=${TESTS%/Tests/Guest}
    if [ -z "${YKIT_IN_GUEST-}" ]; then
        export YKIT=${YKIT:-$ROOT/.build/debug/ykit} YKIT_IN_GUEST=yes
        exec "$ROOT/tools/run-in-guest" -m "$1" -t "${2:-300}" -e YKIT -e YKIT_IN_GUEST -- "$TESTS/${0##*/}"
    fi
    WORK=$(mktemp -d)
    chmod 755 "$WORK"
    export HOME=$WORK
    PATH=$PATH:/usr/sbin:/sbin
    failed=0
    trap 'exit $((failed > 0))' EXIT
}

# expect NAME WANTED GOT: says whether they are the same.
expect() {
    if [ "$2" = "$3" ]; then
        echo "ok   $1"
    else
        printf 'FAIL %s\n     wanted %s\n     got    %s\n' "$1" "$2" "$3"
        failed=$((failed + 1))
    fi
}

# holds NAME PART TEXT: says whether the text has the part in it.
holds() {
    case $3 in
        *"$2"*) echo "ok   $1" ;;
        *) expect "$1" "…$2…" "$3" ;;
    esac
}

# within SECONDS COMMAND…: waits until the command holds; false when it does not in time.
within() {
    local limit=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$limit" ] || return 1
        busybox usleep 20000
    done
}

# ykit ARGUMENT…: sets STATUS and SAID, what was printed and then what was complained of.
ykit() {
    "${AS[@]}" "$YKIT" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    STATUS=$?
    SAID=$(cat "$WORK/out" "$WORK/err")
}
AS=()

# verb NAME STATUS PART ARGUMENT…: runs ykit and says whether it ended so and said that.
verb() {
    local name=$1 wanted=$2 part=$3
    shift 3
    ykit "$@"
    holds "$name" "$wanted: …$part" "$STATUS: …$(grep -oF -m1 -- "$part" <<<"$SAID")"
    case $STATUS in "$wanted") ;; *) echo "     $SAID" ;; esac
}

# device [OPTION…]: plugs a device in (uhid-device.py); sets NODE, and DEVICE to what `unplug` takes.
device() {
    local said=$WORK/device.$RANDOM
    : >"$said"
    "$TESTS/uhid-device.py" "$@" >"$said" &
    DEVICE=$!
    within 30 test -s "$said" || { echo "FAIL no node for the device $*"; failed=1; exit; }
    NODE=$(cat "$said")
}

# unplug DEVICE: takes it out, and waits until its node is gone.
unplug() {
    local node=${2:-$NODE}
    kill "$1"
    wait "$1" 2>/dev/null
    within 10 test ! -e "$node"
}
