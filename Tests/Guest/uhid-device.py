#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A HID device on /dev/uhid with configurable faults, for tests in the guest kernel.

    uhid-device.py [--name NAME] [--serial TEXT] [--usb VVVV:PPPP]… [--kind fido|otp|mouse] [--mood MOOD…]

Prints the path of its node, serves until SIGTERM, and then disappears like an unplugged key. With several --usb it creates
that many devices, which do nothing, and prints a line with path and numbers for each. As a FIDO key it answers INIT, PING,
WINK and CBOR getInfo; makeCredential, getAssertion and selection wait for a touch that never comes, with keepalives, until
they are cancelled. Moods:

    storm        between any two reports of its own it sends sixteen of other channels, and answers to other nonces
    mute         reads everything, answers nothing
    vanish=N     is unplugged when it has read N reports
    vanish-out=N is unplugged when it has sent N reports, in the middle of an answer
    short        sends reports of 7 bytes before its own
"""

import argparse
import glob
import os
import select
import signal
import struct
import sys
import time

DESTROY, OUTPUT, GET_REPORT, GET_REPLY, CREATE2, INPUT2, SET_REPORT, SET_REPLY = 1, 6, 9, 10, 11, 12, 13, 14
EVENT = 4380
FIDO = "06d0f10901a1010920150026ff007508954081020921150026ff00750895409102c0"
OTP = ("05010906a101050719e029e71500250175019508810295017508810195057501050819012905910295017503910195067508"
       "150025650507190029658100090375089508b102c0")
MOUSE = "05010902a1010901a100050919012903150025019503750181029501750581030501093009311581257f750895028106c0c0"
KINDS = {"fido": FIDO, "otp": OTP, "mouse": MOUSE}
BROADCAST = b"\xff\xff\xff\xff"
INIT, PING, MSG, WINK, CBOR, CANCEL, KEEPALIVE, ERROR = 0x86, 0x81, 0x83, 0x88, 0x90, 0x91, 0xBB, 0xBF
# versions, extensions, AAGUID, options: two reports
INFO = (bytes.fromhex("00a4" "0182665532465f5632684649444f5f325f30") + b"\x02\x82\x6bhmac-secret\x6clargeBlobKey"
        + bytes.fromhex("0350" + "11" * 16 + "04a1627570f5"))

TOUCHED = (b"\x01", b"\x02", b"\x0b")


class Gone(Exception):
    """The device was unplugged as requested."""


class Device:
    def __init__(self, options, usb):
        self.moods = dict(mood.partition("=")[::2] for mood in options.mood)
        self.kind = options.kind
        self.node = os.open("/dev/uhid", os.O_RDWR | os.O_CLOEXEC)
        self.feature = bytes(8)
        self.channels, self.read_reports, self.sent_reports = 0, 0, 0
        self.pending, self.waiting = None, None
        self.path = self.create(options, usb)

    def create(self, options, usb):
        descriptor = bytes.fromhex(KINDS[options.kind])
        vendor, product = (int(part, 16) for part in usb.split(":"))
        before = set(glob.glob("/dev/hidraw*"))
        text = struct.pack("<128s64s64s", options.name.encode(), options.phys.encode(), options.serial.encode())
        numbers = struct.pack("<HHIIII", len(descriptor), 3, vendor, product, 0x0540, 0)
        self.event(CREATE2, text + numbers + descriptor)
        while not (new := set(glob.glob("/dev/hidraw*")) - before):
            time.sleep(0.005)
        return new.pop()

    def event(self, kind, body):
        os.write(self.node, struct.pack("<I", kind) + body)

    def unplug(self):
        self.event(DESTROY, b"")
        raise Gone

    def put(self, report):
        self.event(INPUT2, struct.pack("<H", len(report)) + report)

    def deliver(self, report):
        if "short" in self.moods:
            self.put(report[:7])
        if "storm" in self.moods:
            for number in range(8):
                self.put((bytes([0x77, 0, 0, number]) + bytes([PING, 0x1D, 0xB9])).ljust(64, b"\x55"))
                self.put((BROADCAST + bytes([INIT, 0, 17]) + bytes([number]) * 17).ljust(64, b"\0"))
        self.put(report.ljust(64, b"\0"))
        self.sent_reports += 1
        if self.sent_reports == int(self.moods.get("vanish-out", -1)):
            self.unplug()

    def answer(self, channel, command, payload):
        self.deliver(channel + bytes([command]) + struct.pack(">H", len(payload)) + payload[:57])
        for number, start in enumerate(range(57, len(payload), 59)):
            self.deliver(channel + bytes([number]) + payload[start:start + 59])

    def report(self, report):
        self.read_reports += 1
        if self.read_reports == int(self.moods.get("vanish", -1)):
            self.unplug()
        if "mute" in self.moods or len(report) < 7:
            return
        channel = report[:4]
        if report[4] & 0x80:
            self.pending = (channel, report[4], struct.unpack(">H", report[5:7])[0], report[7:])
        elif self.pending and self.pending[0] == channel:
            self.pending = (*self.pending[:3], self.pending[3] + report[5:])
        if self.pending and len(self.pending[3]) >= self.pending[2]:
            channel, command, length, payload = self.pending
            self.pending = None
            self.message(channel, command, payload[:length])

    def message(self, channel, command, payload):
        if command == INIT:
            self.channels += 1
            number = channel if channel != BROADCAST else bytes([0x10, 0, 0, self.channels])
            self.answer(channel, INIT, payload[:8] + number + bytes([2, 5, 4, 3, 0x05]))
        elif command in (PING, WINK):
            self.answer(channel, command, payload)
        elif command == CBOR and payload == b"\x04":
            self.answer(channel, CBOR, INFO)
        elif command == CBOR and payload[:1] in TOUCHED:
            self.waiting = channel
        elif command == CBOR:
            self.answer(channel, CBOR, b"\x01")
        elif command == CANCEL:
            if self.waiting == channel:
                self.waiting = None
                self.answer(channel, CBOR, b"\x2d")
        else:
            self.answer(channel, ERROR, b"\x01")

    def turn(self):
        if not select.select([self.node], [], [], 0.1 if self.waiting else None)[0]:
            self.answer(self.waiting, KEEPALIVE, b"\x02")
            return
        event = os.read(self.node, EVENT)
        kind = struct.unpack_from("<I", event)[0]
        if kind == OUTPUT:
            size = struct.unpack_from("<H", event, 4 + 4096)[0]
            self.report(event[5:4 + size])  # without the report number
        elif kind == GET_REPORT:
            number = struct.unpack_from("<I", event, 4)[0]
            self.event(GET_REPLY, struct.pack("<IHH", number, 0, len(self.feature)) + self.feature)
        elif kind == SET_REPORT:
            number, _, _, size = struct.unpack_from("<IBBH", event, 4)
            self.feature = event[12:12 + size][-8:].rjust(8, b"\0")
            self.event(SET_REPLY, struct.pack("<IH", number, 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="Acme FIDO Key")
    parser.add_argument("--serial", default="")
    parser.add_argument("--phys", default="")
    parser.add_argument("--usb", action="append", metavar="VVVV:PPPP")
    parser.add_argument("--kind", choices=KINDS, default="fido")
    parser.add_argument("--mood", action="append", default=[])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    options = parser.parse_args()
    numbers = options.usb or ["1050:0120"]
    devices = [Device(options, usb) for usb in numbers]
    if len(devices) > 1:
        print("\n".join(f"{device.path} {usb}" for device, usb in zip(devices, numbers, strict=True)), flush=True)
        signal.pause()
    device = devices[0]
    print(device.path, flush=True)
    try:
        while True:
            device.turn()
    except Gone:
        pass


main()
