// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKPIV
import YKProtocols
import YKUse
import YKWire

/// Commands for PIN, PUK and management key.
struct PIVAccess: ParsableCommand {
    static let about = About(
        "Manage PIN, PUK and management key.",
        subcommands: [
            "change-pin": PIVChangePIN.self, "change-puk": PIVChangePUK.self, "unblock-pin": PIVUnblockPIN.self,
            "set-retries": PIVSetRetries.self, "change-management-key": PIVChangeManagementKey.self,
        ],
        examples: [Example("ykit piv access change-pin")])
}

/// Changes the PIN.
struct PIVChangePIN: Verb {
    static let readsLines = true
    static let about = About(
        "Change the PIN. A wrong current PIN uses up a try.",
        discussion: "The default PIN is 123456. \(PINChangeOptions.order)",
        examples: [Example("ykit piv access change-pin")])
    static let answer = Shape(done: "changed")

    @OptionGroup var pins: PINChangeOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openPIV()
        let old = try await run.pivCode(.pin, run.source(of: .pivPIN, pins.pin), of: service, for: "change the PIN")
        try await service.changePIN(from: old, to: try await run.newPIVCode(.pin, pins.new.source, of: service))
        return Outcome(done: "PIN changed")
    }
}

/// Changes the PUK.
struct PIVChangePUK: Verb {
    static let readsLines = true
    static let about = About(
        "Change the PUK. A wrong current PUK uses up a try.",
        discussion: """
            The PUK sets a new PIN when the PIN has no tries left; the default PUK is 12345678. If both are read \
            from standard input, the first line is the current PUK, the second the new one.
            """,
        examples: [Example("ykit piv access change-puk")])
    static let answer = Shape(done: "changed")

    @OptionGroup var puk: PUKOptions
    @OptionGroup var new: NewPUKOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openPIV()
        let old = try await run.pivCode(.puk, puk.source, of: service, for: "change the PUK")
        try await service.changePUK(from: old, to: try await run.newPIVCode(.puk, new.source, of: service))
        return Outcome(done: "PUK changed")
    }
}

/// Sets a new PIN with the PUK.
struct PIVUnblockPIN: Verb {
    static let readsLines = true
    static let about = About(
        "Set a new PIN with the PUK. A wrong PUK uses up a try.",
        discussion: "If both are read from standard input, the first line is the PUK, the second the new PIN.",
        examples: [Example("ykit piv access unblock-pin")])
    static let answer = Shape(done: "changed")

    @OptionGroup var puk: PUKOptions
    @OptionGroup var new: NewPINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openPIV()
        let puk = try await run.pivCode(.puk, puk.source, of: service, for: "set a new PIN")
        try await service.unblockPIN(puk: puk, newPIN: try await run.newPIVCode(.pin, new.source, of: service))
        return Outcome(done: "PIN set; all its tries are restored")
    }
}

/// Sets the number of PIN and PUK retries.
struct PIVSetRetries: Verb {
    static let about = About(
        "Set the number of tries of PIN and PUK, 1 to 255 each.",
        discussion: """
            PIN and PUK are reset to 123456 and 12345678: change both afterwards. Requires the PIN and the management \
            key.
            """,
        examples: [Example("ykit piv access set-retries 5 3")])

    @Argument("pin-tries", help: "Tries of the PIN.") var pinTries: Int

    @Argument("puk-tries", help: "Tries of the PUK.") var pukTries: Int

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    @OptionGroup var management: PIVManagementOptions

    func check() throws {
        guard (1...255).contains(pinTries), (1...255).contains(pukTries) else {
            throw UsageError("PIN and PUK must have 1 to 255 tries")
        }
    }

    func run(in run: Run) async throws -> Outcome<PIVRetries> {
        let service = try await run.openPIV()
        try run.confirm(
            "the PIN would be reset to 123456 and the PUK to 12345678: set the number of tries?", unless: force)
        let unlocking = try await management.unlock(service, for: "set the tries", run)
        try await unlocking.verify(for: "set the tries")
        try await service.setRetries(pin: pinTries, puk: pukTries)
        var outcome = Outcome(
            PIVRetries(pin: pinTries, puk: pukTries), "the PIN has \(pinTries) tries, the PUK \(pukTries)")
        outcome.answer.warnings = [
            Warning(
                "factory-default",
                "PIN and PUK now have their default values; change them with 'ykit piv access change-pin' and 'change-puk'"
            )
        ]
        return outcome
    }
}

/// The number of PIN and PUK retries.
struct PIVRetries: Report {
    let pin: Int
    let puk: Int
    static let members: [Member<PIVRetries>] = [Member("pinRetries") { $0.pin }, Member("pukRetries") { $0.puk }]
}

