#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ykit-luks-open DEVICE NAME [OPTION…]: opens a volume with a security key; the options are those of `ykit luks key`. The status is
# that of ykit, or else of cryptsetup.
device=$1 name=$2
shift 2
passphrase=$(ykit luks key "$device" --wait "${YKIT_WAIT:-10}" "$@") || exit
printf %s "$passphrase" | cryptsetup open --key-file=- "$device" "$name"
