// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV

/// The policies of a new key.
struct KeyPolicyOptions: ParsableArguments {
    @Option(help: "When the key needs the PIN: default, never, once, always, match-once or match-always.")
    var pinPolicy: PINPolicy = .usual

    @Option(help: "When the key needs a touch: default, never, always or cached, which is once in 15 seconds.")
    var touchPolicy: TouchPolicy = .usual

    var policies: KeyPolicies { KeyPolicies(pin: pinPolicy, touch: touchPolicy) }

    /// Explains that a key that was just stored has other policies than requested; `nil` if they match or the card does
    /// not report them.
    func problem(of slot: PIVSlot, _ service: PIVService) async -> Explanation? {
        guard pinPolicy != .usual || touchPolicy != .usual,
            let stored = try? await service.metadata(of: slot)?.policies
        else { return nil }
        var wrong: [String] = []
        if pinPolicy != .usual, stored.pin != pinPolicy { wrong.append("PIN \(stored.pin)") }
        if touchPolicy != .usual, stored.touch != touchPolicy { wrong.append("touch \(stored.touch)") }
        guard !wrong.isEmpty else { return nil }
        return Explanation(
            "not-applied", .failed,
            "the key is in \(slot), but the card set other policies: \(wrong.joined(separator: ", "))",
            hint: "delete it, unless these will do: ykit piv keys delete \(slot)")
    }
}
