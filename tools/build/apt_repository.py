#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes an apt repository of the packages in a folder, signed with a gpg key.

    tools/build/apt_repository.py FOLDER KEY

FOLDER/apt gets links to FOLDER/*.deb, Packages, Packages.gz, Release, InRelease, and ykit.asc, the public key. KEY is a
fingerprint or an e-mail address, as `gpg --local-user` takes it. The files are the same whenever they are made; only the
signature has the time. Another architecture's packages can be added to FOLDER, and the command run again.
"""
import gzip
import hashlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ORIGIN = "ykit"


class Refused(Exception):
    """Why there is no repository."""


def run(*words, given=None):
    """What a program prints; its prompts, as for the passphrase of a key, are shown by pinentry."""
    done = subprocess.run([str(word) for word in words], input=given, capture_output=True)
    if done.returncode != 0:
        raise Refused(f"'{' '.join(str(word) for word in words[:3])}' ended with status {done.returncode}: {done.stderr.decode().strip()}")
    return done.stdout


def check_key(key):
    """Refuses a key that gpg cannot sign with, before anything else takes time."""
    if not shutil.which("gpg"):
        raise Refused("gpg is not installed; type: apt install gnupg")
    run("gpg", "--batch", "--local-user", key, "--sign", "--output", "-", given=b"ykit\n")


def fields(package):
    """The fields of a package's control file, as lines."""
    return run("dpkg-deb", "-f", package).decode().rstrip("\n")


def field(stanza, name):
    return next(line.partition(": ")[2] for line in stanza.splitlines() if line.startswith(f"{name}: "))


def stanza(package):
    """A package's entry in Packages."""
    content = package.read_bytes()
    return f"{fields(package)}\nFilename: ./{package.name}\nSize: {len(content)}\nSHA256: {hashlib.sha256(content).hexdigest()}\n"


def release(files, architectures, when):
    """The text of Release: what the repository is, and the checksums of its indexes."""
    date = run("date", "-u", "-R", "-d", f"@{when}").decode().strip().replace("+0000", "UTC")
    sums = "".join(f" {hashlib.sha256(content).hexdigest()} {len(content)} {name}\n" for name, content in sorted(files.items()))
    return (f"Origin: {ORIGIN}\nLabel: {ORIGIN}\nSuite: stable\nCodename: stable\nDate: {date}\n"
            f"Architectures: {' '.join(architectures)}\nDescription: packages of ykit\nSHA256:\n{sums}").encode()


def moment(packages):
    """When the newest file in the packages was changed, in seconds since 1970."""
    archives = (run("dpkg-deb", "--fsys-tarfile", package) for package in packages)
    return max(entry.mtime for archive in archives for entry in tarfile.open(fileobj=io.BytesIO(archive)))


def make(folder, key):
    """Writes folder/apt, which appears when it is complete; returns its path."""
    packages = sorted(folder.glob("*.deb"))
    if not packages:
        raise Refused(f"{folder} has no package")
    stanzas = [stanza(package) for package in packages]
    index = "\n".join(stanzas).encode()
    files = {"Packages": index, "Packages.gz": gzip.compress(index, 9, mtime=0)}
    signed = release(files, sorted({field(text, "Architecture") for text in stanzas}), moment(packages))
    files["Release"] = signed
    files["InRelease"] = run("gpg", "--batch", "--local-user", key, "--digest-algo", "SHA512", "--clear-sign", "--output", "-", given=signed)
    files["ykit.asc"] = run("gpg", "--batch", "--armor", "--export-options", "export-minimal", "--export", key)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as work:
        new = pathlib.Path(work) / "apt"
        new.mkdir()
        for name, content in files.items():
            (new / name).write_bytes(content)
        for package in packages:
            os.link(package, new / package.name)
        for path in [*new.iterdir(), new]:
            path.chmod(0o755 if path == new else 0o644)
        place = folder / "apt"
        shutil.rmtree(place, ignore_errors=True)
        new.rename(place)
    return place


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        print(make(pathlib.Path(sys.argv[1]).absolute(), sys.argv[2]))
    except Refused as refusal:
        sys.exit(f"apt_repository: {refusal}")


if __name__ == "__main__":
    main()
