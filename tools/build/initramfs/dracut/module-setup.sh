#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A module of dracut(8): security keys open LUKS2 volumes where the initramfs has no systemd. With systemd,
# systemd-cryptsetup uses the same tokens by itself: fido2-device=auto in crypttab.

check() {
    require_binaries ykit cryptsetup || return 1
    return 255 # only where the configuration names it: add_dracutmodules+=" ykit-luks "
}

depends() { echo crypt; }

installkernel() { hostonly='' instmods usbhid hid_generic; }

install() {
    if dracut_module_included systemd; then
        dinfo 'ykit-luks: systemd-cryptsetup opens the volumes'
        return 0
    fi
    inst_multiple ykit sed
    inst_libdir_file 'libudev.so.1*' 'libusb-1.0.so.0*' 'libcrypto.so.3*'
    inst_script "$moddir/ykit-luks-open.sh" /sbin/ykit-luks-open
    # Before the jobs that ask for passphrases, which have names.
    inst_hook initqueue/settled 00 "$moddir/ykit-luks.sh"
}
