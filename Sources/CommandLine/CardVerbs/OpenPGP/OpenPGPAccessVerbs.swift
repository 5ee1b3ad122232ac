// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKOpenPGP

/// Commands for PINs and the reset code.
struct OpenPGPAccessGroup: ParsableCommand {
    static let about = About(
        "User PIN, admin PIN and reset code.",
        discussion: "A new card has the PINs 123456 and 12345678, and no reset code.",
        subcommands: [
            "change-pin": OpenPGPChangePIN.self, "change-admin-pin": OpenPGPChangeAdminPIN.self,
            "set-reset-code": OpenPGPSetResetCode.self, "unblock-pin": OpenPGPUnblockPIN.self,
            "set-retries": OpenPGPSetRetries.self, "set-signature-policy": OpenPGPSetSignaturePolicy.self,
            "set-kdf": OpenPGPSetKDF.self,
        ],
        examples: [Example("ykit openpgp access change-pin")])
}

/// Changes the user PIN.
struct OpenPGPChangePIN: Verb {
    static let readsLines = true
    static let about = About(
        "Change the user PIN, 6 bytes or more.", discussion: PINChangeOptions.order,
        examples: [Example("ykit openpgp access change-pin")])
    static let answer = Shape(done: "changed")

    @OptionGroup var pins: PINChangeOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openOpenPGP()
        let old = try await run.openPGPPIN(pins.pin.source, .user, of: service, for: "change the PIN")
        let new = try await run.newOpenPGPPIN(pins.new.source, .user)
        try await service.changePIN(.user, from: old, to: new)
        return Outcome(done: "user PIN changed")
    }
}

/// Changes the admin PIN.
struct OpenPGPChangeAdminPIN: Verb {
    static let readsLines = true
    static let about = About(
        "Change the admin PIN, 8 bytes or more.",
        discussion: PINChangeOptions.order,
        examples: [Example("ykit openpgp access change-admin-pin")])
    static let answer = Shape(done: "changed")

    @OptionGroup var admin: AdminPINOptions
    @OptionGroup var new: NewAdminPINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openOpenPGP()
        let old = try await run.openPGPPIN(admin.source, .admin, of: service, for: "change it")
        let new = try await run.newOpenPGPPIN(new.source, .admin)
        try await service.changePIN(.admin, from: old, to: new)
        return Outcome(done: "admin PIN changed")
    }
}

/// Sets the reset code.
struct OpenPGPSetResetCode: Verb {
    static let readsLines = true
    static let about = About(
        "Set the reset code, 8 bytes or more.",
        discussion: """
            With it 'ykit openpgp access unblock-pin' sets a new user PIN without the admin PIN. If both are read from \
            standard input, the first line is the admin PIN, the second the reset code.
            """,
        examples: [Example("ykit openpgp access set-reset-code")])
    static let answer = Shape(done: "set")

    @OptionGroup var admin: AdminPINOptions
    @OptionGroup var code: ResetCodeOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openOpenPGP()
        let pin = try await run.openPGPPIN(admin.source, .admin, of: service, for: "set the reset code")
        let code = try await run.newOpenPGPPIN(code.source, .reset)
        try await service.checkLength(of: code, .reset)
        try await run.verify(pin, for: .administration, on: service)
        try await service.setResetCode(code)
        return Outcome(done: "reset code set")
    }
}

/// Sets a new user PIN.
struct OpenPGPUnblockPIN: Verb {
    static let readsLines = true
    static let about = About(
        "Set a new user PIN, with the admin PIN or the reset code.",
        discussion: """
            The admin PIN is used unless --reset-code or another source of the reset code is given. If both are read \
            from standard input, the first line is the admin PIN or the reset code, the second the new PIN.
            """,
        examples: [Example("ykit openpgp access unblock-pin"), Example("ykit openpgp access unblock-pin --reset-code")])
    static let answer = Shape(done: "unblocked")

    @Flag("--reset-code", help: "Use the reset code instead of the admin PIN.") var resetCode = false

    @OptionGroup var admin: AdminPINOptions
    @OptionGroup var code: ResetCodeOptions
    @OptionGroup var new: NewPINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openOpenPGP()
        if resetCode || code.source.isGiven(run.terminal) {
            let code = try await run.openPGPPIN(code.source, .reset, of: service, for: "set a new user PIN")
            let new = try await run.newOpenPGPPIN(new.source, .user)
            try await service.resetPIN(to: new, code: code)
        } else {
            let pin = try await run.openPGPPIN(admin.source, .admin, of: service, for: "set a new user PIN")
            let new = try await run.newOpenPGPPIN(new.source, .user)
            try await service.checkLength(of: new, .user)
            try await run.verify(pin, for: .administration, on: service)
            try await service.resetPIN(to: new)
        }
        return Outcome(done: "user PIN set; all its tries are restored")
    }
}

