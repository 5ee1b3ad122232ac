# SPDX-License-Identifier: Apache-2.0
"""A virtual key in a reader of the pcscd that tools/lab/pcscd-sandbox runs, for what measures or profiles ykit over PC/SC."""
import os
import pathlib
import resource
import subprocess
import sys
import time

SANDBOX = str(pathlib.Path(__file__).resolve().parent.parent / "lab/pcscd-sandbox")


def answer_after():
    """Lets the key answer each APDU as much later as `--answer-after TIME` says, such as 5ms: a real one takes milliseconds."""
    if "--answer-after" in sys.argv:
        os.environ["YKIT_BENCH_ANSWER_AFTER"] = sys.argv[sys.argv.index("--answer-after") + 1]


def measure(command, variables=None):
    """One run: processor seconds and wall seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **(variables or {})})
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


class KeyInReader:
    """During a block, a key from a state file is in the first reader."""

    def __init__(self, ykit, state, ready=("piv", "info")):
        port = os.environ["YKIT_TEST_VPCD_PORTS"].split()[0]
        self.command = [ykit, "virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--state", str(state)]
        if late := os.environ.get("YKIT_BENCH_ANSWER_AFTER"):
            self.command += ["--fault", f"from 1: delay {late}"]
        self.ready = [ykit, *ready]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            time.sleep(0.05)
            if subprocess.run(self.ready, capture_output=True).returncode == 0:
                return self
        sys.exit("the virtual key does not appear in the reader")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def apdus(run):
    """How many APDUs pcscd passed to the card while `run` ran, from its log; requires `--apdu-log`."""
    log = pathlib.Path(os.environ["YKIT_TEST_PCSCD_LOG"])
    before = log.read_text(errors="replace").count("APDU: ")
    run()
    time.sleep(0.2)
    return log.read_text(errors="replace").count("APDU: ") - before
