// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKFIDO

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
