# SPDX-License-Identifier: Apache-2.0
# For the scripts of this folder: starts the guest, and there counts what was shown.
# shellcheck shell=bash

# note_in_guest: has what runs in the guest noted for tools/conformance, where notes are taken. The folder of the notes
# is the only one in which the guest's writing stays.
NOTED=()
note_in_guest() {
    [ -n "${YKIT_NOTES-}" ] || return 0
    export YKIT_REAL=$YKIT YKIT=$ROOT/tools/noted/ykit YKIT_NOTE_ROUTE=guest
    mkdir -p "$(dirname "$YKIT_NOTES")/guest"
    NOTED=(-w "$(dirname "$YKIT_NOTES")/guest" -e YKIT_REAL -e YKIT_NOTES -e YKIT_NOTE_TEST -e YKIT_NOTE_ROUTE)
    export YKIT_NOTES=${YKIT_NOTES%/*}/guest/notes
}

# in_guest MODULES: runs the script once more as root of a guest with these kernel modules; returns there. The limit is far
# beyond what any of them takes: it only ends what hangs.
in_guest() {
    TESTS=$(cd "$(dirname "$0")" && pwd)
    ROOT=${TESTS%/Tests/Guest}
    if [ -z "${YKIT_IN_GUEST-}" ]; then
        export YKIT=${YKIT:-$ROOT/.build/debug/ykit} YKIT_IN_GUEST=yes
        note_in_guest
        exec "$ROOT/tools/run-in-guest" -m "$1" -t 1500 "${NOTED[@]}" -e YKIT -e YKIT_IN_GUEST -- "$TESTS/${0##*/}"
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

# within SECONDS COMMAND…: waits until the command holds; false when it does not in time. Nothing is lost by a long time:
# it passes only where the test fails.
within() {
    local limit=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$limit" ] || return 1
        read -rt 0.02 -u "$NEVER" _ || :
    done
}
exec {NEVER}<> <(:) # nothing ever comes from here: to start a program costs more than waiting for one

# ykit ARGUMENT…: sets STATUS and SAID, what was printed and then what was complained of.
ykit() {
    "${AS[@]}" "$YKIT" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    STATUS=$?
    text SAID "$WORK/out"
    text COMPLAINED "$WORK/err"
    SAID+=${COMPLAINED:+${SAID:+$'\n'}$COMPLAINED}
}
AS=()

# text VARIABLE FILE: sets the variable to what is in the file, without starting a program, which takes long here.
text() {
    IFS= read -rd '' "$1" <"$2"
    printf -v "$1" %s "${!1%$'\n'}"
}

# judged NAME STATUS PART: says whether what ran last ended so and said that.
judged() {
    case $STATUS:$SAID in
        "$2":*"$3"*) echo "ok   $1" ;;
        *) expect "$1" "$2: …$3…" "$STATUS: $SAID" ;;
    esac
}

# verb NAME STATUS PART ARGUMENT…: runs ykit and says whether it ended so and said that.
verb() {
    ykit "${@:4}"
    judged "$@"
}

# device [OPTION…]: plugs a device in (uhid-device.py); sets NODE, and DEVICE to what `unplug` takes.
device() {
    local said=$WORK/device.$((++plugs))
    : >"$said"
    "$TESTS/uhid-device.py" "$@" >"$said" &
    DEVICE=$!
    within 120 test -s "$said" || { echo "FAIL no node for the device $*"; failed=1; exit; }
    NODE=$(cat "$said")
    PLACES[$NODE]=''
}

# plug WAY [OPTION…]: plugs a virtual key in (--usbip, --uhid); sets SERVER, NODE to its FIDO node, and LOG to the file of
# what its server says.
plug() {
    LOG=$WORK/said.$((++plugs))
    : >"$LOG"
    "$YKIT" virtual serve "$@" 2>"$LOG" &
    SERVER=$!
    within 120 grep -q '/dev/hidraw' "$LOG" || { echo "FAIL no node: $(cat "$LOG")"; failed=1; exit; }
    NODE=$(node)
    PLACES[$NODE]=$(readlink -f "/sys/class/hidraw/${NODE##*/}/device/../..")
    case ${PLACES[$NODE]} in */usb*) ;; *) PLACES[$NODE]='' ;; esac
}
declare -A PLACES # by node: what else of it is gone when it is unplugged
plugs=0

# node: the FIDO node that the key which was plugged in last has now.
node() { sed -n 's|.*the key is \(/dev/hidraw[0-9]*\).*|\1|p' "$LOG" | tail -1; }

# unplug PID [NODE]: takes a device or key out, and waits until the kernel has let go of it.
unplug() {
    local node=${2:-$NODE}
    kill "$1" 2>/dev/null
    wait "$1" 2>/dev/null
    within 60 gone "$node" "${PLACES[$node]-}"
}

# gone PATH…: whether nothing is there any more.
gone() {
    local path
    for path; do [ ! -e "$path" ] || return 1; done
}

# interface NUMBER [PORT]: the node of that interface of the virtual key in a port of the USB, or of the only key there.
interface() {
    local sys
    for sys in /sys/class/hidraw/hidraw*; do
        case $(readlink -f "$sys") in */${2:-*}:1."$1"/*) echo "/dev/${sys##*/}" && return ;; esac
    done
    return 1
}
keyboard() { interface 0 "$@"; }

# ykman ARGUMENT…: runs it, loaded once for all runs (run-ykman.py); sets STATUS and SAID, what it printed.
ykman() {
    if [ -z "${YKMAN_PID-}" ]; then
        coproc YKMAN { exec "$TESTS/run-ykman.py" "$WORK/ykman"; }
        read -r _ <&"${YKMAN[0]}"
    fi
    printf '%q ' "$@" >&"${YKMAN[1]}"
    echo >&"${YKMAN[1]}"
    read -r STATUS <&"${YKMAN[0]}" || STATUS=255
    text SAID "$WORK/ykman"
}

# ykman_verb NAME STATUS PART ARGUMENT…: runs ykman and says whether it ended so and said that.
ykman_verb() {
    ykman "${@:4}"
    judged "$@"
}

# with_pcscd: starts pcscd and waits until it has given the key's card to ykit; sets PCSCD.
with_pcscd() {
    mkdir -p /run/pcscd
    pcscd --foreground --error >"$WORK/pcscd" 2>&1 &
    PCSCD=$!
    within 120 reads_card
}
reads_card() { "$YKIT" --link pcsc oath list >"$WORK/card" 2>&1; }

# may NODE: whether the seat's user, somebody else, and somebody in the group plugdev may open it.
# opens NODE USER…: whether a user may.
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

# without_seat: ends the udev daemon, and waits for its end.
without_seat() {
    udevadm control --exit --timeout 300
    within 120 no_daemon
}
no_daemon() { ! busybox pidof systemd-udevd >/dev/null; }
