// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKFIDO

/// Provides the PIN when the key requires it: from the options or the environment, or else from a prompt that shows the
/// remaining retries. A verb asks once and keeps the PIN until it ends.
final class PINSource: Sendable {
    private let source: SecretInput.Source
    private let reason: String
    private let terminal: Terminal
    private let key: String
    private let isPlanned: Bool
    private let state = Mutex<(pin: SharedSecret?, problem: Explanation?)>((nil, nil))

    /// - Parameter key: The words for the key in the prompt.
    init(
        _ source: SecretInput.Source, reason: String, _ terminal: Terminal, of key: String = "the key",
        isPlanned: Bool = false
    ) {
        self.source = source
        self.reason = reason
        self.terminal = terminal
        self.key = key
        self.isPlanned = isPlanned
    }

    /// Whether the PIN is given, so that no prompt is shown.
    var isGiven: Bool { source.isGiven }

    /// Why no PIN is available.
    var problem: Explanation? { state.withLock { $0.problem } }

    /// Returns the PIN that the key requires; `nil` if none is available. A plan sends no PIN, so it asks for none.
    func pin(_ request: PINRequest) -> SharedSecret? {
        if isPlanned { return SharedSecret(Secret(utf8: "plan")) }
        if let known = state.withLock({ $0.pin }) { return known }
        do {
            let pin = try read(request.retries, request.fallback)
            state.withLock { $0.pin = pin }
            return pin
        } catch {
            state.withLock { $0.problem = Explain.explain(error) }
            return nil
        }
    }

    /// Returns the PIN, with the remaining retries known.
    func read(_ retries: PINRetries?, _ fallback: PINRequest.Fallback? = nil) throws -> SharedSecret {
        if let fallback {
            let why = fallback == .blocked ? "is blocked" : "did not recognise you"
            terminal.notice("the key's own verification \(why), the PIN will do")
        }
        switch try SecretInput.given(source, terminal) {
        case .secret(let secret): return SharedSecret(try Self.checked(secret))
        case .none:
            let prompt = try Prompt(orElse: source.hint)
            let left = retries.map { "; \(Tries.next($0.count))" } ?? ""
            prompt.tell("to \(reason), \(key) asks for its PIN\(left)")
            return SharedSecret(try prompt.neededSecret("PIN", "an empty PIN is never sent"))
        }
    }

    private static func checked(_ pin: consuming Secret) throws -> Secret {
        if pin.isEmpty { throw Explanation("pin-empty", .usage, "an empty PIN is never sent") }
        return pin
    }
}
