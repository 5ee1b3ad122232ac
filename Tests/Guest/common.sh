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

# ykman ARGUMENT…: runs it, loaded once for all runs; sets STATUS and SAID, what it printed.
ykman() {
    if [ -z "${YKMAN_PID-}" ]; then
        coproc YKMAN { exec "$TESTS/run-ykman.py" "$WORK/ykman"; }
        read -r _ <&"${YKMAN[0]}"
    fi
    printf '%q ' "$@" >&"${YKMAN[1]}"
    echo >&"${YKMAN[1]}"
    read -r STATUS <&"${YKMAN[0]}" || STATUS=255
    SAID=$(cat "$WORK/ykman")
}

# ykman_verb NAME STATUS PART ARGUMENT…: runs ykman and says whether it ended so and said that.
ykman_verb() {
    local name=$1 wanted=$2 part=$3
    shift 3
    ykman "$@"
    holds "$name" "$wanted: …$part" "$STATUS: …$(grep -oF -m1 -- "$part" <<<"$SAID")"
    case $STATUS in "$wanted") ;; *) echo "     $SAID" ;; esac
}

# with_pcscd: starts pcscd and waits until it has given the key's card to ykit; sets PCSCD.
with_pcscd() {
    mkdir -p /run/pcscd
    pcscd --foreground --error >"$WORK/pcscd" 2>&1 &
    PCSCD=$!
    within 60 test -S /run/pcscd/pcscd.comm
    within 60 reads_card
}
reads_card() { "$YKIT" --link pcsc oath list >"$WORK/card" 2>&1; }

# may NODE: whether the seat's user, somebody else, and somebody in the group plugdev may open it.
SEAT=(setpriv --reuid 1000 --regid 1000 --clear-groups)
OTHER=(setpriv --reuid 1001 --regid 1001 --clear-groups)
PLUGDEV=(setpriv --reuid 1001 --regid 1001 --groups "$(getent group plugdev | cut -d: -f3)")
opens() { "${@:2}" bash -c ': <>"$1"' - "$1" 2>/dev/null && echo yes || echo no; }
may() { echo "$(opens "$1" "${SEAT[@]}") $(opens "$1" "${OTHER[@]}") $(opens "$1" "${PLUGDEV[@]}")"; }

# with_seat: lets user 1000 sit at the machine, and starts the udev daemon.
with_seat() {
    mkdir -p /run/systemd/seats /etc/udev/rules.d
    printf 'IS_SEAT0=1\nCAN_MULTI_SESSION=1\nACTIVE_UID=1000\n' >/run/systemd/seats/seat0
    /lib/systemd/systemd-udevd --daemon
}
