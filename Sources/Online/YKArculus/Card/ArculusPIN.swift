// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKCrypto
public import YKFIDO

/// The source of an operation's PIN.
public struct ArculusPIN: Sendable {
    /// Minimum PIN length of an Arculus card; CTAP alone requires four (Arculus SDK).
    public static let shortest = 6

    let give: @Sendable (PINRequest) async throws(ArculusError) -> SharedSecret?
    /// Called once the card has checked the PIN: with `nil` if it accepted it.
    let outcome: @Sendable (FIDOError?) -> Void

    /// Creates a source with a known PIN.
    ///
    /// - Throws: `unsuitablePIN` if an Arculus card cannot have it, so that no retry is lost.
    public init(_ pin: SharedSecret) throws(ArculusError) {
        try Self.checkLength(pin)
        give = { _ throws(ArculusError) in pin }
        outcome = { _ in }
    }

    /// Requests the PIN when the card requires it, with the remaining retries; `nil` cancels. No other caller can use
    /// the card meanwhile.
    ///
    /// - Parameter outcome: Called once the card has checked the PIN: with `nil` if it accepted it, otherwise with the
    ///   error.
    public init(
        asking: @escaping @Sendable (PINRequest) async -> SharedSecret?,
        outcome: @escaping @Sendable (FIDOError?) -> Void = { _ in }
    ) {
        self.outcome = outcome
        give = { request async throws(ArculusError) in
            guard let pin = await asking(request) else { return nil }
            try Self.checkLength(pin)
            return pin
        }
    }

    /// Refuses a PIN that is too short for an Arculus card.
    static func checkLength(_ pin: SharedSecret) throws(ArculusError) {
        let count = PINText(pin.value).codePoints
        guard count >= shortest else { throw .unsuitablePIN(.tooShort(count)) }
    }

    /// Refuses an invalid new PIN; it must have six digits or more.
    public static func checkNew(_ pin: SharedSecret) throws(ArculusError) {
        try checkLength(pin)
        let isDigits = pin.value.withBytes { $0.allSatisfy { (0x30...0x39).contains($0) } }
        guard isDigits else { throw .unsuitablePIN(.notDigits) }
    }
}

/// Sends the PIN of one operation, and resends it after the card was lost only if the retry counter shows that the
/// first attempt did not use up a retry.
final class PINGuard: Sendable {
    private struct State {
        var pin: SharedSecret?
        var retries: PINRetries?
        var problem: ArculusError?
    }

    private let source: ArculusPIN
    private let state = Mutex(State())

    init(_ source: ArculusPIN) { self.source = source }

    /// Records the card's answer to the PIN.
    func takeNote(_ error: FIDOError?) { source.outcome(error) }

    /// Why no PIN was given.
    var problem: ArculusError? { state.withLock { $0.problem } }

    /// The PIN for the card's request; `nil` if there is none, or it is not sent again.
    func pin(_ request: PINRequest) async -> SharedSecret? {
        let known = state.withLock { ($0.pin, $0.retries) }
        if let pin = known.0, let before = known.1 {
            // A card decrements the counter before it checks the PIN, and restores it if the PIN is right.
            if let left = request.retries, left.count >= before.count { return pin }
            state.withLock { $0.problem = .pinInDoubt(request.retries ?? before) }
            return nil
        }
        do throws(ArculusError) {
            let pin = try await source.give(request)
            state.withLock { ($0.pin, $0.retries) = (pin, request.retries) }
            return pin
        } catch {
            state.withLock { $0.problem = error }
            return nil
        }
    }
}
