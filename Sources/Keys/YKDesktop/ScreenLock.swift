// SPDX-License-Identifier: Apache-2.0

/// Whether the screen is locked, according to logind (LockedHint).
public struct ScreenLock: Sendable {
    private let query: @Sendable () -> Bool?
    private var next = ContinuousClock.now
    private var isKnownLocked = false
    private var isSilent = false
    /// How long an answer is cached.
    private static let patience = Duration.seconds(1)

    /// Watches the screen of this process's session.
    public init() {
        let bus = MessageBus(isOfSystem: true)
        self.init { bus?.isLocked() }
    }

    /// Watches what a function says: `nil` if unknown.
    init(_ query: @escaping @Sendable () -> Bool?) { self.query = query }

    /// Queries logind, at most once a second, and not again if it does not answer.
    ///
    /// - Returns: `false` if unknown.
    public mutating func isLocked() -> Bool {
        guard !isSilent else { return false }
        guard next <= .now else { return isKnownLocked }
        next = .now + Self.patience
        guard let isLocked = query() else {
            isSilent = true
            return false
        }
        isKnownLocked = isLocked
        return isLocked
    }
}
