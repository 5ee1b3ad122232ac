# SPDX-License-Identifier: Apache-2.0
"""What the test servers share: their Python environment, start and stop, a TLS certificate. Only the standard library, until TLS is asked for."""

import argparse
import atexit
import base64
import datetime
import email
import fcntl
import hashlib
import ipaddress
import json
import os
import pathlib
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "ykit-test-servers"


def install(env, requirements):
    """Make the environment once; needs pip, but neither python3-venv nor a compiler. Several test runs may ask at the same time."""
    env.mkdir(parents=True, exist_ok=True)
    mark, want = env / "complete", hashlib.sha256(requirements.read_bytes()).hexdigest()
    with open(env / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (mark.exists() and mark.read_text() == want):
            mark.unlink(missing_ok=True)
            subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", env / "venv"], check=True)
            subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pip",
                    "--python",
                    env / "venv/bin/python",
                    "install",
                    "--quiet",
                    "--no-deps",
                    "--only-binary=:all:",
                    "--disable-pip-version-check",
                    "--requirement",
                    requirements,
                ],
                check=True,
                stdout=sys.stderr,
            )
            for page in env.glob("venv/lib/*/site-packages/privacyidea/static/*"):  # 280 MB of web pages that no test opens
                shutil.rmtree(page) if page.is_dir() else page.unlink()
            mark.write_text(want)
    return env / "venv/bin/python"


def certificate(folder):
    """Write ca.pem and tls.pem (certificate and key for localhost and 127.0.0.1); the answer is the pin, as curl --pinnedpubkey takes it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import ec

    now, name = datetime.datetime.now(datetime.UTC), lambda text: x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def make(subject, public, ca):
        days = datetime.timedelta(days=30)
        builder = x509.CertificateBuilder(name("ykit test CA"), name(subject), public, x509.random_serial_number(), now - days, now + days)
        builder = builder.add_extension(x509.BasicConstraints(ca, None), True)
        if not ca:
            names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), False)
        return builder.sign(ca_key, hashes.SHA256()).public_bytes(s.Encoding.PEM)

    (folder / "ca.pem").write_bytes(make("ykit test CA", ca_key.public_key(), True))
    secret = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    (folder / "tls.pem").write_bytes(make("localhost", key.public_key(), False) + secret)
    spki = key.public_key().public_bytes(s.Encoding.DER, s.PublicFormat.SubjectPublicKeyInfo)
    return "sha256//" + base64.b64encode(hashlib.sha256(spki).digest()).decode()


def sinks(path):
    """An HTTP SMS gateway and an SMTP server that write what they are sent into a file; the answer is their two ports."""
    lock = threading.Lock()

    def write(**message):
        with lock, open(path, "a") as out:
            out.write(json.dumps(message) + "\n")

    class SMS(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            got = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            write(via="push" if "push" in got else "sms", **{key: str(value) if key in ("to", "text") else value for key, value in got.items()})
            self.send_response(200)
            self.end_headers()

    class SMTP(socketserver.StreamRequestHandler):
        def handle(self):
            say, to = lambda line: self.wfile.write(line + b"\r\n"), []
            say(b"220 sink")
            for line in iter(self.rfile.readline, b""):
                verb = line[:4].upper()
                if verb == b"RCPT":
                    to.append(line.decode().partition("<")[2].partition(">")[0])
                elif verb == b"DATA":
                    say(b"354 go on")
                    mail = email.message_from_bytes(b"".join(iter(self.rfile.readline, b".\r\n")))
                    part = next(part for part in mail.walk() if part.get_content_maintype() == "text")
                    write(via="mail", to=",".join(to), subject=mail["Subject"], text=part.get_payload(decode=True).decode().strip())
                say(b"221 bye" if verb == b"QUIT" else b"250 ok")
                if verb == b"QUIT":
                    return

    ports = []
    for handler in (SMS, SMTP):
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        ports.append(server.server_address[1])
    return ports


def postgresql():
    """Start a PostgreSQL that only listens on a socket in a folder of its own, and ends with this process; the answer is its SQLAlchemy URL."""
    tools = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")) or sys.exit("PostgreSQL is missing: apt-get install postgresql")
    folder, tools, who = tempfile.mkdtemp(prefix="pg-"), tools[-1].parent, []
    if os.geteuid() == 0:  # it refuses to run as root
        shutil.chown(folder, "postgres", "postgres")
        who = ["runuser", "-u", "postgres", "--"]

    def run(tool, *words):
        return subprocess.run([*who, tools / tool, *words], cwd="/", stdout=subprocess.DEVNULL, stderr=sys.stderr, stdin=subprocess.DEVNULL, check=True)

    run("initdb", "-D", f"{folder}/data", "-U", "ykit", "-A", "trust", "-E", "UTF8", "--no-sync")

    def end():
        subprocess.run([*who, tools / "pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "stop"], cwd="/", capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    run("pg_ctl", "-D", f"{folder}/data", "-w", "-l", f"{folder}/log", "-o", options, "start")
    run("createdb", "-h", folder, "-U", "ykit", "privacyidea")
    return f"postgresql+psycopg2://ykit@/privacyidea?host={folder}"


def serve_until_told(options, folder, state, servers):
    """Say that the servers answer, serve until a signal (or the end of standard input), clean up."""
    end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: end.set())
    if options.until_eof:
        threading.Thread(target=lambda: (sys.stdin.buffer.read(), end.set()), daemon=True).start()
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "server.tmp").write_text(json.dumps(state) + "\n")
    os.rename(folder / "server.tmp", folder / "server.json")
    print(json.dumps(state), flush=True)
    end.wait()
    for server in servers:
        server.shutdown()
    (folder / "server.json").unlink(missing_ok=True)
    if not options.dir:
        shutil.rmtree(folder, ignore_errors=True)


def start(python, options):
    folder = pathlib.Path(options.dir)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "server.log", "wb") as log:
        child = subprocess.Popen([python, sys.argv[0], "run", *sys.argv[2:]], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    while not (folder / "server.json").exists():
        if child.poll() is not None:
            sys.exit("it did not start:\n" + (folder / "server.log").read_text()[-2000:])
        time.sleep(0.05)
    print((folder / "server.json").read_text(), end="")


def stop(name, options):
    state = pathlib.Path(options.dir, "server.json")
    if not state.exists():
        sys.exit(f"no server runs in {options.dir}")
    pid = json.loads(state.read_text())["pid"]

    def alive():
        try:
            return name.encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()  # not a zombie, nor a later process of that number
        except FileNotFoundError:
            return False

    if alive():
        os.kill(pid, signal.SIGTERM)
    for _ in range(200):
        if not alive():
            return state.unlink(missing_ok=True)
        time.sleep(0.05)
    sys.exit(f"process {pid} does not stop")


def main(name, description, requirements, serve, add_options):
    """The commands install, run, start and stop around serve(options, folder)."""
    text = (
        description.strip()
        + """

  install   make the Python environment, once; run and start do it too when it is missing
  run       serve in the foreground; SIGTERM, SIGINT or --until-eof end it
  start     the same in the background; comes back when the server answers
  stop      stop it, and come back when it is gone

