# SPDX-License-Identifier: Apache-2.0
"""What the articles on integrations show is typed into a shell, unchanged: ykit has a virtual key there, and ssh a host of that
name. (The articles on age, SecurID, Arculus and approvals have this in their own tests, disks and log-ins in the guest.)

YKIT is the ykit to test.
"""

import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from fido2.webauthn import AttestationObject

from lib.model_list import Service, der, payload
from lib.openssh import Server
from lib.peer import REAL, ROOT, YKIT, expect, skip
from lib.piv_bench import DEFAULT_KEY, path, run, works, write

HOME = path("home")
PIN = "123456"


def blocks(article):
    with open(f"{ROOT}/Sources/ykit/ykit.docc/{article}.md") as file:
        text = file.read()
    return text, re.findall(r"^```[a-z]*\n(.*?)^```$", text, re.S | re.M)


def block(article, beginning):
    """The block of an article that begins with these words."""
    return next(each for each in blocks(article)[1] if each.startswith(beginning))


def program(name, text):
    os.makedirs(path("bin"), exist_ok=True)
    write(f"bin/{name}", f"#!/bin/sh\n{text}\n".encode())
    os.chmod(path(f"bin/{name}"), 0o755)


def follow(commands, until=None, **variables):
    """A shell that ends at the first failure, or with its input, and ends its agent; behind a line with & it waits until a socket
    is there."""
    environment = dict(os.environ, HOME=HOME, USER="me", PATH=f"{path('bin')}:{os.environ['PATH']}", XDG_RUNTIME_DIR=HOME,
                       XDG_STATE_HOME=HOME, **variables)
    with open(path("said"), "wb") as said:
        shell = subprocess.Popen(["bash", "-e"], cwd=HOME, env=environment, text=True, stdin=subprocess.PIPE, stdout=said,
                                 stderr=subprocess.STDOUT, start_new_session=True)
    for line in commands.splitlines():
        shell.stdin.write(line + "\n")
        shell.stdin.flush()
        limit = time.monotonic() + 30
        while line.endswith("&") and not os.path.exists(until) and time.monotonic() < limit:
            time.sleep(0.05)
    shell.stdin.close()
    status = shell.wait(120)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(shell.pid, signal.SIGTERM)  # an agent in its background
    with open(path("said"), errors="replace") as said:
        return status, said.read()


def ssh():
    if os.getuid() != 0 or not os.path.exists("/usr/sbin/sshd"):
        skip("the article on SSH", "needs root and openssh-server")
        return
    commands = block("SSH", "ykit ssh keys")
    socket = f"{HOME}/ykit-ssh-agent.sock"
    with Server() as server:
        write("authorized", run(YKIT, "--virtual", "key.json", "ssh", "keys")[1].encode())
        write("config", f"""Host server.example.com
HostName 127.0.0.1
Port {server.port}
HostKeyAlias [127.0.0.1]:{server.port}
UserKnownHostsFile {path('known')}
""".encode())
        program("ssh", f"exec /usr/bin/ssh -F {path('config')} \"$@\"")
        status, output = follow(commands, until=socket)
        expect("the article on SSH: keys, a credential, the agent, a log-in", status == 0 or output)
        expect("the credential is where it says", sorted(os.listdir(f"{HOME}/.ssh")), ["id_ed25519_sk", "id_ed25519_sk.pub"])
        with open(path("sshd.log")) as log:
            expect("sshd has seen the log-in with the key of the slot", "Accepted publickey" in log.read())
    with open(f"{HOME}/report.pdf", "w") as file:
        file.write("a report\n")
    with open(f"{HOME}/signers", "w") as file:
        file.write("me@example.com " + pathlib.Path(f"{HOME}/.ssh/id_ed25519_sk.pub").read_text())
    status, output = follow(block("SSH", "ykit ssh sign"))
    expect("signs and verifies", (status, "good signature by 'me@example.com'" in output), (0, True))
    with open(f"{HOME}/report.pdf") as report:
        checked = subprocess.run(["ssh-keygen", "-Y", "verify", "-f", f"{HOME}/signers", "-I", "me@example.com", "-n", "file", "-s",
                                  f"{HOME}/report.pdf.sig"], stdin=report, capture_output=True, text=True)
    expect("ssh-keygen accepts the signature", checked.returncode == 0 or checked.stderr)
    git(socket)


