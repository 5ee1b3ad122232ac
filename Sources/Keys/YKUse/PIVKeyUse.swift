// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKInteraction
public import YKPIV
import YKTransport

/// A PIV key that is ready for use: the verification that it requires has been performed.
public struct PIVKeyUse: Sendable {
    /// The slot of the key.
    public let slot: PIVSlot
    /// The kind of key.
    public let algorithm: PIVAlgorithm
    /// When it requires a touch; `nil` if the card does not report it.
    public let touch: TouchPolicy?
    /// Its public key, if the card reports it.
    public let key: PublicKey?

    /// Uses the key; the user is told when the key waits for a touch.
    ///
    /// - Parameter body: The exchange that may wait for the touch.
    /// - Throws: `TouchMissed` if the user was told but the key was not touched in time; otherwise the error of `body`.
    public nonisolated(nonsending) func touching<Value>(
        _ person: any Person, _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        guard touch != .never else { return try await body() }
        let wait = person.expectTouch(touch == nil ? .possible : .required)
        defer { wait.end() }
        do { return try await body() } catch let error as PIVError {
            guard touch != nil, wait.isShown, case .card(.link(.timedOut)) = error else { throw error }
            throw TouchMissed()
        }
    }
}
