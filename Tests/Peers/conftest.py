# SPDX-License-Identifier: Apache-2.0
"""How pytest runs the scripts of this folder: each `expect` is a subtest, printed as a line that tools/test counts."""

import pathlib
import sys

import pytest
from _pytest.subtests import SubtestReport

sys.dont_write_bytecode = True
# At the end, since ndef.py and securid.py have the names of packages.
sys.path.append(str(pathlib.Path(__file__).resolve().parent))
from lib import peer  # noqa: E402


def pytest_configure(config):
    """A script may run itself again beside a pcscd of its own, and pytest with it."""
    if len({word.split("::")[0] for word in config.args}) != 1 or not config.args[0].split("::")[0].endswith(".py"):
        raise pytest.UsageError("one script at a time; tools/test peers runs them all")


def pytest_collection_modifyitems(items):
    """Parts run in the order of their script, which they may rely on, not in that of the line."""
    items.sort(key=lambda item: item.location[1])


@pytest.fixture(autouse=True)
def checks(subtests, monkeypatch):
    def report(name, fault=None, reason=None):
        with subtests.test(msg=name):
            if reason:
                pytest.skip(reason)
            if fault:
                pytest.fail(fault, pytrace=False)

    monkeypatch.setattr(peer, "report", report)


def pytest_runtest_logreport(report):
    if isinstance(report, SubtestReport):
        reason = report.longrepr[2].removeprefix("Skipped: ") if report.skipped else None
        peer.print_line(report.context.msg, report.longreprtext if report.failed else None, reason)
    elif report.failed and not report.longreprtext.startswith("contains "):
        print(f"{report.longreprtext}\nFAIL {report.nodeid.split('::')[-1]}: ended early", flush=True)


def pytest_collectreport(report):
    if report.failed:
        print(f"{report.longreprtext}\nFAIL {report.nodeid}: not read", flush=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """What follows a test that ended early is not run: it may need what that test would have made."""
    try:
        return (yield)
    except BaseException:
        item.session.shouldstop = f"{item.name} ended early"
        raise


def pytest_sessionfinish(session, exitstatus):
    if peer.failures and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
