// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKProtocols

/// Commands for the PIN.
struct FIDO2PIN: ParsableCommand {
    static let about = About(
        "Manage the PIN of the FIDO application.",
        subcommands: [
            "set": FIDO2PINSet.self, "change": FIDO2PINChange.self, "verify": FIDO2PINVerify.self,
            "retries": FIDO2PINRetries.self,
        ],
        examples: [Example("ykit fido2 pin set")])
}

/// Sets the first PIN.
struct FIDO2PINSet: Verb {
    static let about = About(
        "Set the first PIN.",
        discussion: "A PIN can be changed, but only a reset of the key removes it.",
        examples: [Example("ykit fido2 pin set")])
    static let answer = Shape(done: "hasPin")

    @OptionGroup var new: NewPINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openFIDO()
        let info = try await service.info()
        guard info.takesPIN else { throw FIDOError.unsupported("clientPin") }
        guard !info.hasPIN else { throw FIDOError.pinAlreadySet }
        let pin = try await new.read(info, run)
        try await service.setPIN(pin)
        return Outcome(done: "PIN set")
    }
}

/// Changes the PIN.
struct FIDO2PINChange: Verb {
    static let readsLines = true
    static let about = About(
        "Change the PIN. A wrong current PIN uses up a try.", discussion: PINChangeOptions.order,
        examples: [Example("ykit fido2 pin change")])
    static let answer = Shape(done: "hasPin")

    @OptionGroup var pins: PINChangeOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openFIDO()
        let info = try await service.info()
        guard info.hasPIN else { throw info.takesPIN ? FIDOError.pinNotSet : .unsupported("clientPin") }
        let old = try await run.pin(pins.pin, of: service, for: "change the PIN")
        let pin = try await pins.new.read(info, run)
        try await service.changePIN(from: old, to: pin)
        return Outcome(done: "PIN changed")
    }
}

/// Verifies the PIN and does nothing else.
struct FIDO2PINVerify: Verb {
    static let about = About(
        "Verify the PIN. A wrong PIN uses up a try; the correct one restores all tries.",
        examples: [Example("ykit fido2 pin verify")])
    static let answer = Shape(done: "verified")

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openFIDO()
        let info = try await service.info()
        guard info.hasPIN else { throw info.takesPIN ? FIDOError.pinNotSet : .unsupported("clientPin") }
        try await service.verifyPIN(try await run.pin(pin, of: service, for: "check the PIN"))
        return Outcome(done: "the PIN is correct")
    }
}

/// Shows the remaining PIN retries.
struct FIDO2PINRetries: Verb {
    static let about = About(
        "Show how many PIN tries are left. This uses up none.",
        examples: [Example("ykit fido2 pin retries")])

    /// The retries; `nil` as long as no PIN is set.
    struct Retries: Report {
        var pin: PINRetries?
        var uv: Int?
        static let members: [Member<Self>] = [
            Member("hasPin") { $0.pin != nil }, Member("pinRetries") { $0.pin?.count },
            Member("needsReplug", "whether the key accepts no PIN until it is unplugged") { $0.pin?.needsPowerCycle },
            Member("uvRetries", "of built-in user verification") { $0.uv },
        ]

        var lines: [String] {
            guard let pin else { return ["no PIN is set"] }
            let left =
                pin.count == 0 ? "the PIN is permanently blocked; only a reset removes it" : Tries.left(pin.count)
            let replug = "the key accepts no PIN until it is unplugged and plugged in again"
            return [left] + (pin.needsPowerCycle ? [replug] : [])
                + (uv.map { ["built-in user verification: \(Tries.left($0))"] } ?? [])
        }
    }

    func run(in run: Run) async throws -> Outcome<Retries> {
        let service = try await run.openFIDO()
        let info = try await service.info()
        guard info.takesPIN else { throw FIDOError.unsupported("clientPin") }
        var retries = Retries()
        if info.hasPIN {
            retries.pin = try await service.pinRetries()
            if info.hasBuiltInUV { retries.uv = try await service.uvRetriesIfTold() }
        }
        return Outcome(retries, retries.lines)
    }
}

extension Run {
    /// Returns the current PIN, given or asked for; the prompt shows the remaining retries.
    func pin(_ options: PINOptions, of service: FIDOService, for reason: String) async throws -> SharedSecret {
        let retries = try await perform { try await service.usablePINRetries() }
        return try await obtain(
            .fidoPIN, source(of: .fidoPIN, options), to: reason, triesLeft: retries?.count)
    }
}

extension NewPINOptions {
    /// Returns the new PIN, given or asked for twice; the prompt states the key's rules.
    func read(_ info: AuthenticatorInfo, _ run: Run) async throws -> SharedSecret {
        var question = TerminalQuestion(
            asking: "new PIN",
            after: "a PIN must have at least \(info.minPINLength) characters and at most \(info.maxPINLength) bytes",
            objection: "the PIN must not be empty", orElse: source.hint)
        let (least, most) = (info.minPINLength, info.maxPINLength)
        question.rule = { pin in
            PINText(pin).problem(minimum: least, maximum: most).map { Explanation(FIDOError.unsuitablePIN($0)).message }
        }
        return try await run.obtain(.fidoPIN, source, question, isNew: true)
    }
}