/// Changes the management key.
struct PIVChangeManagementKey: Verb {
    static let about = About(
        "Set a new management key.",
        discussion: """
            With --generate --protect a random key is stored on the security key, protected by the PIN: ykit and ykman \
            use it from then on without asking for it. Without --protect a generated key is shown once, or written to \
            --key-file.
            """,
        examples: [
            Example(
                "ykit piv access change-management-key --generate --protect",
                "Generate a key and store it on the security key, protected by the PIN.")
        ])
    typealias Reported = (type: ManagementKeyType, needsTouch: Bool, isProtected: Bool, file: String?)
    static let answer = Shape<Reported>(
        Member("algorithm") { $0.type.description },
        Member("touch") { $0.needsTouch },
        Member("protected", "whether the PIN gives access to it") { $0.isProtected },
        Member("keyFile") { $0.file })

    @Option(["--algorithm", "-a"], help: "The cipher: tdes, aes128, aes192 or aes256; the current one by default.")
    var algorithm: ManagementKeyType?

    @Flag(["--touch", "-t"], help: "Require a touch whenever the management key is used.") var touch = false

    @Flag(["--generate", "-g"], help: "Generate a random key.") var generate = false

    @Flag(["--protect", "-p"], help: "Store the new management key on the key, protected by the PIN.")
    var protect = false

    @Option("--key-file <file>", help: "Write the generated key to this new file.") var keyFile: String?

    @OptionGroup var new: NewManagementKeyOptions
    @OptionGroup var management: PIVManagementOptions
    @OptionGroup var confirmation: Confirmation

    func check() throws {
        if generate, new.isGiven { throw UsageError("--generate cannot be combined with a new key") }
        if keyFile != nil, !generate { throw UsageError("--key-file needs --generate") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let file = try run.perform { try keyFile.map { path in try FileOutput(file: path, force: nil) } }
        let service = try await run.openPIV()
        let unlocking = try await management.unlock(service, for: "set a new one", replacing: true, run)
        let present = try await service.findManagementKeyType()
        let type = algorithm ?? present
        var replacesPrinted = false
        if protect {
            try await unlocking.verify(for: "protect the management key with it")
            replacesPrinted = try await service.hasForeignPrintedObject()
            if replacesPrinted {
                try confirmation.ask("the other data in the printed object would be lost: overwrite it?", in: run)
            }
        }
        let key = try await newKey(type, service, run)
        try file?.prepare(Array((Self.digits(key) + "\n").utf8))
        if isShown { try show(key, run) }
        do {
            try await service.setManagementKey(
                ManagementKey(key.value.copy()), type: type, needsTouch: touch, protected: protect,
                replacesPrinted: replacesPrinted)
        } catch {
            switch error {
            case PIVError.uncertain, PIVError.unfinished: try file?.commit()
            case _ where isShown: run.perform { run.terminal.say("the management key is still the old one") }
            default: break
            }
            throw error
        }
        try file?.commit()
        return Outcome(
            (type: type, needsTouch: touch, isProtected: protect, file: keyFile),
            "management key set: \(type)" + (protect ? ", stored on the key and protected by the PIN" : ""))
    }

    /// Whether the new key is shown on the terminal because it is not stored anywhere.
    private var isShown: Bool { generate && !protect && keyFile == nil }

    /// Returns the new key: generated, given, or asked for twice.
    private func newKey(_ type: ManagementKeyType, _ service: PIVService, _ run: Run) async throws -> SharedSecret {
        if generate {
            // A generated key is shown before it is set.
            if isShown { try run.perform { try run.terminal.requirePerson(orElse: Self.whereTo) } }
            return try await service.randomManagementKey(type)
        }
        let question = TerminalQuestion(
            asking: "new management key",
            after: "a management key of \(type) must have \((type.keySize ?? 24) * 2) hexadecimal digits",
            objection: "it cannot be empty", orElse: new.source.hint)
        let text = try await run.obtain(.pivManagementKey, new.source, question, isNew: true)
        return SharedSecret(Secret(try ManagementKey(hexadecimal: text.value).copyBytes()))
    }

    private static let whereTo = "keep it with --protect, or write it to a file with --key-file"

    private func show(_ key: SharedSecret, _ run: Run) throws {
        try run.terminal.show(
            ["the new management key, shown only this once: \(Self.digits(key))"], orElse: Self.whereTo)
    }

    private static func digits(_ key: SharedSecret) -> String { key.value.withBytes { Hex.encode(Array($0)) } }
}
