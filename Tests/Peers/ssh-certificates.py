# SPDX-License-Identifier: Apache-2.0
"""SSH certificates with `ykit ssh agent` and OpenSSH's programs: ssh-add, ssh-keygen, ssh, and a real sshd.

YKIT is the ykit to test, with its own virtual key.
"""

import os
import pwd

from lib.openssh import Agent, Client, Server
from lib.peer import YKIT, expect, skip
from lib.piv_bench import DEFAULT_KEY, fails, path, read, run, works, write

PIN = "123456"
os.environ.update(YKIT_PIN=PIN, YKIT_MANAGEMENT_KEY=DEFAULT_KEY)
os.environ.pop("SSH_AUTH_SOCK", None)
os.environ.pop("SSH_ASKPASS", None)
KINDS = {"9a": "eccp256", "82": "ed25519", "83": "rsa2048"}


def ykit(name, *arguments, **more):
    return works(f"ykit: {name}", YKIT, "--virtual", "key.json", *arguments, **more)


def certify(name, *options, authority="ca"):
    works(f"a certificate for {name}", "ssh-keygen", "-q", "-s", authority, "-I", f"id-{name}", "-n", user(), *options, f"{name}.pub")


def user():
    return pwd.getpwuid(os.getuid()).pw_name


def make_keys():
    works("a virtual key", YKIT, "virtual", "new", "key.json")
    for slot, kind in KINDS.items():
        ykit(f"{kind} in {slot}", "piv", "keys", "generate", slot, f"{slot}.pem", "--algorithm", kind)
    for line in ykit("the keys", "ssh", "keys").splitlines():
        if line.split()[2:3] == ["PIV"]:
            write(f"{line.split()[3]}.pub", line.encode() + b"\n")
    ykit("an Ed25519 credential", "ssh", "generate", "-o", "id_ed")
    ykit("an ECDSA credential", "ssh", "generate", "-a", "ecdsa", "-o", "id_ec")
    ykit("a credential that is an authority", "ssh", "generate", "-o", "id_ca")
    works("an authority", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "ca")
    for name in (*KINDS, "id_ed", "id_ec"):
        certify(name)


def names(client):
    return sorted(blob[4:4 + blob[3]].decode() for blob, _ in client.identities())


def added():
    """ssh-add takes FILE-cert.pub with FILE, and both are listed, sign, and go."""
    with Agent("added", "--no-piv") as agent:
        for name in ("id_ed", "id_ec"):
            works(f"ssh-add {name}, which has a certificate", "ssh-add", name, says="Certificate added")
        expect("both are listed", names(Client(agent)), [
            "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
            "sk-ssh-ed25519-cert-v01@openssh.com", "sk-ssh-ed25519@openssh.com"])
        for name in ("id_ed", "id_ec"):
            works(f"ssh-add -T {name}", "ssh-add", "-T", f"{name}.pub")
        signatures("id_ed", "id_ec")
        works("ssh-add -d takes both away", "ssh-add", "-d", "id_ed", says="Identity removed")
        expect("the other two stay", len(Client(agent).identities()), 2)
        works("ssh-add -D", "ssh-add", "-D")
        expect("nothing stays", Client(agent).identities(), [])


def signatures(*keys):
    """File signatures with certificates, verified by ssh-keygen and by ykit."""
    write("file", b"what is signed\n")
    write("allowed", f"{user()} cert-authority ".encode() + read("ca.pub"))
    for key in keys:
        status, output = run("sh", "-c", f"rm -f {key}.sig; ssh-keygen -Y sign -n lab -f {key}-cert.pub < file > {key}.sig")
        expect(f"ssh-keygen signs with the certificate of {key}", status or output, output)
        verify = f"ssh-keygen -Y verify -f allowed -I {user()} -n lab -s {key}.sig < file"
        works(f"ssh-keygen accepts the signature of {key}", "sh", "-c", verify)
        ours = [YKIT, "ssh", "verify", "file", "--allowed-signers", "allowed", "-n", "lab", "-s", f"{key}.sig", "--identity"]
        works("so does ykit, which says whose certificate it is", *ours, user(), says=f"certificate 'id-{key}'")
        fails("but not for another", *ours, "other", says="is not allowed to sign")


def slots():
    """Certificates of PIV keys, and of a key file, which are given to the agent."""
    options = [word for slot in KINDS for word in ("--certificate", f"{slot}-cert.pub")]
    with Agent("slots", *options, "--key", "id_ed", "--no-upstream") as agent:
        expect("each key is offered twice", len(Client(agent).identities()), 2 * (len(KINDS) + 1))
        signatures(*KINDS, "id_ed")
    works("a certificate of nobody here", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "stranger")
    certify("stranger")
    with Agent("stranger", "--certificate", "stranger-cert.pub") as agent:
        expect("is not offered", len(Client(agent).identities()), len(KINDS))
    fails("what is no certificate", YKIT, "--virtual", "key.json", "ssh", "agent", "--socket", path("x"), "--certificate", "ca.pub",
          says="public key, not a certificate")


def authorities():
    """Certificates by other authorities: RSA, a PIV key, a credential; each signs through the agent."""
    works("an RSA authority", "ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", "ca_rsa")
    write("file", b"what is signed\n")
    with Agent("authority", "--key", "id_ca", "--key", "id_ed", "--no-upstream"):
        for name, options in (("ca_rsa", ["-t", "rsa-sha2-512"]), ("id_ca", []), ("9a", [])):
            command = ["ssh-keygen", "-q", "-s", name] if name == "ca_rsa" else ["ssh-keygen", "-q", "-U", "-s", f"{name}.pub"]
            works(f"a certificate by {name}", *command, *options, "-I", "by", "-n", user(), "82.pub")
            write("allowed", f"{user()} cert-authority ".encode() + read(f"{name}.pub"))
            with Agent("certified", "--certificate", "82-cert.pub", "--no-upstream"):
                run("sh", "-c", "ssh-keygen -Y sign -n lab -f 82-cert.pub < file > by.sig")
            os.environ["SSH_AUTH_SOCK"] = path("authority.sock")
            works("ssh-keygen accepts it", "sh", "-c", f"ssh-keygen -Y verify -f allowed -I {user()} -n lab -s by.sig < file")
            works("ykit accepts it", YKIT, "ssh", "verify", "file", "--allowed-signers", "allowed", "--identity", user(), "-n", "lab", "-s",
                  "by.sig")
    certify("82")


def logins():
    if os.getuid() != 0 or not os.path.exists("/usr/sbin/sshd"):
        skip("log-ins at a real sshd", "needs root and openssh-server")
        return
    options = [word for slot in KINDS for word in ("--certificate", f"{slot}-cert.pub")]
    with Agent("logins", *options, "--key", "id_ed", "--key", "id_ec"), Server() as server:
        write("authorized", b"cert-authority " + read("ca.pub"))
        for name in (*KINDS, "id_ed", "id_ec"):
            output = server.login(f"{name}-cert.pub")[1]
            expect(f"a certificate logs in: {name}", "in\n" in output or output)
            output = server.login(f"{name}.pub", "-o", "CertificateFile=none")[1] if name == "9a" else ""
            expect(f"the key {name} alone does not", "in\n" in output, False)
    with Agent("plain"), Server() as server:
        output = server.login("9a.pub", "-o", f"CertificateFile={path('9a-cert.pub')}")[1]
        expect("ssh's own CertificateFile needs nothing of the agent", "in\n" in output or output)


def test_ssh_certificates():
    make_keys()
    added()
    slots()
    authorities()
    logins()
