// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKFIDO
import YKProtocols
import YKWire

/// Commands for the PIN.
struct FIDO2PIN: ParsableCommand {
    static let about = About(
        "pin", "Manage the PIN of the FIDO application.",
        subcommands: [FIDO2PINSet.self, FIDO2PINChange.self, FIDO2PINVerify.self, FIDO2PINRetries.self])
}

/// Sets the first PIN.
struct FIDO2PINSet: Verb {
    static let about = About(
        "set", "Set the first PIN.",
        discussion: "A PIN can be changed, but only a reset of the key removes it.", members: ["hasPin"])

    @OptionGroup var new: NewPINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFIDO()
        let info = try await service.info()
        guard info.takesPIN else { throw FIDOError.unsupported("clientPin") }
        guard !info.hasPIN else { throw FIDOError.pinAlreadySet }
        let pin = try await new.read(info, world)
        try await service.setPIN(pin)
        return Answer("the PIN is set", ["hasPin": true])
    }
}

/// Changes the PIN.
struct FIDO2PINChange: Verb {
    static let about = About(
        "change", "Change the PIN. A wrong current one uses up a retry.", discussion: PINChangeOptions.order,
        members: ["hasPin"])

    @OptionGroup var pins: PINChangeOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFIDO()
        let info = try await service.info()
        guard info.hasPIN else { throw info.takesPIN ? FIDOError.pinNotSet : .unsupported("clientPin") }
        let old = try await world.pin(pins.pin, of: service, for: "change the PIN")
        let pin = try await pins.new.read(info, world)
        try await service.changePIN(from: old, to: pin)
        return Answer("the PIN is changed", ["hasPin": true])
    }
}

/// Checks the PIN and does nothing else.
struct FIDO2PINVerify: Verb {
    static let about = About(
        "verify", "Verify the PIN. A wrong one uses up a retry, the right one restores all.", members: ["verified"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFIDO()
        let info = try await service.info()
        guard info.hasPIN else { throw info.takesPIN ? FIDOError.pinNotSet : .unsupported("clientPin") }
        try await service.verifyPIN(try await world.pin(pin, of: service, for: "check the PIN"))
        return Answer("the PIN is right", ["verified": true])
    }
}

/// Shows the remaining PIN retries.
struct FIDO2PINRetries: Verb {
    static let about = About(
        "retries", "Show how many PIN retries are left. Asking uses up none.",
        members: ["hasPin", "pinRetries", "needsReplug", "uvRetries"])

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFIDO()
        let info = try await service.info()
        guard info.takesPIN else { throw FIDOError.unsupported("clientPin") }
        guard info.hasPIN else { return Answer("no PIN is set", ["hasPin": false]) }
        let retries = try await service.pinRetries()
        var answer = Answer(
            [Tries.left(retries.count)],
            [
                "hasPin": true, "pinRetries": .int(Int64(retries.count)),
                "needsReplug": .bool(retries.needsPowerCycle),
            ])
        if retries.count == 0 { answer.lines = ["the PIN is blocked for good, only a reset helps"] }
        if retries.needsPowerCycle {
            answer.lines.append("the key accepts no PIN until it is unplugged and plugged in again")
        }
        if info.hasBuiltInUV, let own = try? await service.uvRetries() {
            answer.members["uvRetries"] = .int(Int64(own))
            answer.lines.append("the key's own verification: \(Tries.left(own))")
        }
        return answer
    }
}

extension World {
    /// Returns the current PIN, given or asked for; the prompt shows the remaining retries.
    func pin(_ options: PINOptions, of service: FIDOService, for reason: String) async throws -> SharedSecret {
        let retries = plan == nil ? try await service.usablePINRetries() : nil
        let source = source(of: .fido, options)
        return try await obtain(
            .fidoPIN, source, fidoQuestion(orElse: source.hint), to: reason, triesLeft: retries?.count)
    }
}

extension NewPINOptions {
    /// Returns the new PIN, given or asked for twice; the prompt states the key's rules.
    func read(_ info: AuthenticatorInfo, _ world: World) async throws -> SharedSecret {
        let question = TerminalQuestion(
            asking: "new PIN",
            after: "a PIN has at least \(info.minPINLength) characters and at most \(info.maxPINLength) bytes",
            objection: "an empty PIN is not a PIN", orElse: source.hint)
        return try await world.obtain(.fidoPIN, source, question, isNew: true)
    }
}