When it answers, one line of JSON goes to standard output and to DIR/server.json."""
    )
    parser = argparse.ArgumentParser(prog=name, description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["install", "run", "start", "stop"])
    parser.add_argument("--dir", help="where it keeps everything, a new folder; run without it takes a temporary one and removes it")
    parser.add_argument("--env", type=pathlib.Path, default=CACHE / name, help="where its Python environment is (%(default)s)")
    parser.add_argument("--port", type=int, default=0, help="HTTP port, a free one unless told otherwise")
    parser.add_argument("--until-eof", action="store_true", help="end when standard input ends, as when a test that holds the pipe dies")
    add_options(parser)
    options = parser.parse_args()
    if options.command in ("start", "stop") and not options.dir:
        parser.error("--dir is missing")
    if options.command == "stop":
        return stop(name, options)
    python = install(options.env, pathlib.Path(sys.argv[0]).resolve().parent / requirements)
    if options.command == "install":
        return print(python)
    if options.command == "start":
        return start(python, options)
    if pathlib.Path(sys.prefix).resolve() != (options.env / "venv").resolve():
        os.execv(python, [python, *sys.argv])
    os.umask(0o077)
    folder = pathlib.Path(options.dir or tempfile.mkdtemp(prefix=name + "-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if getattr(options, "resume", False):
        return serve(options, folder)
    if (folder / "used").exists():
        sys.exit(f"{folder} was used before; take a new folder")
    (folder / "used").touch()
    serve(options, folder)
