// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Sets the number of PIN and PUK retries.
struct PIVSetRetries: Verb {
    static let about = About(
        "set-retries", "Set the number of retries of PIN and PUK, 1 to 255 each.",
        discussion: """
            PIN and PUK become those of a new key, 123456 and 12345678: change both afterwards. The PIN and the \
            management key are needed.
            """, members: ["pinRetries", "pukRetries"])

    @Argument(help: ArgumentHelp("Retries of the PIN.", valueName: "pin-tries")) var pinTries: Int

    @Argument(help: ArgumentHelp("Retries of the PUK.", valueName: "puk-tries")) var pukTries: Int

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var force = false

    @OptionGroup var pin: PINOptions
    @OptionGroup var managementKey: ManagementKeyOptions

    func check() throws {
        guard (1...255).contains(pinTries), (1...255).contains(pukTries) else {
            throw UsageError("PIN and PUK have 1 to 255 tries")
        }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        if !force, world.plan == nil {
            try Prompt.confirm("this makes the PIN 123456 and the PUK 12345678 again; go on?")
        }
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: "set the tries")
        try await unlocking.verify(for: "set the tries")
        try await service.setRetries(pin: pinTries, puk: pukTries)
        var answer = Answer(
            "the PIN has \(pinTries) tries, the PUK \(pukTries)",
            ["pinRetries": .int(Int64(pinTries)), "pukRetries": .int(Int64(pukTries))])
        answer.warnings = [
            "PIN and PUK have their default values now; change them with 'ykit piv access change-pin' and 'change-puk'"
        ]
        return answer
    }
}
