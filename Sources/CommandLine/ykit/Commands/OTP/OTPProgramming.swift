// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOTP

/// The slot to program, and its access codes.
struct OTPProgramming: ParsableArguments {
    @Argument(help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Flag(name: .shortAndLong, help: "Do not ask before a slot is overwritten.") var force = false

    @OptionGroup var code: AccessCodeOptions
    @OptionGroup var newCode: NewAccessCodeOptions

    /// Reads the current access code, the slot's secrets and the new access code, in the order in which standard input
    /// provides them.
    func read<Secrets>(in world: World, _ secrets: () throws -> Secrets) throws -> (Secrets, OTPAccess) {
        let current = try code.read(world)
        let secrets = try secrets()
        return (secrets, try newCode.access(from: current, world))
    }

    /// Programs the slot, and asks first if it is in use. Generated secrets are saved to files before that, and shown
    /// afterwards.
    func write(
        _ content: OTPSlotContent, _ settings: OTPSettings? = nil, access: OTPAccess, to service: OTPService,
        in world: World, disclosing made: () throws -> [Disclosure]
    ) async throws {
        try await world.confirm(writing: slot, of: service, force: force)
        let made = world.plan == nil ? try made() : []
        try await service.program(slot, content, settings, access: access)
        for secret in made { try secret.show() }
    }
}
