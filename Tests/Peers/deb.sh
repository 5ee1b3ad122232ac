#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The packages that tools/package makes of $YKIT_REAL: their content, lintian's verdict, an installation of each in a folder,
# which works and leaves nothing behind, and dpkg's upgrade from a lower version, which keeps what people set; in
# `tools/test all` also that making them again gives the same bytes. $YKIT_FORMER_DEB is the package of the lower version; otherwise it is
# made of this one. In a fresh Debian, with apt: tools/test demand fresh-debian.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=${YKIT_TEST_TMP:?}/deb
failed=0
mkdir -p "$tmp"
cd "$tmp" || exit 1

judge() { # judge WHAT COMMAND…
    local what=$1
    shift
    if "$@" >out 2>&1; then echo "ok $what"; else
        echo "FAIL $what"
        sed 's/^/    /' out | head -20
        failed=1
    fi
}
# A copy, and one date, so that a build or a commit meanwhile changes nothing.
mkdir program && cp "${YKIT_REAL:-$YKIT}" program/ykit || exit 1
[ ! -e "${YKIT_REAL:-$YKIT}.debug" ] || cp "${YKIT_REAL:-$YKIT}.debug" program/ykit.debug
program=$tmp/program/ykit
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

judge "makes every package" "$root/tools/package" all --program "$program" --output one
[ "$failed" = 0 ] || exit 1
if [ "${YKIT_TEST_ALL-}" = 1 ]; then
    judge "makes them again" "$root/tools/package" all --program "$program" --output two
    judge "the same bytes twice" diff -r one two
fi
judge "checksums hold" sh -c 'cd one && sha256sum -c SHA256SUMS'
deb=$(echo one/ykit_*.deb)

judge "the package opens" dpkg-deb -x "$deb" files
for path in usr/bin/ykit usr/lib/udev/rules.d/70-ykit.rules usr/share/man/man1/ykit.1.gz usr/share/man/man1/ykit-piv.1.gz \
    usr/share/bash-completion/completions/ykit usr/share/zsh/vendor-completions/_ykit \
    usr/share/fish/vendor_completions.d/ykit.fish usr/lib/systemd/user/ykit-ssh-agent.service usr/share/doc/ykit/copyright \
    usr/lib/systemd/system/ykit-bridge@.service usr/lib/sysusers.d/ykit-bridge.conf usr/lib/udev/rules.d/69-ykit-bridge.rules \
    usr/lib/systemd/system/ykit-guard.socket usr/lib/systemd/system/ykit-guard.service usr/lib/systemd/user/ykit-guard.service \
    usr/share/polkit-1/rules.d/ykit-bridge.rules usr/share/initramfs-tools/hooks/ykit-luks \
    usr/lib/cryptsetup/scripts/ykit-luks usr/lib/dracut/modules.d/91ykit-luks/module-setup.sh; do
    judge "it has $path" test -s "files/$path"
done
judge "its README leads to the articles" sh -c "grep -q '(articles/Features.md)' files/usr/share/doc/ykit/README.md &&
    test -s files/usr/share/doc/ykit/articles/Features.md"
judge "its plugin of age is a link" [ "$(readlink files/usr/bin/age-plugin-ykit)" = ykit ]
judge "its keyscript can be run" test -x files/usr/lib/cryptsetup/scripts/ykit-luks
judge "its program runs" sh -c 'files/usr/bin/ykit --virtual oath list | grep -q alice'
judge "every file is root's" sh -c "! dpkg-deb -c '$deb' | grep -v ' root/root '"
judge "it needs what the program is linked to, and no more" \
    sh -c "dpkg-deb -f '$deb' Depends | grep -Eq '^libc6 \(>= 2\.[0-9]+\), libssl3 \| libssl3t64(, zlib1g)?$'"
floor() { # the highest glibc that the program's symbols and its packed relocations need; those are read since 2.36
    { readelf -W -V "$program" | grep -o 'GLIBC_[0-9.]*' | cut -d_ -f2
        ! readelf -W -d "$program" | grep -q '(RELR)' || echo 2.36; } | sort -V | tail -1
}
judge "README and the package name the glibc that the program needs" \
    sh -c 'grep -q "glibc $1 or later" "$2/README.md" && dpkg-deb -f "$3" Depends | grep -q "libc6 (>= $1)"' - "$(floor)" "$root" "$deb"
if [ "$(head -c 4 "$program" | tail -c 3)" = ELF ] && [ -e "$program.debug" ]; then
    judge "the stripped program has at most 40 MB" [ "$(stat -c %s files/usr/bin/ykit)" -le 40000000 ]
