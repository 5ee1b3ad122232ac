// SPDX-License-Identifier: Apache-2.0
// The desktop's notifications, and the session and the lock of the screen, over D-Bus by libsystemd's sd-bus, which is loaded on the first
// call. A connection may be used by several threads.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Whether libsystemd.so.0 is installed.
int ykit_dbus(void);

typedef struct ykit_bus ykit_bus;

// A connection to the bus of the session or of the system, opened when it is first used; NULL without memory.
ykit_bus *ykit_bus_new(int is_system);
// Only after ykit_bus_listen has returned.
void ykit_bus_free(ykit_bus *bus);

// Shows a notification (org.freedesktop.Notifications) and returns its number, or 0. `actions` has the names and labels of
// the buttons in turn and ends with NULL; the notification expires after `milliseconds`, or never if that is 0.
uint32_t ykit_bus_notify(
    ykit_bus *bus, const char *title, const char *body, const char *const *actions, int32_t milliseconds);
void ykit_bus_close_notification(ykit_bus *bus, uint32_t number);

// Makes ykit_bus_listen report buttons that are pressed from now on; returns 0 on success.
int ykit_bus_watch(ykit_bus *bus);
// Reports each button of the service that shows the notifications, until ykit_bus_end is called, or the connection ends.
void ykit_bus_listen(ykit_bus *bus, void (*pressed)(uint32_t number, const char *action, void *context), void *context);
void ykit_bus_end(ykit_bus *bus);

// What logind says of a session; each is 0 if unknown.
typedef struct {
    // Whether the screen is locked, or a lock was asked for.
    int is_locked;
    // Whether another session is in front.
    int is_inactive;
    // Whether the machine is about to sleep.
    int is_asleep;
} ykit_session;

// Reports the state of this process's session, or of the user's graphical one, at once and whenever it changes, until
// ykit_bus_end is called, or the connection ends. Returns -1 without a session.
int ykit_bus_follow(ykit_bus *bus, void (*changed)(ykit_session state, void *context), void *context);

// Whether the screen of this process's session is locked, according to logind (LockedHint); -1 if unknown.
int ykit_bus_is_locked(ykit_bus *bus);
