// SPDX-License-Identifier: Apache-2.0
#include "CDBus.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// sd-bus's interface (systemd/sd-bus.h, since 237).
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef int (*sd_bus_handler)(sd_bus_message *, void *context, void *error);
int sd_bus_open_user(sd_bus **);
int sd_bus_open_system(sd_bus **);
sd_bus *sd_bus_flush_close_unref(sd_bus *);
int sd_bus_match_signal(
    sd_bus *, void *slot, const char *sender, const char *path, const char *interface, const char *member, sd_bus_handler,
    void *context);
int sd_bus_message_new_method_call(
    sd_bus *, sd_bus_message **, const char *name, const char *path, const char *interface, const char *member);
int sd_bus_message_append(sd_bus_message *, const char *types, ...);
int sd_bus_message_append_strv(sd_bus_message *, char **);
int sd_bus_message_read(sd_bus_message *, const char *types, ...);
const char *sd_bus_message_get_sender(sd_bus_message *);
const char *sd_bus_message_get_member(sd_bus_message *);
sd_bus_message *sd_bus_message_unref(sd_bus_message *);
int sd_bus_call(sd_bus *, sd_bus_message *, uint64_t microseconds, void *error, sd_bus_message **reply);
int sd_bus_process(sd_bus *, sd_bus_message **);
int sd_bus_get_fd(sd_bus *);
int sd_bus_get_events(sd_bus *);
int sd_bus_get_timeout(sd_bus *, uint64_t *microseconds);

#define FUNCTIONS(X)                                                                                                  \
    X(sd_bus_open_user) X(sd_bus_open_system) X(sd_bus_flush_close_unref) X(sd_bus_match_signal)                      \
    X(sd_bus_message_new_method_call) X(sd_bus_message_append) X(sd_bus_message_append_strv) X(sd_bus_message_read)   \
    X(sd_bus_message_get_sender) X(sd_bus_message_get_member) X(sd_bus_message_unref) X(sd_bus_call) X(sd_bus_process) \
    X(sd_bus_get_fd) X(sd_bus_get_events) X(sd_bus_get_timeout)

static struct {
#define FIELD(name) __typeof__(&name) name;
    FUNCTIONS(FIELD)
#undef FIELD
} lib;

