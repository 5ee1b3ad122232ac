#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""logind.py FIFO: plays systemd-logind, with one session, on the bus of DBUS_SYSTEM_BUS_ADDRESS. Lines of the FIFO change what it
says: lock, unlock (with LockedHint), asked, answered (the signals Lock and Unlock alone), inactive, active, sleep, wake."""
import sys
import threading

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_call, new_method_return, new_signal
from jeepney.io.blocking import open_dbus_connection

NAME, PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
SESSION = PATH + "/session/_31"
state = {"LockedHint": False, "Active": True}
connection = open_dbus_connection("SYSTEM")
bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
connection.send_and_get_reply(new_method_call(bus, "RequestName", "su", (NAME, 4)))
print("ready", flush=True)


def signal(path, interface, member, signature=None, body=()):
    connection.send(new_signal(DBusAddress(path, interface=interface), member, signature, body))


def changed(name, value):
    state[name] = value
    body = (NAME + ".Session", {name: ("b", value)}, [])
    signal(SESSION, "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as", body)


def obey():
    with open(sys.argv[1]) as lines:
        for line in lines:
            match line.strip():
                case "lock":
                    signal(SESSION, NAME + ".Session", "Lock")
                    changed("LockedHint", True)
                case "unlock":
                    signal(SESSION, NAME + ".Session", "Unlock")
                    changed("LockedHint", False)
                case "asked":
                    signal(SESSION, NAME + ".Session", "Lock")
                case "answered":
                    signal(SESSION, NAME + ".Session", "Unlock")
                case "inactive":
                    changed("Active", False)
                case "active":
                    changed("Active", True)
                case "sleep":
                    signal(PATH, NAME + ".Manager", "PrepareForSleep", "b", (True,))
                case "wake":
                    signal(PATH, NAME + ".Manager", "PrepareForSleep", "b", (False,))


threading.Thread(target=obey, daemon=True).start()
while True:
    message = connection.receive()
    if message.header.message_type != MessageType.method_call:
        continue
    fields = message.header.fields
    match fields[HeaderFields.member], message.body:
        case "GetSession", ("auto",):
            connection.send(new_method_return(message, "o", (SESSION,)))
        case "Get", (_, name) if name in state and fields[HeaderFields.path] == SESSION:
            connection.send(new_method_return(message, "v", (("b", state[name]),)))
        case _:
            connection.send(new_error(message, "org.freedesktop.DBus.Error.UnknownMethod"))
