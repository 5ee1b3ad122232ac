// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKProtocols

/// Commands for the U2F PIN of a YubiKey 4 FIPS.
struct U2FPIN: ParsableCommand {
    static let about = About(
        "Manage the U2F PIN of a YubiKey FIPS of the 4 series.",
        discussion: """
            With a PIN, the key is in its FIPS mode: it creates key pairs only after the PIN has been entered since it \
            was plugged in. Signing needs no PIN. Three wrong PINs in a row block it, and only a reset removes it.
            """,
        subcommands: ["set": U2FPINSet.self, "change": U2FPINChange.self, "verify": U2FPINVerify.self],
        examples: [Example("ykit u2f pin verify")])
}

/// Sets the first U2F PIN.
struct U2FPINSet: Verb {
    static let about = About(
        "Set the first U2F PIN, of 6 to 32 bytes.",
        examples: [Example("ykit u2f pin set")])
    static let answer = Shape(done: "hasPin")

    @OptionGroup var new: NewPINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openU2F()
        try await service.u2fSetPIN(try await run.newU2FPIN(new))
        return Outcome(done: "U2F PIN set")
    }
}

/// Changes the U2F PIN.
struct U2FPINChange: Verb {
    static let readsLines = true
    static let about = About(
        "Change the U2F PIN. A wrong current PIN uses up one of three tries.",
        discussion: PINChangeOptions.order,
        examples: [Example("ykit u2f pin change")])
    static let answer = Shape(done: "hasPin")

    @OptionGroup var pins: PINChangeOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openU2F()
        let old = try await run.u2fPIN(pins.pin, for: "change the U2F PIN")
        try await service.u2fChangePIN(from: old, to: try await run.newU2FPIN(pins.new))
        return Outcome(done: "U2F PIN changed")
    }
}

/// Verifies the U2F PIN, so that the key creates key pairs.
struct U2FPINVerify: Verb {
    static let about = About(
        "Verify the U2F PIN: the key then creates key pairs until it is unplugged.",
        discussion: "A wrong PIN uses up one of three tries; the correct one restores all tries.",
        examples: [Example("ykit u2f pin verify")])
    static let answer = Shape(done: "verified")

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openU2F()
        try await service.u2fVerifyPIN(try await run.u2fPIN(pin, for: "create U2F key pairs"))
        return Outcome(done: "the U2F PIN is correct")
    }
}

/// Deletes all U2F credentials of a YubiKey 4 FIPS.
struct U2FReset: Verb {
    static let about = About(
        "Delete all U2F credentials and the U2F PIN of a YubiKey FIPS of the 4 series.",
        discussion: """
            Every account registered with this key by U2F becomes inaccessible, and the key permanently leaves its \
            FIPS mode: it is no longer a FIPS-compliant device. The key allows this only within a few seconds of being \
            plugged in, and requires a touch. Other keys are reset with 'ykit fido2 reset'.
            """,
        examples: [Example("ykit u2f reset")])
    static let answer = Shape(done: "reset")

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var reinsertion: Reinsertion

    func run(in run: Run) async throws -> Outcome<Void> {
        try reinsertion.check(in: run)
        var service = try await run.openU2F()
        try confirmation.ask(
            typing: "reset",
            "this permanently deletes all U2F credentials on this key and its U2F PIN, and ends its FIPS mode",
            in: run)
        if reinsertion.isWanted(in: run) {
            await service.close()
            service = try await run.reinsertedFIDO()
        }
        run.announce("the reset of U2F on this key")
        try await service.u2fReset()
        return Outcome(done: "all U2F credentials deleted; no U2F PIN is set")
    }
}

extension Run {
    /// Returns the U2F PIN, given or asked for.
    func u2fPIN(_ options: PINOptions, for reason: String) async throws -> SharedSecret {
        try await obtain(.u2fPIN, source(of: .u2fPIN, options), to: reason)
    }

    /// Returns a new U2F PIN, given or asked for twice.
    fileprivate func newU2FPIN(_ options: NewPINOptions) async throws -> SharedSecret {
        let question = TerminalQuestion(asking: "new U2F PIN", orElse: options.source.hint)
        return try await obtain(.u2fPIN, options.source, question, isNew: true)
    }
}