/// Sets the number of PIN retries.
struct OpenPGPSetRetries: Verb {
    static let about = About(
        "Set the number of tries, 1 to 99 each (YubiKeys).",
        examples: [Example("ykit openpgp access set-retries 5 3 5")])

    @Argument("user-tries", help: "Tries for the user PIN.") var user: Int

    @Argument("reset-code-tries", help: "Tries for the reset code.") var reset: Int

    @Argument("admin-tries", help: "Tries for the admin PIN.") var administrator: Int

    @OptionGroup var admin: AdminPINOptions

    func check() throws {
        guard [user, reset, administrator].allSatisfy({ (1...99).contains($0) }) else {
            throw UsageError("the number of tries must be 1 to 99")
        }
    }

    func run(in run: Run) async throws -> Outcome<OpenPGPRetries> {
        let service = try await run.openOpenPGP()
        try await service.checkSettingRetries()
        try await run.administer(admin, service, for: "set the tries")
        try await service.setRetries(user: user, reset: reset, admin: administrator)
        return Outcome(
            OpenPGPRetries(user: user, reset: reset, admin: administrator),
            "the user PIN has \(user) tries, the reset code \(reset), the admin PIN \(administrator)")
    }
}

/// The number of PIN retries.
struct OpenPGPRetries: Report {
    let user: Int
    let reset: Int
    let admin: Int
    static let members: [Member<OpenPGPRetries>] = [
        Member("userRetries") { $0.user },
        Member("resetCodeRetries") { $0.reset },
        Member("adminRetries") { $0.admin },
    ]
}

/// Sets whether each signature requires the PIN.
struct OpenPGPSetSignaturePolicy: Verb {
    static let about = About(
        "Set whether each signature requires the user PIN again.",
        examples: [Example("ykit openpgp access set-signature-policy always")])
    static let answer = Shape(Item<Bool>("signatureNeedsPin"))

    @Argument("policy", help: "always or once.") var policy: SignaturePolicy

    @OptionGroup var admin: AdminPINOptions

    /// How often a signature requires the PIN.
    enum SignaturePolicy: String, CaseIterable, ExpressibleByArgument {
        case always, once
    }

    func run(in run: Run) async throws -> Outcome<Bool> {
        let service = try await run.openOpenPGP()
        try await run.administer(admin, service, for: "set the policy")
        try await service.setSignaturePolicy(needsPINForEach: policy == .always)
        return Outcome(
            policy == .always,
            policy == .always ? "each signature requires the user PIN" : "the user PIN is required once")
    }
}

/// Sets whether PINs are sent as hashes.
struct OpenPGPSetKDF: Verb {
    static let readsLines = true
    static let about = About(
        "Set whether PINs are sent to the card as hashes, and set both PINs.",
        discussion: """
            Both PINs are set: new ones, or with --same-admin-pin the current admin PIN. The reset code is lost. Gnuk \
            accepts a key derivation only while it holds no key. If several secrets are read from standard input, the \
            lines are, in order: admin PIN, new user PIN, new admin PIN.
            """,
        examples: [Example("ykit openpgp access set-kdf on")])
    static let answer = Shape(Item<Bool>("kdf"))

    @Argument("setting", help: "on or off.") var setting: Setting

    @Flag("--same-admin-pin", help: "Keep the current admin PIN.") var sameAdminPin = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var admin: AdminPINOptions
    @OptionGroup var new: NewPINOptions
    @OptionGroup var newAdmin: NewAdminPINOptions

    /// Whether PINs are hashed.
    enum Setting: String, CaseIterable, ExpressibleByArgument {
        case on, off
    }

    func run(in run: Run) async throws -> Outcome<Bool> {
        let service = try await run.openOpenPGP()
        try confirmation.ask("the reset code would be removed and both PINs replaced: set them?", in: run)
        let admin = try await run.openPGPPIN(admin.source, .admin, of: service, for: "set the key derivation of PINs")
        let user = try await run.newOpenPGPPIN(new.source, .user)
        let administrator = try await sameAdminPin ? admin.copy() : run.newOpenPGPPIN(newAdmin.source, .admin)
        if setting == .on {
            try await service.setUpKDF(admin: admin, newUser: user, newAdmin: administrator)
        } else {
            try await service.endKDF(admin: admin, newUser: user, newAdmin: administrator)
        }
        return Outcome(setting == .on, setting == .on ? "PINs are sent as hashes" : "PINs are sent unhashed")
    }
}
