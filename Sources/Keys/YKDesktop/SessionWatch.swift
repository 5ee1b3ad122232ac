// SPDX-License-Identifier: Apache-2.0

import CDBus
import YKTransport

/// Why a user is not at their session, according to logind.
package enum SessionAbsence: Hashable, Sendable {
    /// The screen is locked.
    case locked
    /// Another session is in front.
    case inactive
    /// The machine is about to sleep.
    case asleep

    fileprivate init?(_ state: ykit_session) {
        if state.is_asleep != 0 {
            self = .asleep
        } else if state.is_locked != 0 {
            self = .locked
        } else if state.is_inactive != 0 {
            self = .inactive
        } else {
            return nil
        }
    }
}

/// Follows whether the user is at the session of this process, or at their graphical one, by logind's signals.
package final class SessionWatch: Sendable {
    private nonisolated(unsafe) let bus: OpaquePointer
    private let ended = Semaphore()

    private final class Listener {
        let changed: (SessionAbsence?) -> Void

        init(_ changed: @escaping (SessionAbsence?) -> Void) { self.changed = changed }
    }

    /// Whether sessions can be followed: libsystemd is installed.
    package static var isAvailable: Bool { ykit_dbus() == 1 }

    /// Starts to follow the session on a thread of its own; `nil` without libsystemd.
    ///
    /// - Parameters:
    ///   - changed: Called on that thread at once and after each change: why the user is away, `nil` if they are there.
    ///   - failed: Called instead if there is no system bus, no logind or no session.
    package init?(
        _ changed: @escaping @Sendable (SessionAbsence?) -> Void, failed: @escaping @Sendable () -> Void = {}
    ) {
        guard ykit_dbus() == 1, let bus = ykit_bus_new(1) else { return nil }
        self.bus = bus
        let ended = ended
        nonisolated(unsafe) let followed = bus
        let isStarted = SystemThread.start {
            let listener = Listener(changed)
            let result = withExtendedLifetime(listener) {
                ykit_bus_follow(
                    followed,
                    { state, context in
                        guard let context else { return }
                        Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue().changed(SessionAbsence(state))
                    }, Unmanaged.passUnretained(listener).toOpaque())
            }
            if result != 0 { failed() }
            ended.post()
        }
        if !isStarted { ended.post() }
    }

    deinit {
        ykit_bus_end(bus)
        ended.wait()
        ykit_bus_free(bus)
    }
}