def git(socket):
    text, _ = blocks("SSH")
    sentence = re.search(r"git signs commits through the agent:(.*?)\.\n\n", text, re.S)[1]
    settings = re.findall(r"`([^`]*)`", sentence)
    commands = "\n".join(["git init -q .", "git config user.name me", "git config user.email me@example.com", *settings[:-1],
                          "git add report.pdf", settings[-1].replace("git commit -S", "git commit -S -q -m report"),
                          f"git config gpg.ssh.allowedSignersFile {HOME}/signers", "git verify-commit HEAD", ""])
    begin = f"ykit ssh agent --socket {socket} &\nexport SSH_AUTH_SOCK={socket}\nssh-add ~/.ssh/id_ed25519_sk\n"
    status, output = follow(begin + commands, until=socket)
    expect("git signs commits as it says", (status, 'Good "git" signature for me@example.com' in output) == (0, True) or output)


def units():
    """systemd takes the units of the article on SSH."""
    if not shutil.which("systemd-analyze"):
        skip("the units of the article on SSH", "needs systemd")
        return
    parts = re.split(r"^# ~/.config/systemd/user/(.*)\n", block("SSH", "# ~/.config/systemd/user/"), flags=re.M)[1:]
    expect("the article on SSH: its units", parts[::2], ["ykit-ssh-agent.socket", "ykit-ssh-agent.service"])
    os.makedirs(path("units"))
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        write(f"units/{name}", text.replace("ExecStart=ykit ", f"ExecStart={REAL} ").encode())
    done = subprocess.run(["systemd-analyze", "--user", "verify", "--man=no", *[path(f"units/{name}") for name in parts[::2]]],
                          env={**os.environ, "XDG_RUNTIME_DIR": path("units")}, capture_output=True, text=True)
    expect("systemd takes them", (done.returncode, done.stderr), (0, ""))


def secrets():
    """A credential, its secret by both verbs, and a program that gets it."""
    first = block("FIDO", "ykit fido2 register --rp example.com --user alice --hmac-secret")
    status, output = follow(first.splitlines()[0] + " --json\n")
    credential = json.loads(output[output.index("{"):])["credential"]["id"]
    salt = "11" * 32
    program("program", "od -An -v -tx1 | tr -d ' \\n'")
    status, output = follow(first.splitlines()[1].replace("ID", credential).replace("SALT", salt) + " --uv discouraged\n")
    answer = json.loads(output[output.index("{"):])
    status, shown = follow(block("FIDO", "ykit fido2 secret --rp").replace("ID", credential).replace(
        "HEX", salt).replace("--format raw", "--uv discouraged --format raw"))
    secret = answer["credential"]["clientExtensionResults"]["hmacGetSecret"]["output1"]
    secret = base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4)).hex()
    expect("both verbs give the program the same secret", (status, shown.splitlines()[-1][-64:]), (0, secret))


def slots():
    """The slot for KeePassXC, and a second key with the same secret."""
    text, _ = blocks("Desktop")
    status, output = follow(block("Desktop", "ykit otp chalresp"))
    expect("the article on KeePassXC", status == 0 or output)
    program("ykit", f'exec {REAL} --virtual {path("second.json")} "$@"')
    status, output = follow(re.search(r"`(ykit otp chalresp 2 --key-stdin [^`]*)`", text)[1] + "\n")
    expect("a second key", status == 0 or output)
    codes = [run(YKIT, "--virtual", key, "otp", "calculate", "2", "00112233")[1].splitlines()[-1] for key in ("key.json", "second.json")]
    expect("answers the same", (len(codes[0]), codes[0]), (40, codes[1]))
    program("ykit", f'exec {REAL} --virtual {path("key.json")} "$@"')


def accounts():
    """The account that is put on a key and into a container for another one."""
    line = block("OATH", "ykit oath add").splitlines()[1]
    line = re.sub(r" --device \d+", "", line)
    status, output = follow(line + "\n", YKIT_OATH_SECRET="GEZDGNBVGY3TQOJQ", YKIT_FILE_PASSWORD="pass word")
    expect("the article on one secret for two keys", status == 0 or output)
    program("ykit", f'exec {REAL} --virtual {path("second.json")} "$@"')
    text, _ = blocks("OATH")
    command = re.search(r"`(ykit oath import github[^`]*)`", text)[1]
    status, output = follow(command + " --yes\n", YKIT_FILE_PASSWORD="pass word")
    expect("and its container", (status, "added 'GitHub:alice'" in output), (0, True))
    codes = [run(YKIT, "--virtual", key, "oath", "calculate", "--single", "GitHub:alice", "--at", "59")[1].splitlines()[-1]
             for key in ("key.json", "second.json")]
    expect("the codes are the same", (len(codes[0]), codes[0]), (6, codes[1]))
    program("ykit", f'exec {REAL} --virtual {path("key.json")} "$@"')


