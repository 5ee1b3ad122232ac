// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOTP

/// The slot that a verb programs, and its access codes.
struct OTPProgramming: ParsableArguments {
    @Argument(help: "The slot, 1 or 2.", transform: OTPSlot.parse)
    var slot: OTPSlot

    @Flag(name: .shortAndLong, help: "Do not ask before a slot is overwritten.")
    var force = false

    @OptionGroup(title: "Access Code Options")
    var code: AccessCodeOptions

    @OptionGroup(title: "New Access Code")
    var newCode: NewAccessCodeOptions

    /// Reads what the slot gets between the access code that it has and the new one: the order in which they come by
    /// standard input.
    func read<Secrets>(in world: World, _ secrets: () throws -> Secrets) throws -> (Secrets, OTPAccess) {
        let current = try code.read(world)
        let secrets = try secrets()
        return (secrets, try newCode.access(from: current, world))
    }

    /// Writes the slot; asks before when it is in use. What was made up for it is put into files before it is written,
    /// and shown afterwards.
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
