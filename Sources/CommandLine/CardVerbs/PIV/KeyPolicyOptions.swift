// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKPIV
import YKWire

/// The policies of a new key.
struct KeyPolicyOptions: ParsableArguments {
    @Option(
        "--pin-policy", help: "When the key requires the PIN: default, never, once, always, match-once or match-always."
    )
    var pinPolicy: PINPolicy = .default

    @Option(
        "--touch-policy",
        help: "When the key requires a touch: default, never, always or cached (once in 15 seconds).")
    var touchPolicy: TouchPolicy = .default

    init() {}

    var policies: KeyPolicies { KeyPolicies(pin: pinPolicy, touch: touchPolicy) }

    /// Explains that a key that was just stored has other policies than requested; `nil` if they match or the card does
    /// not report them.
    func problem(of slot: PIVSlot, _ service: PIVService) async -> Explanation? {
        guard pinPolicy != .default || touchPolicy != .default,
            let stored = try? await service.metadata(of: slot)?.policies
        else { return nil }
        var wrong: [String] = []
        if pinPolicy != .default, stored.pin != pinPolicy { wrong.append("PIN \(stored.pin)") }
        if touchPolicy != .default, stored.touch != touchPolicy { wrong.append("touch \(stored.touch)") }
        guard !wrong.isEmpty else { return nil }
        return Explanation(
            "not-applied", .failed,
            "the key is in \(slot), but the card set different policies: \(wrong.listed())",
            hint: "unless these are acceptable, delete it: ykit piv keys delete \(slot)")
    }
}