def integration():
    """The script of the article on CI, the session it records, and the lines of its jobs that need no network."""
    script, strict, session, *jobs = blocks("ContinuousIntegration")[1][:5]
    write("home/key-test.sh", script.encode())
    program("ykit", f'exec {REAL} "$@"')
    status, output = follow("sh key-test.sh\n")
    expect("the article on CI: its script", (status, output.splitlines()[-1]), (0, "Verified OK"))
    status, output = follow(f"rm -f {HOME}/key.json\n{strict}")
    expect("no key is made with --strict", status == 0 or output)
    status, output = follow(session)
    expect("a session is recorded, replayed and checked", status == 0 or output)
    expect("with the same accounts", len(pathlib.Path(f"{HOME}/accounts.txt").read_text().splitlines()) > 3)
    steps = [line for job in jobs for line in re.findall(r"^ +- (?:run: )?(.*)$", job, re.M)]
    expect("both jobs install the package and run the script",
           [sum(step.endswith(end) for step in steps) for end in ("./ykit.deb", "sha256sum --check", "sh key-test.sh")], [2, 2, 2])
    program("ykit", f'exec {REAL} --virtual {path("key.json")} "$@"')


def many_keys():
    """The script for a box of keys: two keys with serial numbers, one that was in use before, and a second run."""
    keys = path("keys")
    os.makedirs(keys)
    serials = []
    for number in range(3):
        run(YKIT, "virtual", "new", f"keys/{number}.json")
        serial = run(YKIT, "--virtual", f"keys/{number}.json", "list", "--serials")[1].strip()
        os.rename(f"{keys}/{number}.json", f"{keys}/{serial}.json")
        serials.append(serial)
    used = sorted(serials)[1]
    os.environ["YKIT_NEW_PIN"] = "654321"
    works("one was in use before", YKIT, "--virtual", f"keys/{used}.json", "piv", "access", "change-pin", "--pin-stdin", text=f"{PIN}\n")
    del os.environ["YKIT_NEW_PIN"]
    program("ykit", f"""case $1 in
    list) for key in {keys}/*.json; do {REAL} --virtual "$key" "$@"; done ;;
    --device) serial=$2; shift 2; exec {REAL} --virtual "{keys}/$serial.json" "$@" ;;
esac""")
    write("home/set-up.sh", block("ManyKeys", "#!/bin/bash").encode())
    for which in ("first", "second"):
        status, output = follow("unset YKIT_PIN YKIT_MANAGEMENT_KEY; bash set-up.sh keys.list attestations\n")
        lines = pathlib.Path(f"{HOME}/keys.list").read_text().splitlines()
        expect(f"{which} run: two keys are ready",
               (status, sorted(line.split()[0] for line in lines if line.endswith("ready"))), (0, sorted(set(serials) - {used})))
        expect("the used key is named once", f"key {used}: exit code 8" in output, which == "first")
    tries = json.loads(run(YKIT, "--virtual", f"keys/{used}.json", "--json", "piv", "info")[1])["pin"]["retries"]
    expect("and lost one try", tries, 2)
    expect("each has an attestation", sorted(name for name in os.listdir(f"{HOME}/attestations") if name.endswith("crt")),
           sorted(f"{serial}.crt" for serial in serials if serial != used))
    program("ykit", f'exec {REAL} --virtual {path("key.json")} "$@"')


