# SPDX-License-Identifier: Apache-2.0
"""The commands of the articles SecureChannels, OpenPGP and HSMAuth, unchanged and in their order, in a shell at a terminal;
ykit uses virtual keys. YKIT is the ykit to test.
"""

import os
import re
import subprocess
import sys

from lib import terminal
from lib.peer import ROOT, YKIT, expect, own_folder

WORK = own_folder()
SECRETS = {
    "YKIT_PIN": "123456", "YKIT_NEW_PIN": "123456", "YKIT_ADMIN_PIN": "12345678", "YKIT_NEW_ADMIN_PIN": "12345678",
    "YKIT_RESET_CODE": "11223344", "YKIT_HSMAUTH_MANAGEMENT_PASSWORD": "00" * 16, "YKIT_HSMAUTH_PASSWORD": "pw",
    "YKIT_HSMAUTH_DERIVATION_PASSWORD": "pwd",
}
# What a command asks for, by its beginning.
ANSWERS = {
    "ykit --scp 03 sd keys import 03,1": [("type 'replace'", "replace\n")],
    "ykit --scp 03,1 --scp-keys FILE sd keys delete": [(r"\[y/N\]", "y\n")],
    "ykit sd reset": [("type 'reset'", "reset\n")],
}
# Commands of other programs that need what is not here; openpgp-gpg.py runs it.
ELSEWHERE = ["gpg --verify message.pgp message"]


class Home:
    """A folder with a virtual key, and a ykit that uses it."""

    def __init__(self, name):
        self.folder = f"{WORK}/{name}"
        os.makedirs(f"{self.folder}/bin")
        with open(f"{self.folder}/bin/ykit", "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\ncase "$1 $2" in "attest verify" | "attest challenge") exec ' + YKIT + ' "$@" ;; esac\n'
                       f'exec {YKIT} --virtual {self.folder}/key.json --link pcsc "$@"\n')
        os.chmod(f"{self.folder}/bin/ykit", 0o700)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("YKIT_") or key in ("YKIT_REAL", "YKIT_NOTES")}
        self.environment = {**environment, **SECRETS, "HOME": self.folder, "XDG_STATE_HOME": self.folder, "TERM": "xterm",
                            "NO_COLOR": "1", "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        subprocess.run([YKIT, "virtual", "new", "key.json", "--firmware", "5.7.4"], check=True, cwd=self.folder,
                       env=self.environment, stdout=subprocess.DEVNULL)

    def prepare(self, commands):
        done = subprocess.run(["bash", "-e", "-c", commands], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(f"FAIL {commands}\n{done.stdout}{done.stderr}")

    def types(self, article, commands):
        for line in commands:
            if line in ELSEWHERE:
                continue
            answers = next((answers for start, answers in ANSWERS.items() if line.startswith(start)), [])
            status, seen = terminal.run(["bash", "-c", line], self.environment, self.folder, answers, 60)
            expect(f"{article}: {line}", status == 0 or seen.decode(errors="replace"))


def blocks(article):
    """The commands of each block of code, without what is remarked behind them."""
    with open(f"{ROOT}/Sources/ykit/ykit.docc/{article}.md", encoding="utf-8") as file:
        found = re.findall(r"^```\n(.*?)^```", file.read(), re.M | re.S)
    return [[re.sub(r"\s+#.*", "", line) for line in block.splitlines() if line.strip()] for block in found]


HOST = """
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out NAME-ca.pem -subj "/CN=NAME CA" \
    -days 30 -addext subjectKeyIdentifier=hash
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout NAME.key -out NAME.csr -subj /CN=NAME
printf 'keyUsage=critical,keyAgreement\\nauthorityKeyIdentifier=keyid\\n' > NAME.ext
openssl x509 -req -in NAME.csr -CA NAME-ca.pem -CAkey ca.key -days 30 -set_serial 0x1002 -extfile NAME.ext -out leaf.pem
cat NAME.key leaf.pem > NAME.pem
cat NAME.key NAME-ca.pem leaf.pem > NAME-full.pem
"""
OWN = ":".join(f"{part:02x}" * 16 for part in (1, 2, 3))


def test_secure_channels():
    channels, domain = blocks("SecureChannels")
    expect("SecureChannels: its commands", [len(channels), len(domain)], [4, 9])
    home = Home("channels")
    home.prepare(f"printf {OWN} > FILE\n" + HOST.replace("NAME", "host") + HOST.replace("NAME", "card")
                 + "cp card-ca.pem klcc.pem\nykit --scp 03 sd keys import ca,3 host-ca.pem\n"
                 "ykit --scp 03 sd keys import 11a,3 card-full.pem\nykit --scp 03 sd keys import 11b,2 card-full.pem\n"
                 "ykit --scp 03 sd keys delete 11b,1 --force")
    for line in channels:
        if "03,1" in line:  # The set of one's own takes the factory's place.
            home.prepare("ykit --scp 03 sd keys import 03,1 FILE --force")
        home.types("SecureChannels", [line])
    home = Home("domain")
    home.prepare(f"printf {OWN} > FILE\n" + HOST.replace("NAME", "host") + HOST.replace("NAME", "card")
                 + "cp card-full.pem key-and-certificates.pem")
    home.types("SecureChannels", domain)


def test_openpgp():
    first, access, use, signature, attestation = blocks("OpenPGP")
    expect("OpenPGP: its commands", [len(first), len(access), len(use), len(signature), len(attestation)], [5, 6, 4, 2, 3])
    home = Home("openpgp")
    home.prepare("openssl genpkey -algorithm ed25519 -out key.pem; echo a message > message")
    home.types("OpenPGP", first)
    home.types("OpenPGP", access)
    home.prepare("ykit openpgp keys generate dec --type rsa2048 --force; ykit openpgp keys export dec dec.pem\n"
                 "openssl pkeyutl -encrypt -pubin -inkey dec.pem -in message -out message.enc; mv message sent; echo a message > message\n"
                 "ln -f message challenge")
    home.types("OpenPGP", use)
    home.prepare("cmp message.txt sent")
    home.types("OpenPGP", signature)
    home.prepare("ykit openpgp certificates export att our-root.pem")
    home.types("OpenPGP", attestation)


def test_attestation():
    challenge, verifier, holder = blocks("Attestation")
    expect("Attestation: its commands", [len(challenge), len(verifier), len(holder)], [1, 4, 4])
    home = Home("attestation")
    home.prepare("ykit piv info; python3 -c 'import json; open(\"root.der\", \"wb\").write(bytes.fromhex("
                 "json.load(open(\"key.json\"))[\"piv\"][\"attestationRoot\"]))'\n"
                 "openssl x509 -inform der -in root.der -out root.pem")
    home.types("Attestation", challenge + holder + verifier)


def test_hsmauth():
    commands, = blocks("HSMAuth")
    expect("HSMAuth: its commands", len(commands), 5)
    home = Home("hsmauth")
    home.types("HSMAuth", commands)
    home.prepare("ykit hsmauth list | grep -q 'admin *ecc-p256' && test -s session.keys")