fi
if command -v lintian >/dev/null; then
    judge "lintian finds no error and no warning" lintian --fail-on error,warning --allow-root --profile debian one/*.deb
else
    echo "skip lintian is not installed"
fi
command -v systemd-analyze >/dev/null &&
    judge "systemd accepts the units" env XDG_RUNTIME_DIR="$tmp" sh -c 'sed -i "s,ExecStart=[^ ]*ykit,ExecStart=/bin/true," files/usr/lib/systemd/user/*.service &&
        systemd-analyze --user verify --man=no files/usr/lib/systemd/user/*'
command -v systemd-analyze >/dev/null &&
    judge "and the one of the bridge" sh -c 'unit="$1/ykit-bridge@lab.service"
        sed "s,ExecStart=[^ ]*,ExecStart=/bin/true," files/usr/lib/systemd/system/ykit-bridge@.service >"$unit" &&
        systemd-analyze verify --man=no "$unit"' - "$tmp"
command -v systemd-analyze >/dev/null &&
    judge "and those of the guard" sh -c 'cp files/usr/lib/systemd/system/ykit-guard.* "$1" &&
        sed -i "s,ExecStart=[^ ]*,ExecStart=/bin/true," "$1/ykit-guard.service" &&
        systemd-analyze verify --man=no "$1/ykit-guard.socket" "$1/ykit-guard.service"' - "$tmp"

judge "the bill of materials names what is inside" python3 - "$(echo one/*.spdx.json)" "$program" <<'PY'
import hashlib, json, sys
paper = json.load(open(sys.argv[1]))
names = {package["name"] for package in paper["packages"]}
assert paper["spdxVersion"] == "SPDX-2.3" and len(paper["relationships"]) == len(names), paper["relationships"]
assert names == {"ykit", "swift-runtime", "public-suffix-list"}, names
digest = hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest()
assert paper["packages"][0]["checksums"][0]["checksumValue"] == digest
PY

mkdir tar target
judge "the archive opens" tar -C tar -xzf "$(echo one/ykit-*.tar.gz)"
folder=$(echo tar/*)
judge "its install puts everything in place" env DESTDIR="$tmp/target" PREFIX=/opt/ykit "$folder/install"
judge "the plugin of age has the manual page of its verbs" sh -c 'zcat target/opt/ykit/share/man/man1/age-plugin-ykit.1.gz | grep -q age'
judge "the plugin of age is a link to it" [ "$(readlink target/opt/ykit/bin/age-plugin-ykit)" = ykit ]
judge "the installed program runs" sh -c 'target/opt/ykit/bin/ykit --virtual oath list | grep -q alice'
judge "the unit names it" grep -q 'ExecStart=/opt/ykit/bin/ykit ' target/opt/ykit/lib/systemd/user/ykit-ssh-agent.service
judge "its uninstall leaves nothing" sh -c "DESTDIR='$tmp/target' PREFIX=/opt/ykit '$folder/uninstall' && ! find target -type f | grep ."

# dpkg in a folder, where nothing can answer a question.
in_folder() {
    PATH=$PATH:/usr/sbin:/sbin dpkg --root="$tmp/system" --log=/dev/null --force-not-root --force-script-chrootless \
        --force-depends --force-unsafe-io "$@" </dev/null
}
installed() { dpkg-query --admindir="$tmp/system/var/lib/dpkg" -W -f "\${db:Status-Status} \${$1}" ykit; }
aliased() { XDG_CONFIG_HOME=$tmp/person system/usr/bin/ykit codes | grep -q alice; }
# The bridge's sysusers file adds an account, which is no setting.
settings() {
    (cd "$tmp" && find system/etc person -type f -exec sha256sum {} + -o -type l -printf '%p %l\n' |
        grep -vE ' system/etc/(\.pwd\.lock|(g?shadow|passwd|group)-?)$' | sort)
}
says() { # says TEXT COMMAND…
    "${@:2}" >said 2>&1 && cat said && grep -q "$1" said
}
present=$(dpkg-deb -f "$deb" Version)
if [ -n "${YKIT_FORMER_DEB-}" ]; then
    judge "the package of the former version" cp "$YKIT_FORMER_DEB" former.deb
    former=$(dpkg-deb -f former.deb Version)
else # the same program, one file more, one less, and other rules
    former="0.0.9-1"
    judge "a package of a lower version" "$root/Tests/Peers/former_deb" "$deb" "$former" former.deb
fi
mkdir -p system/var/lib/dpkg/{info,updates,triggers} system/etc/udev/rules.d person/ykit
touch system/var/lib/dpkg/status
judge "dpkg installs it" in_folder -i former.deb
judge "it is the lower version" [ "$(installed Version)" = "installed $former" ]
printf 'virtual = %s\nalias.codes = oath list\n' "$tmp/key" >person/ykit/config
echo '# the administrator' >system/etc/udev/rules.d/70-ykit.rules
judge "systemd enables its unit" systemctl --root="$tmp/system" --global enable ykit-ssh-agent.socket
echo JBSWY3DPEHPK3PXP | system/usr/bin/ykit --virtual "$tmp/key" oath add alice --secret-stdin
judge "an alias of the configuration works" aliased
settings >settings.before
judge "dpkg upgrades it" says "($present) over ($former)" in_folder -i "$deb"
judge "it asked nothing" sh -c '! grep -i "configuration file" said'
judge "no file of it is one that dpkg asks about" [ "$(installed Conffiles)" = "installed " ]
judge "it is the present version" [ "$(installed Version)" = "installed $present" ]
judge "every file is that of the package" sh -c '! grep .' - < <(in_folder --verify ykit 2>&1)
judge "what only the lower version had is gone" [ ! -e system/usr/share/doc/ykit/FORMER ]
judge "settings and enabled units are kept" diff settings.before <(settings)
judge "the alias still works" aliased
judge "dpkg skips a downgrade with -G" says "will not downgrade" in_folder -iG former.deb
judge "and is still the present version" [ "$(installed Version)" = "installed $present" ]
judge "dpkg warns of a downgrade, and does it" says "downgrading ykit from $present to $former" in_folder -i former.deb
judge "the alias works in the lower version" aliased
judge "it is upgraded once more" in_folder -i "$deb"
judge "it is removed" in_folder --remove ykit
judge "settings outlive the removal" diff settings.before <(settings)
judge "it is purged" in_folder --purge ykit
judge "only the administrator's own file is left" \
    [ "$(cd system && find . -name '*ykit*' ! -path './var/lib/dpkg/*')" = ./etc/udev/rules.d/70-ykit.rules ]
exit "$failed"