def second_key():
    """Two keys, an inventory of the first, and what a signed list says about their model."""
    pins = {}
    for name in ("one.json", "two.json"):
        made = json.loads(run(YKIT, "--json", "virtual", "new", name)[1])
        pins[f"YKIT_FIDO_PIN_{made['serial']}"] = PIN
        works("a PIN", YKIT, "--virtual", name, "fido2", "pin", "set", "--new-pin-stdin", text=PIN + "\n")
        works("a passkey", YKIT, "--virtual", name, "fido2", "register", "--rp", "example.com", "--user", "alice", "--user-id", "AQID",
              "--resident")
        works("an account", YKIT, "--virtual", name, "oath", "add", "GitHub:alice", "--secret-stdin", text="GEZDGNBVGY3TQOJQ\n")
    names = f"-e s,^12345678$,{path('one.json')}, -e s,^23456789$,{path('two.json')},"
    program("ykit", f"""words=()
for word; do words+=("$(sed {names} <<< "$word")"); done
case $1 in
compare) exec {REAL} "${{words[@]}}";;
*) exec {REAL} --virtual {path('one.json')} "${{words[@]}}" ${{METADATA_ROOT:+--metadata-root $METADATA_ROOT}};;
esac""")
    write("bin/ykit", pathlib.Path(path("bin/ykit")).read_bytes().replace(b"#!/bin/sh", b"#!/bin/bash"))
    _, shown = blocks("SecondKey")
    for text in shown[:3]:
        status, output = follow(text, **pins)
        expect(f"the article on the second key: {text.splitlines()[-1]}", status == 0 or output)
        expect("the second key has everything", "not covered" in output or "missing" in output, False)
    with open(f"{HOME}/first.json") as file:
        expect("the inventory has the passkey and the account", [item["kind"] for item in json.load(file)["items"]], ["passkey", "oath"])
    registration = run(YKIT, "--json", "--virtual", "one.json", "fido2", "register", "--rp", "example.com", "--user", "bob",
                       "--origin", "https://example.com")[1]
    registration = registration[registration.index("{"):].splitlines()[0]
    write("home/registration.json", registration.encode())
    info = run(YKIT, "--json", "--virtual", "one.json", "fido2", "info")[1]
    text = json.loads(registration)["credential"]["response"]["attestationObject"]
    leaf = AttestationObject(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))).att_stmt["x5c"][0]
    service = Service()
    write("root.der", der(service.root))
    write("home/blob.jwt", service.sign(payload(
        json.loads(info)["aaguid"].replace("-", ""), [{"status": "FIDO_CERTIFIED_L1", "effectiveDate": "2024-01-01"}],
        roots=[base64.b64encode(leaf).decode()])))
    status, output = follow(shown[3], METADATA_ROOT=path("root.der"))
    expect("the article on the second key: what is known of a model", (status, "FIDO certified, level 1" in output) == (0, True) or output)
    expect("all of its blocks are typed", len(shown), 4)
    program("ykit", f'exec {REAL} --virtual {path("key.json")} "$@"')


def volume():
    """A volume in a file, two keys, and cryptsetup, which only tries the passphrase: the guest opens volumes."""
    if not os.path.exists("/usr/sbin/cryptsetup"):
        skip("the article on LUKS", "needs cryptsetup-bin")
        return
    with open(path("disk"), "wb") as file:
        file.truncate(32 << 20)
    pins = {"YKIT_VOLUME_PASSPHRASE": "rescue"}
    for name in ("one", "two"):
        made = json.loads(run(YKIT, "--json", "virtual", "new", f"luks-{name}.json")[1])
        works("a PIN", YKIT, "--virtual", f"luks-{name}.json", "fido2", "pin", "set", "--new-pin-stdin", text=PIN + "\n")
        pins[f"YKIT_FIDO_PIN_{made['serial']}"] = PIN
    format_ = ["/usr/sbin/cryptsetup", "--batch-mode", "luksFormat", "--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations",
               "1000", path("disk"), "--key-file", "-"]
    expect("a volume", subprocess.run(format_, input=b"rescue", capture_output=True).returncode, 0)
    program("sudo", 'exec "$@"')
    program("cryptsetup", f"""case $* in
*" data") exec /usr/sbin/cryptsetup open --test-passphrase --key-file=- {path('disk')} ;;
*) exec /usr/sbin/cryptsetup "$@" ;;
esac""")
    _, shown = blocks("LUKS")
    for text, key in zip(shown, ("one", "two", "two", "two"), strict=True):
        program("ykit", f"""words=()
for word; do
    case $word in
        /dev/sda2) words+=({path('disk')}) ;;
        12345678 | 23456789) [ "$last" = --device ] && unset 'words[-1]' ||
            words+=("$(case $word in 1*) echo {path('luks-one.json')} ;; *) echo {path('luks-two.json')} ;; esac)") ;;
        *) words+=("$word") ;;
    esac
    last=$word
done
case $* in *remove*) words+=(--force) ;; esac
exec {REAL} --virtual {path(f'luks-{key}.json')} "${{words[@]}}\"""")
        write("bin/ykit", pathlib.Path(path("bin/ykit")).read_bytes().replace(b"#!/bin/sh", b"#!/bin/bash"))
        status, output = follow("set -o pipefail\n" + text, **pins)
        expect(f"the article on LUKS: {text.splitlines()[-1]}", status == 0 or output)
    slots = json.loads(run("/usr/sbin/cryptsetup", "luksDump", "--dump-json-metadata", path("disk"))[1])["keyslots"]
    expect("the lost key's slot is removed", sorted(slots), ["0", "2"])
    os.remove(path("bin/cryptsetup"))
    program("ykit", f'exec {REAL} --virtual {path("key.json")} "$@"')


