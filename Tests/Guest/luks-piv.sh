# SPDX-License-Identifier: Apache-2.0
# Shared by the guests in which a key in a PIV slot opens a LUKS2 volume: the volume, the key, and the ways to open it.
# shellcheck shell=bash disable=SC2154

LINK=usb
luks() { "$YKIT" --link "$LINK" luks "$@"; }
mkdir "$WORK/disk"
mount -t tmpfs none "$WORK/disk"
volume=$WORK/disk/volume
printf rescue >"$WORK/first"
fresh() { rm -f "$volume"; truncate -s 32M "$volume"; cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$volume" "$WORK/first"; }
# cryptsetup asks its own plugin for the token at the same time.
opens_with_key() {
    luks key "$volume" 2>"$WORK/err" | cryptsetup open --test-passphrase --key-file=- "$volume" || { cat "$WORK/err"; return 1; }
}
attach() { PIN=$2 timeout 90 /lib/systemd/systemd-cryptsetup attach "$1" "$volume" - pkcs11-uri=auto,headless=true; }

# module NAME: the only PKCS#11 module.
mount -t tmpfs none /usr/share/p11-kit/modules
module() { echo "module: $(echo /usr/lib/*/"$1")" >/usr/share/p11-kit/modules/one.module; }
export YKIT_PIN=123456 YKIT_MANAGEMENT_KEY=010203040506070801020304050607080102030405060708 YKIT_VOLUME_PASSPHRASE=rescue
plug --usbip --state "$WORK/key.json"
"$YKIT" --link usb piv keys generate 9d "$WORK/public.pem" --algorithm rsa2048 >/dev/null 2>"$WORK/err"
"$YKIT" --link usb piv certificates generate 9d --subject CN=disk >/dev/null 2>>"$WORK/err"
