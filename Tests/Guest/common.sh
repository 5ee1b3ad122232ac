# SPDX-License-Identifier: Apache-2.0
# For the scripts of this folder: starts the guest, and there counts what was shown.
# shellcheck shell=bash

# Runs the script once more as root of a guest with these kernel modules; returns there.
in_guest() {
    local tests root
    tests=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
    root=${tests%/Tests/Guest}
    if [ -z "${YKIT_IN_GUEST-}" ]; then
        export YKIT=${YKIT:-$root/.build/debug/ykit} YKIT_IN_GUEST=yes
        exec "$root/tools/run-in-guest" -m "$1" -t "${2:-240}" -e YKIT -e YKIT_IN_GUEST -- "$tests/${0##*/}"
    fi
    TESTS=$tests ROOT=$root WORK=$(mktemp -d)
    export HOME=$WORK
    trap 'exit $((failed > 0))' EXIT
    failed=0
}

# expect NAME WANTED GOT: says whether they are the same.
expect() {
    if [ "$2" = "$3" ]; then
        echo "ok   $1"
    else
        printf 'FAIL %s\n     wanted %q\n     got    %q\n' "$1" "$2" "$3"
        failed=$((failed + 1))
    fi
}

# holds NAME PATTERN TEXT: says whether the text has the pattern (of case) in it.
holds() {
    # shellcheck disable=SC2254
    case $3 in
        *$2*) echo "ok   $1" ;;
        *) expect "$1" "*$2*" "$3" ;;
    esac
}

# until SECONDS COMMAND…: waits until the command holds; false when it does not in time.
within() {
    local limit=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$limit" ] || return 1
        busybox usleep 20000
    done
}

# device [OPTION…]: plugs a device in (uhid-device.py); sets NODE, and DEVICE to what `unplug` takes.
device() {
    local said=$WORK/device.$RANDOM
    : >"$said"
    "$TESTS/uhid-device.py" "$@" >"$said" &
    DEVICE=$!
    within 30 test -s "$said" || { echo "FAIL no node for the device $*"; exit 1; }
    NODE=$(cat "$said")
}

unplug() { kill "$1" && wait "$1" 2>/dev/null; }
