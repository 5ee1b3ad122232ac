# SPDX-License-Identifier: Apache-2.0
"""`ykit ssh verify` against `ssh-keygen -Y verify`: the same files of allowed signers, the same decisions.

YKIT is the ykit to test.
"""

import os
import subprocess

from lib.peer import YKIT, expect
from lib.piv_bench import path, run, works, write

SIGNER = "a@x"


def public(name):
    with open(path(f"{name}.pub")) as file:
        return " ".join(file.read().split()[:2])


def make_keys():
    for name, kind in (("k1", "ed25519"), ("k2", "ed25519"), ("ca", "ed25519"), ("ec", "ecdsa")):
        works(f"a key {name}", "ssh-keygen", "-q", "-t", kind, "-N", "", "-f", name, "-C", "x")
    works("an RSA key", "ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", "rsa", "-C", "x")
    write("msg", b"hello\n")
    for name in ("k1", "rsa", "ec"):
        for namespace in ("file", "git"):
            signed(name, f"{name}.{namespace}.sig", namespace)


def signed(key, name, namespace="file"):
    works(f"ssh-keygen signs {name}", "sh", "-c", f"ssh-keygen -q -Y sign -f {key} -n {namespace} < msg > {name}")


def certified(name, *options, key="k1", authority="ca"):
    """A signature of key with a certificate with these options."""
    for suffix in ("", ".pub"):
        os.system(f"cp -p {path(key + suffix)} {path(name + suffix)}")
    works(f"a certificate {name}", "ssh-keygen", "-q", "-s", authority, "-I", name, *options, f"{name}.pub")
    signed(f"{name}-cert.pub", f"{name}.file.sig")


def lines():
    """Lines for a file, the ends of a list of them."""
    k1, k2, ca, rsa, ec = (public(name) for name in ("k1", "k2", "ca", "rsa", "ec"))
    kind, key = k1.split()
    options = [
        'namespaces="git"', 'namespaces="file"', 'namespaces="git,file"', 'namespaces="fi*"', 'namespaces="!file,*"',
        'namespaces=""', 'namespaces=file', 'namespaces="file', 'namespaces="fi\\"le"', 'NAMESPACES="file"', 'namespaces',
        'namespaces="file" namespaces="git"', 'namespaces="file",namespaces="git"', 'namespaces="file",unknown', 'unknown-option',
        'valid-after="20200101"', 'valid-after="20400101"', 'valid-before="20200101"', 'valid-before="20400101"',
        'valid-before="20200101Z"', 'valid-after="202001011200"', 'valid-after="20200101120000Z"', 'valid-after="2020"',
        'valid-after="20200231"', 'valid-after="20201301"', 'valid-after="19700101Z"', 'valid-before="20400101utc"',
        'valid-after="20400101",valid-before="20200101"', 'valid-after="20200101",valid-after="20200102"',
        'valid-after="202001012460"', 'cert-authority', 'cert-authority,namespaces="file"', 'cert-authority2',
        'namespaces="file",', ',namespaces="file"', 'namespaces="file"x', "no-touch-required", '"quoted"', 'no-cert-authority']
    found = [f"{SIGNER} {option} {k1}" for option in options]
    found += [f"{principals} {k1}" for principals in (
        SIGNER, "*@x", "a@?", "!a@x,*@x", "*@x,!a@x", '"a@x"', '"a@x,b@x"', "A@X", ",a@x", "a@x,", "a@x,,b", "*", "!a@x", "!b@x",
        "!!a@x", '"a@x', 'a"@x"', "a@x,\"b@x\"", "b@x," + "y" * 1100 + ",a@x", " a@x", "\ta@x", "#a@x", "\0a@x", "a@x\0")]
    found += [
        f"{SIGNER}\t{k1}", f"{SIGNER} {k1} comment with spaces", f"{SIGNER} {k1[:-4]}", f"{SIGNER} {k1}=", f"{SIGNER} ssh-rsa {key}",
        f"{SIGNER} {kind}\t{key}", f"{SIGNER} {kind} {kind} {key}", f"{SIGNER} {key}", f"{SIGNER} {kind}", SIGNER, "", "garbage",
        f"{SIGNER} {k2}", f"{SIGNER} {rsa}", f'{SIGNER} namespaces="file" {rsa}', f"{SIGNER} {ec}", f"{SIGNER} {k1}\r",
        f"{SIGNER} ssh-dss AAAAB3NzaC1kc3M= x\n{SIGNER} {k1}", f"{SIGNER} ssh-new-key AAAA\n{SIGNER} {k1}",
        f"{SIGNER} {k2}\n{SIGNER} {k1}", f"garbage\n{SIGNER} {k1}", f"this is a note\n{SIGNER} {k1}",
        f'{SIGNER} namespaces="git" {k1}\n{SIGNER} {k1}', f'{SIGNER} valid-before="20200101" {k1}\n{SIGNER} {k1}',
        f"b@x foo-opt {k1}\n{SIGNER} {k1}", f"b@x ssh-ed25519 AAAAinvalid\n{SIGNER} {k1}", f"{SIGNER} {'x' * 20000}\n{SIGNER} {k1}",
        f"{SIGNER} {key.replace('A', '-', 1)}", f"{SIGNER} cert-authority {ca}", f'{SIGNER} cert-authority,namespaces="git" {ca}',
        f'{SIGNER} cert-authority,valid-before="20200101" {ca}', f"*@x CERT-AUTHORITY {ca}", f"b@x cert-authority {ca}",
        f"{SIGNER} cert-authority {rsa}", f"{SIGNER} cert-authority {ec}", f"{SIGNER} {public('user-cert')}", f"{SIGNER} {ca}",
        f"{SIGNER} cert-authority {public('user-cert')}"]
    return found