def plans(article, text, wanted, before=""):
    """What a command of an article would do."""
    status, output = follow(before + text)
    expect(f"{article}: {text.strip()}", (status, wanted in output) == (0, True) or output)


def remote():
    """What would be run, and the rule for sudo; a connection takes the kernel's uhid (remote.test)."""
    _, shown = blocks("Remote")
    for text in shown:
        if text.startswith("ykit remote"):
            plan = text if "--plan" in text else text.replace("ykit remote", "ykit remote --plan")
            plans("the article on remote keys", plan, "would run: ssh -T")
    rule = next(text for text in shown if text.startswith("alice"))
    expect("the article on remote keys: the command of the rule", rule.strip().endswith("/usr/bin/ykit bridge --stdio"))


def bridge():
    """What would be created, and the service of the package; a device takes the kernel's uhid (bridge.test)."""
    start, plan, service = blocks("Bridge")[1]
    # It takes no virtual key.
    plans("the article on the bridge", plan, "would create a HID device 1209:796b", 'ykit() { "$YKIT" "$@"; }\n')
    expect("the article on the bridge: it starts with the same command", f"sudo {plan}", start.splitlines()[-1] + " --plan\n")
    unit, user = service.split()[-1].split("@")
    expect("the article on the bridge: the service", (user, os.path.exists(f"{ROOT}/tools/build/bridge/{unit}@.service")), ("alice", True))


def guard():
    """What would happen; a device takes the kernel's uhid, where the guard's test types the rest (guard.test)."""
    shown = blocks("Guard")[1]
    plans("the article on the guard", next(text for text in shown if "guard --plan" in text).splitlines()[0], "would ask before each use")
    plans("the article on the guard", next(text for text in shown if "guard --plan" in text).splitlines()[1], "would listen at /run/ykit/guard.sock for alice")
    for line in next(text for text in shown if "guard pause" in text).splitlines():
        plans("the article on the guard", line + " --plan", "would ask the system part to " + line.split()[2])
    plans("the article on the guard", next(text for text in shown if "--remember" in text).strip() + " --plan", "would keep an accepted PIN")
    numbers = next(text for text in shown if "--as-key" in text).strip().removeprefix("sudo ")
    plans("the article on the guard", numbers + " --plan --owner alice", "with the key's numbers")
    services = next(text for text in shown if "systemctl" in text).splitlines()
    folders = [("guard", services[0].split()[-1]), ("desktop", services[1].split()[-1] + ".service")]
    expect("the article on the guard: its units", [os.path.exists(f"{ROOT}/tools/build/{folder}/{name}") for folder, name in folders], [True, True])


def test_articles():
    for name in ("SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY"):
        os.environ.pop(name, None)
    os.environ.update(YKIT_PIN=PIN, YKIT_MANAGEMENT_KEY=DEFAULT_KEY)
    os.makedirs(HOME)
    works("a virtual key", YKIT, "virtual", "new", "key.json")
    works("another", YKIT, "virtual", "new", "second.json")
    works("a key in a slot", YKIT, "--virtual", "key.json", "piv", "keys", "generate", "9a", "9a.pem", "--algorithm", "eccp256")
    program("ykit", f'exec {REAL} --virtual {path("key.json")} "$@"')
    ssh()
    units()
    secrets()
    slots()
    accounts()
    integration()
    many_keys()
    second_key()
    volume()
    remote()
    bridge()
    guard()
