# SPDX-License-Identifier: Apache-2.0
"""A run: the key is looked at, the person consents, each application is used, compared and emptied, and a report is written."""

import dataclasses
import datetime
import pathlib
import shutil
import tempfile

from . import compare, report
from .cases import APPLICATIONS, Application
from .person import confirm, say
from .runner import Key, link_of, make_twin, shown

UNTOUCHED, EMPTIED = "not changed", "emptied again"
#: Exit codes after which an application is not used any further.
LOST = {3: "the key is gone", 7: "the key was removed", 6: "another program holds the key", 5: "no permission"}
SLOW = 2  # seconds, beside five times what the virtual key takes


class Refused(Exception):
    """Why the key is not used."""


class Session:
    def __init__(self, ykit, given):
        self.ykit, self.given, self.serial = ykit, given, given.serial
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="ykit-device-"))
        self.link = ["--link", "pcsc"] if given.contactless else []
        self.ask = Key(ykit, ["--device", self.serial, *self.link], self.work / "ask", self.work / "ask")
        self.states, self.steps, self.doing, self.finished = {}, [], None, False
        self.began = datetime.datetime.now(datetime.UTC)

    # What the key is and holds.

    def look(self):
        """Reads what the key is; refuses one that is not the named one or holds anything."""
        found = self.ask.run(["info", "--brief"])
        if found.code != 0:
            error = (found.answer or {}).get("error") or {}
            raise Refused(f"no key of serial number {self.serial} can be used: {error.get('message', 'no answer')}")
        self.info = found.answer
        if str(self.info["serial"]) != self.serial:
            raise Refused(f"the key says that its serial number is {self.info['serial']}, and not {self.serial}")
        route = "nfc" if self.given.contactless else "usb"
        off = {one["name"] for one in self.info["applications"] if one[route] != "enabled"}
        self.fido = self.ask.run(["fido2", "info"]).answer
        self.chosen = {name: APPLICATIONS[name] for name in APPLICATIONS if name in self.given.applications}
        self.states = dict.fromkeys(self.chosen, UNTOUCHED)
        if not (self.fido or {}).get("ctap2"):
            self.states.update({"fido2": "not on this key"} if "fido2" in self.chosen else {})
            if "u2f" in self.chosen:  # it cannot be reset, but a registration stores nothing on the key
                self.chosen["u2f"] = dataclasses.replace(self.chosen["u2f"], reset=[], loses=None)
        self.held = {}
        for name, application in self.chosen.items():
            if application.looks and self.states[name] == UNTOUCHED:
                answer = self.ask.run(application.looks)
                if answer.code == 0:
                    self.held[name] = application.holds(answer.answer, lambda words: self.ask.run(words))
                elif answer.code == 11:
                    self.states[name] = "not on this key"
                else:
                    self.held[name] = [f"something unknown: '{' '.join(application.looks)}' ended with exit code {answer.code}"]
        if off:
            say(f"switched off, or not on this key: {', '.join(sorted(off))}")
        if not self.given.read_only and any(self.held.values()):
            raise Refused("the key is not empty, and nothing was changed on it. It holds:\n" +
                          "\n".join(f"  {what}" for each in self.held.values() for what in each) +
                          "\nUse a key without anything on it, name only empty applications, or add --read-only")

    def consent(self):
        """What is going to happen, and whether the person wants it."""
        say(f"{self.info['name']}, firmware {self.info['firmware']}, serial number {self.serial}")
        changed = {name: one for name, one in self.chosen.items() if one.reset and self.states[name] == UNTOUCHED}
        if self.given.read_only or not changed:
            say("only reads; nothing on the key is changed")
            return
        say("This key is going to be used with test data, and these applications are reset at the end. What is lost:")
        for text in dict.fromkeys(one.loses for one in changed.values()):
            say(f"  {text}")
        if {"u2f", "fido2"} & changed.keys():
            say("For the reset of FIDO2 you are asked to unplug the key, to plug it in again and to touch it.")
        if not confirm(f"Type the serial number to continue, {self.serial}:", self.serial):
            raise Refused("not confirmed; nothing was changed on the key")

    # The work.

    def prepare(self, folder):
        self.folder = folder
        self.key = Key(self.ykit, ["--device", self.serial, *self.link], self.work / "key", folder / "captures")
        self.twins = []
        for name in ("one", "two"):
            state = self.work / f"{name}.json"
            self.like = make_twin(self.ykit, state, self.info, self.fido, "nfc" if self.given.contactless else "usb")
            self.twins.append(Key(self.ykit, ["--virtual", state], self.work / name, self.work / f"{name}-captures"))
        for each in (self.key, *self.twins):
            (each.folder / "message").write_text("message\n")

    def run(self):
        for name, application in self.chosen.items():
            if self.states[name] != UNTOUCHED:
                continue
            say(f"\n{name}")
            steps = [step for step in application.steps if step.reads] if self.given.read_only else application.steps
            for step in steps:
                if not self.step(name, step):
                    break
            if self.states[name] != UNTOUCHED:
                self.empty(name, application)
        self.finished = True

    def step(self, name, step):
        """One verb on the key and on both virtual keys; returns whether the application can go on."""
        say(f"  {step.name}" + (f": {step.person} the key when it blinks" if step.person else ""))
        if not step.reads and self.chosen[name].reset:
            self.states[name] = f"holds test data; {self.remedy(name)}"
        self.doing = f"{name}: {step.name}"
        number = len(self.steps) + 1
        file = f"{number:02}-{'-'.join(step.words[:2])}"
        result = self.key.run(step.words, file, step.variables, step.text, step.keyless)
        self.doing = None
        link = link_of(result.capture)
        others = [twin.run(step.words, file, step.variables, step.text, step.keyless, link) for twin in self.twins]
        if step.save:
            for each, key in zip((result, *others), (self.key, *self.twins), strict=True):
                (key.folder / step.save).write_text(report.json.dumps(each.answer))
        entry = {
            "application": name, "name": step.name, "words": step.words, "variables": step.variables, "input": step.text,
            "save": step.save, "exitCode": result.code, "seconds": round(result.seconds, 3), "person": step.person,
            "capture": f"captures/{result.capture.name}" if result.capture else None, "answer": result.answer,
            "deviations": [], "verdict": "same"}
        entry["deviations"] = list(self.deviations(name, step, result, others))
        entry["verdict"] = "deviates" if entry["deviations"] else "same"
        self.steps.append(entry)
        for one in entry["deviations"]:
            say(f"    {one['kind']}: {one['where']} the key: {report.short(one['key'])}; expected: {report.short(one['expected'])}")
        if result.code in LOST and result.code != others[0].code:
            self.states[name] = self.states[name].replace("holds", "may hold")
            return False
        return True

    def deviations(self, name, step, result, others):
        one, two = others

        def named(kind, where, key, expected):
            return {"kind": kind, "where": where, "key": key, "expected": expected}

        if result.answer is None:
            yield named("no answer", "", "none before the limit" if result.code == -9 else f"exit code {result.code}", "JSON")
            return
        if (result.code, result.error) != (one.code, one.error):
            kinds = {3: "gone", 7: "gone", 10: "silent", 13: "malformed"}
            yield named(kinds.get(result.code, "status"), "", (result.answer["error"] or {}).get("message", "success"),
                        ((one.answer or {}).get("error") or {}).get("message", "success"))
        elif one.answer is not None and not (self.given.read_only and self.held.get(name)):
            for where, key, expected in compare.answers(result.answer, one.answer, two.answer):
                yield named("answer", where, key, expected)
            yield from (named("exchange", *each) for each in self.traffic(result, others))
        if step.check and (result.code == 0 or step.check.__qualname__.startswith("tries")):
            wrong = step.check(result, self.key.folder)
            if wrong and not (one.answer and step.check(one, self.twins[0].folder)):
                yield named("result", "", wrong, "the value of the specification")
        if not step.person and not step.slow and result.seconds > SLOW + 5 * one.seconds:
            yield named("slow", "", f"{result.seconds:.1f} s", f"about {one.seconds:.1f} s")

    def traffic(self, result, others):
        """The differences of the recordings, if the key was reached in the same way as the virtual keys."""
        decoded = [shown(self.ykit, each.capture) for each in (result, *others)]
        if None in decoded or len({each["header"]["link"] for each in decoded}) != 1:
            return []
        return compare.traffic(*map(compare.exchanges, decoded))

    # The end.

    def remedy(self, name):
        words = [word for word in APPLICATIONS[name].reset if word != "--force"]
        return f"'ykit --device {self.serial} {' '.join(words)}' empties it"

    def empty(self, name, application: Application):
        """Resets an application, and says so if that does not work. U2F and FIDO2 have one reset."""
        if name == "u2f" and "fido2" in self.chosen:
            return
        say("  reset" + (": unplug the key, plug it in again, and touch it, as you are asked to" if "--reinsert" in application.reset else ""))
        self.doing = f"{name}: reset"
        result = self.key.run(application.reset, f"{len(self.steps) + 1:02}-{name}-reset")
        self.doing = None
        error = ((result.answer or {}).get("error") or {}).get("message", f"exit code {result.code}")
        self.steps.append({
            "application": name, "name": "reset", "words": application.reset, "variables": {}, "input": None, "save": None,
            "exitCode": result.code, "seconds": round(result.seconds, 3), "person": None,
            "capture": f"captures/{result.capture.name}" if result.capture else None, "answer": result.answer,
            "verdict": "same" if result.code == 0 else "deviates",
            "deviations": [] if result.code == 0 else [{"kind": "status", "where": "", "key": error, "expected": "success"}]})
        if result.code == 0:
            for each in (name, "u2f") if name == "fido2" else (name,):
                if each in self.states and self.states[each] != UNTOUCHED:
                    self.states[each] = EMPTIED
        else:
            say(f"    the reset failed: {error}; {self.remedy(name)}")

    def tell_state(self):
        """What the key holds now."""
        say(f"\nthe key {self.serial}:")
        for name, state in self.states.items():
            say(f"  {name}: {state}")
        if self.doing:
            say(f"  interrupted during '{self.doing}': whether the key has done it is not known")

    def finish(self):
        """Writes the report; returns the archive."""
        written = {
            "report": 1, "ykit": self.version, "started": self.began.isoformat(timespec="seconds"), "finished": self.finished,
            "mode": "read-only" if self.given.read_only else "full", "link": "contactless" if self.given.contactless else "USB or a reader",
            "key": {"name": self.info["name"], "serial": self.serial, "firmware": self.info["firmware"], "formFactor": self.info["formFactor"]},
            "virtualKey": self.like, "applications": self.states, "steps": self.steps}
        return report.write(written, self.folder)

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)
