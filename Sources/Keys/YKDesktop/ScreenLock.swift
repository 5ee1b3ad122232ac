// SPDX-License-Identifier: Apache-2.0

package import YKHardware
public import YKTransport

/// Whether the screen is locked, according to logind (LockedHint).
public struct ScreenLock: Sendable {
    private let programs: ProgramRunner
    private var next = ContinuousClock.now
    private var isKnownLocked = false
    private var isSilent = false
    /// How long an answer is cached.
    private static let patience = Duration.seconds(1)

    /// Watches the screen of this process's session.
    public init(cancellation: Cancellation = Cancellation()) {
        self.init(.system(cancellation, limit: .seconds(3)))
    }

    package init(_ programs: ProgramRunner) { self.programs = programs }

    /// Queries logind, at most once a second, and not again if it does not answer.
    ///
    /// - Returns: `false` if unknown.
    public mutating func isLocked() -> Bool {
        guard !isSilent else { return false }
        guard next <= .now else { return isKnownLocked }
        next = .now + Self.patience
        guard let gdbus = programs.find("gdbus"),
            let result = try? programs.run(
                gdbus,
                [
                    "call", "--system", "--timeout", "2", "--dest", "org.freedesktop.login1", "--object-path",
                    "/org/freedesktop/login1/session/auto", "--method", "org.freedesktop.DBus.Properties.Get",
                    "org.freedesktop.login1.Session", "LockedHint",
                ], [], [:]), result.status == 0
        else {
            isSilent = true
            return false
        }
        isKnownLocked = String(decoding: result.output, as: UTF8.self).hasPrefix("(<true>")
        return isKnownLocked
    }
}