static int is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *image = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!image) return;
#define LOAD(name)                                                                                                    \
    if (!(lib.name = (__typeof__(&name))dlsym(image, #name))) return;
    FUNCTIONS(LOAD)
#undef LOAD
    is_loaded = 1;
}

int ykit_dbus(void) {
    pthread_once(&once, load);
    return is_loaded;
}

#define NOTIFICATIONS "org.freedesktop.Notifications"
#define NOTIFICATIONS_PATH "/org/freedesktop/Notifications"

struct ykit_bus {
    // Held while the connection is used, which is not for several threads at once.
    pthread_mutex_t lock;
    sd_bus *connection;
    int is_system;
    // Wakes the thread that listens.
    int wake;
    int is_ended;
    // The unique name of the service that shows the notifications. Anyone can send a signal to this connection.
    char service[256];
    // The last button.
    uint32_t number;
    char action[64];
    // What logind says: the last signal and its sender, and the state of the session.
    enum { NO_SIGNAL, LOCK, UNLOCK, SLEEP, WAKE_UP, CHANGE } signal;
    char sender[256];
    char session[256];
    ykit_session state;
    // LockedHint, and a lock that was asked for without it.
    int is_hinted, is_asked;
};

ykit_bus *ykit_bus_new(int is_system) {
    ykit_bus *bus = calloc(1, sizeof *bus);
    if (!bus) return NULL;
    bus->is_system = is_system;
    bus->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&bus->lock, NULL);
    return bus;
}

void ykit_bus_free(ykit_bus *bus) {
    if (bus->connection) lib.sd_bus_flush_close_unref(bus->connection);
    if (bus->wake >= 0) close(bus->wake);
    pthread_mutex_destroy(&bus->lock);
    free(bus);
}

// Opens the connection; it must be locked.
static sd_bus *connected(ykit_bus *bus) {
    if (!bus->connection && ykit_dbus()) {
        int result = bus->is_system ? lib.sd_bus_open_system(&bus->connection) : lib.sd_bus_open_user(&bus->connection);
        if (result < 0) bus->connection = NULL;
    }
    return bus->connection;
}

static void wake(ykit_bus *bus) {
    uint64_t one = 1;
    if (write(bus->wake, &one, sizeof one) < 0) return;
}

// A call of a method; the caller appends its arguments.
static sd_bus_message *method(ykit_bus *bus, const char *name, const char *path, const char *interface, const char *member) {
    sd_bus_message *message = NULL;
    if (!connected(bus) || lib.sd_bus_message_new_method_call(bus->connection, &message, name, path, interface, member) < 0)
        return NULL;
    return message;
}

// Sends a call and returns its reply, or NULL.
static sd_bus_message *reply(ykit_bus *bus, sd_bus_message *call, unsigned seconds) {
    sd_bus_message *reply = NULL;
    if (lib.sd_bus_call(bus->connection, call, seconds * 1000000ull, NULL, &reply) < 0) return NULL;
    return reply;
}

static void drop(sd_bus_message *message) {
    if (message) lib.sd_bus_message_unref(message);
}

uint32_t ykit_bus_notify(
    ykit_bus *bus, const char *title, const char *body, const char *const *actions, int32_t milliseconds) {
    uint32_t number = 0;
    sd_bus_message *answer = NULL;
    pthread_mutex_lock(&bus->lock);
    sd_bus_message *call = method(bus, NOTIFICATIONS, NOTIFICATIONS_PATH, NOTIFICATIONS, "Notify");
    if (call && lib.sd_bus_message_append(call, "susss", "ykit", 0, "dialog-password", title, body) >= 0
        && lib.sd_bus_message_append_strv(call, (char **)actions) >= 0
        && lib.sd_bus_message_append(call, "a{sv}i", 1, "urgency", "y", 2, milliseconds) >= 0
        && (answer = reply(bus, call, 5)) && lib.sd_bus_message_read(answer, "u", &number) < 0)
        number = 0;
    const char *sender = answer ? lib.sd_bus_message_get_sender(answer) : NULL;
    if (number && sender) snprintf(bus->service, sizeof bus->service, "%s", sender);
    drop(answer);
    drop(call);
    // Signals may have arrived before the reply.
    wake(bus);
    pthread_mutex_unlock(&bus->lock);
    return number;
}

void ykit_bus_close_notification(ykit_bus *bus, uint32_t number) {
    pthread_mutex_lock(&bus->lock);
    sd_bus_message *call = method(bus, NOTIFICATIONS, NOTIFICATIONS_PATH, NOTIFICATIONS, "CloseNotification");
    if (call && lib.sd_bus_message_append(call, "u", number) >= 0) drop(reply(bus, call, 5));
    drop(call);
    wake(bus);
    pthread_mutex_unlock(&bus->lock);
}

static int take_button(sd_bus_message *message, void *context, void *error) {
    (void)error;
    ykit_bus *bus = context;
    const char *sender = lib.sd_bus_message_get_sender(message), *action = NULL;
    uint32_t number = 0;
    if (!sender || strcmp(sender, bus->service) || lib.sd_bus_message_read(message, "us", &number, &action) < 0) return 0;
    bus->number = number;
    snprintf(bus->action, sizeof bus->action, "%s", action);
    return 0;
}

int ykit_bus_watch(ykit_bus *bus) {
    pthread_mutex_lock(&bus->lock);
    int result = connected(bus)
        ? lib.sd_bus_match_signal(
            bus->connection, NULL, NOTIFICATIONS, NOTIFICATIONS_PATH, NOTIFICATIONS, "ActionInvoked", take_button, bus)
        : -1;
    pthread_mutex_unlock(&bus->lock);
    return result < 0 ? -1 : 0;
}

// Processes one message and returns 1, or returns 0 and what to wait for, or -1 at the end.
static int step(ykit_bus *bus, struct pollfd *file, uint64_t *until) {
    bus->number = 0;
    int result = bus->is_ended ? -1 : lib.sd_bus_process(bus->connection, NULL);
    if (result != 0) return result < 0 ? -1 : 1;
    int events = lib.sd_bus_get_events(bus->connection);
    if (events < 0 || lib.sd_bus_get_timeout(bus->connection, until) < 0) return -1;
    *file = (struct pollfd){lib.sd_bus_get_fd(bus->connection), (short)events, 0};
    return 0;
}

// The milliseconds until a time of the monotonic clock; -1 without end.
static int left(uint64_t until) {
    if (until == UINT64_MAX) return -1;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t elapsed = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    return until <= elapsed ? 0 : (int)((until - elapsed) / 1000 + 1);
}

void ykit_bus_listen(ykit_bus *bus, void (*pressed)(uint32_t number, const char *action, void *context), void *context) {
    for (;;) {
        struct pollfd files[2];
        uint64_t until = UINT64_MAX;
        char action[sizeof bus->action];
        pthread_mutex_lock(&bus->lock);
        int result = connected(bus) ? step(bus, files, &until) : -1;
        uint32_t number = bus->number;
        memcpy(action, bus->action, sizeof action);
        pthread_mutex_unlock(&bus->lock);
        if (result < 0) return;
        if (number) pressed(number, action, context);
        if (result > 0) continue;
        files[1] = (struct pollfd){bus->wake, POLLIN, 0};
        poll(files, 2, left(until));
        uint64_t count;
        if (files[1].revents && read(bus->wake, &count, sizeof count) < 0) continue;
    }
}

void ykit_bus_end(ykit_bus *bus) {
    pthread_mutex_lock(&bus->lock);
    bus->is_ended = 1;
    pthread_mutex_unlock(&bus->lock);
    wake(bus);
}

#define LOGIND "org.freedesktop.login1"
#define LOGIND_PATH "/org/freedesktop/login1"
#define SESSION LOGIND ".Session"
#define PROPERTIES "org.freedesktop.DBus.Properties"

// A property of a session that is true or false; -1 if unknown. The bus must be locked.
static int session_property(ykit_bus *bus, const char *session, const char *name) {
    int value = 0, is_known = 0;
    sd_bus_message *answer = NULL;
    sd_bus_message *call = method(bus, LOGIND, session, PROPERTIES, "Get");
    if (call && lib.sd_bus_message_append(call, "ss", SESSION, name) >= 0 && (answer = reply(bus, call, 2)))
        is_known = lib.sd_bus_message_read(answer, "v", "b", &value) >= 0;
    // Only logind's signals count.
    const char *sender = is_known ? lib.sd_bus_message_get_sender(answer) : NULL;
    if (sender) snprintf(bus->service, sizeof bus->service, "%s", sender);
    drop(answer);
    drop(call);
    return is_known ? value != 0 : -1;
}

int ykit_bus_is_locked(ykit_bus *bus) {
    pthread_mutex_lock(&bus->lock);
    int result = session_property(bus, LOGIND_PATH "/session/auto", "LockedHint");
    pthread_mutex_unlock(&bus->lock);
    return result;
}

static int take_signal(sd_bus_message *message, void *context, void *error) {
    (void)error;
    ykit_bus *bus = context;
    const char *sender = lib.sd_bus_message_get_sender(message), *member = lib.sd_bus_message_get_member(message);
    int begins = 0;
    if (!sender || !member) return 0;
    snprintf(bus->sender, sizeof bus->sender, "%s", sender);
    bus->signal = CHANGE;
    if (!strcmp(member, "Lock")) bus->signal = LOCK;
    if (!strcmp(member, "Unlock")) bus->signal = UNLOCK;
    if (!strcmp(member, "PrepareForSleep") && lib.sd_bus_message_read(message, "b", &begins) >= 0)
        bus->signal = begins ? SLEEP : WAKE_UP;
    return 0;
}

// Finds this process's session, or the user's, and asks for its signals.
static int find_session(ykit_bus *bus) {
    const char *path = NULL;
    sd_bus_message *answer = NULL, *call = method(bus, LOGIND, LOGIND_PATH, LOGIND ".Manager", "GetSession");
    if (call && lib.sd_bus_message_append(call, "s", "auto") >= 0 && (answer = reply(bus, call, 5))
        && lib.sd_bus_message_read(answer, "o", &path) >= 0)
        snprintf(bus->session, sizeof bus->session, "%s", path);
    drop(answer);
    drop(call);
    if (!path) return -1;
    struct { const char *path, *interface, *member; } wanted[] = {
        {bus->session, SESSION, "Lock"},
        {bus->session, SESSION, "Unlock"},
        {bus->session, PROPERTIES, "PropertiesChanged"},
        {LOGIND_PATH, LOGIND ".Manager", "PrepareForSleep"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (lib.sd_bus_match_signal(
                bus->connection, NULL, LOGIND, wanted[i].path, wanted[i].interface, wanted[i].member, take_signal, bus)
            < 0)
            return -1;
    return 0;
}

// Brings the state up to date after a signal.
static void look(ykit_bus *bus, int signal) {
    int is_hinted = session_property(bus, bus->session, "LockedHint");
    int is_active = session_property(bus, bus->session, "Active");
    // Anybody can send a signal to this connection.
    if (signal != CHANGE && strcmp(bus->sender, bus->service)) signal = CHANGE;
    if (signal == LOCK) bus->is_asked = 1;
    if (signal == UNLOCK || (bus->is_hinted && !is_hinted)) bus->is_asked = 0;
    if (signal == SLEEP || signal == WAKE_UP) bus->state.is_asleep = signal == SLEEP;
    bus->is_hinted = is_hinted == 1;
    bus->state.is_locked = bus->is_hinted || bus->is_asked;
    bus->state.is_inactive = is_active == 0;
}

int ykit_bus_follow(ykit_bus *bus, void (*changed)(ykit_session state, void *context), void *context) {
    pthread_mutex_lock(&bus->lock);
    int is_found = connected(bus) && find_session(bus) == 0;
    int signal = CHANGE;
    pthread_mutex_unlock(&bus->lock);
    if (!is_found) return -1;
    for (;;) {
        struct pollfd files[2];
        uint64_t until = UINT64_MAX;
        pthread_mutex_lock(&bus->lock);
        ykit_session before = bus->state;
        int is_first = signal == CHANGE && !bus->service[0];
        if (signal) look(bus, signal);
        bus->signal = NO_SIGNAL;
        int result = step(bus, files, &until);
        signal = bus->signal;
        ykit_session state = bus->state;
        pthread_mutex_unlock(&bus->lock);
        if (is_first || memcmp(&before, &state, sizeof state)) changed(state, context);
        if (result < 0) return 0;
        if (result > 0) continue;
        files[1] = (struct pollfd){bus->wake, POLLIN, 0};
        poll(files, 2, left(until));
        uint64_t count;
        if (files[1].revents && read(bus->wake, &count, sizeof count) < 0) continue;
    }
}