def decision(command, text):
    with open(path("msg"), "rb") as message:
        return subprocess.run(command, stdin=message, capture_output=True, cwd=os.path.dirname(path("msg"))).returncode == 0


def compare(signatures, **variables):
    os.environ.update(variables)
    count, different = 0, []
    for line in lines():
        write("signers", line.encode() + b"\n")
        for signature, namespace in signatures:
            for who in (SIGNER, "b@x"):
                count += 1
                theirs = decision(["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", who, "-n", namespace, "-s", signature], line)
                ours = decision([YKIT, "ssh", "verify", "--allowed-signers", "signers", "--identity", who, "-n", namespace,
                                 "-s", signature], line)
                if theirs != ours:
                    different.append((line[:100], signature, namespace, who, f"ssh-keygen {theirs}, ykit {ours}"))
    for name in variables:
        os.environ.pop(name)
    expect(f"{count} decisions are the same", different, [])


def test_ssh_signers():
    make_keys()
    certified("user", "-n", "a@x,c@x", "-V", "20200101:20400101")
    compare([("k1.file.sig", "file"), ("k1.git.sig", "git"), ("k1.git.sig", "file"), ("rsa.file.sig", "file"),
             ("ec.file.sig", "file"), ("user.file.sig", "file")])
    certified("expired", "-n", SIGNER, "-V", "20200101:20210101")
    certified("future", "-n", SIGNER, "-V", "20380101:20400101")
    certified("nobody", "-V", "always:forever")
    certified("host", "-h", "-n", SIGNER, "-V", "always:forever")
    certified("restricted", "-n", SIGNER, "-O", "force-command=date", "-O", "source-address=10.0.0.0/8", "-O", "clear", key="ec")
    certified("byrsa", "-n", SIGNER, "-t", "rsa-sha2-512", authority="rsa")
    certified("byec", "-n", SIGNER, key="rsa", authority="ec")
    compare([(f"{name}.file.sig", "file") for name in ("expired", "future", "nobody", "host", "restricted", "byrsa", "byec")])
    # A time without Z is one of the system's zone.
    for zone in ("Pacific/Kiritimati", "America/New_York"):
        for minutes in (-90, 90):
            stamp = subprocess.run(["date", "-d", f"{minutes} minutes", "+%Y%m%d%H%M"], env=dict(os.environ, TZ=zone),
                                   capture_output=True, text=True).stdout.strip()
            write("signers", f'{SIGNER} valid-after="{stamp}" {public("k1")}\n'.encode())
            os.environ["TZ"] = zone
            ours = decision([YKIT, "ssh", "verify", "--allowed-signers", "signers", "--identity", SIGNER, "-s", "k1.file.sig"], "")
            theirs = decision(["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", SIGNER, "-n", "file", "-s", "k1.file.sig"], "")
            os.environ.pop("TZ")
            expect(f"{minutes} minutes from now in {zone}", (ours, theirs), (minutes < 0, minutes < 0))
    # Here ykit is stricter: SHA-1, and options that have to be understood (PROTOCOL.certkeys).
    certified("sha1", "-n", SIGNER, "-t", "ssh-rsa", authority="rsa")
    certified("critical", "-n", SIGNER, "-O", "critical:unknown@example.com=x")
    for name, authority, says in (("sha1", "rsa", "ssh-rsa, which uses SHA-1"), ("critical", "ca", "unknown@example.com")):
        write("signers", f"{SIGNER} cert-authority {public(authority)}\n".encode())
        status, output = run(YKIT, "ssh", "verify", "msg", "--allowed-signers", "signers", "--identity", SIGNER, "-s", f"{name}.file.sig")
        expect(f"{name} is refused", (status != 0, says in output), (True, True))
