#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Opens the volumes for which dracut is about to ask for a passphrase, if a security key opens them. What stays closed is
# left to dracut.

. /lib/dracut-crypt-lib.sh

# ykit_luks_name DEVICE NAME: the name that crypttab has for a device, or else NAME.
ykit_luks_name() {
    [ ! -f /etc/crypttab ] || while read -r name device _; do
        case $device in
            UUID=*) [ "luks-${device#UUID=}" = "$2" ] || continue ;;
            /*) [ "$(readlink -f "$device")" = "$(readlink -f "$1")" ] || continue ;;
            *) continue ;;
        esac
        echo "$name"
        return
    done </etc/crypttab
    echo "$2"
}

# dracut runs hooks in its own shell.
(
    for queued in "$hookdir"/initqueue/settled/cryptroot-ask-*.sh; do
        [ -f "$queued" ] || continue
        # shellcheck disable=SC2046 # the words of a line: cryptroot-ask DEVICE NAME
        set -- $(sed -n 's|^[^ ]*cryptroot-ask ||p' "$queued")
        [ $# -ge 2 ] || continue
        name=$(ykit_luks_name "$1" "$2")
        [ ! -b "/dev/mapper/$name" ] && [ ! -e "/tmp/ykit-luks-$name" ] || continue
        : >"/tmp/ykit-luks-$name"
        /sbin/ykit-luks-open "$1" "$name" </dev/null
        # 17: the PIN is required, and nothing was sent without it.
        [ $? != 17 ] || ask_for_password --tries 2 --tty-echo-off --prompt "PIN of the security key for $name" \
            --cmd "/sbin/ykit-luks-open $1 $name --pin-stdin"
    done
)
