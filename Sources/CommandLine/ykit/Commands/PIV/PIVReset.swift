// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKKeys
import YKPIV
import YKTransport
import YKWire

/// Deletes all data of the PIV application.
struct PIVReset: Verb {
    static let about = About(
        "reset",
        "Delete all PIV keys, certificates and objects, and restore the default PIN and PUK.",
        discussion: """
            The card allows it only when PIN and PUK are blocked, so all their retries are used up first. Afterwards \
            the PIN is 123456, the PUK 12345678, and the management key the default. The attestation key in f9 stays. \
            Neither PIN nor management key is required. Other applications of the key are not changed.
            """, members: ["reset"])

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var force = false

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        if let plan = world.plan { return try await describe(plan, service) }
        if !force {
            try Prompt.confirm(
                typing: "reset",
                "this blocks PIN and PUK, then deletes all PIV keys, certificates and objects of this key for good")
        }
        try await service.reset()
        var answer = Answer("all PIV keys and certificates are deleted", ["reset": true])
        answer.warnings = ["PIN, PUK and management key have their default values now"]
        return answer
    }

    /// Describes the attempts with wrong codes in a plan, since their number depends on the card.
    private func describe(_ plan: ExchangePlan, _ service: PIVService) async throws -> Answer {
        for name in ["VERIFY the PIN", "CHANGE REFERENCE DATA of the PUK"] {
            plan.add(
                .init(command: [], summary: name + " with wrong ones, until it is blocked", details: [], isSent: false))
        }
        try await service.resetBlocked()
        return Answer()
    }
}
