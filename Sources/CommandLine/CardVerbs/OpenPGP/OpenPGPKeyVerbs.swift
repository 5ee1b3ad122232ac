// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKOpenPGP
import YKWire

/// Commands for keys.
struct OpenPGPKeysGroup: ParsableCommand {
    static let about = About(
        "Keys: generate, import, delete, export, touch policy, CAs.",
        discussion: "Slots: signature (sig), decryption (dec), authentication (aut), attestation (att).",
        subcommands: [
            "generate": OpenPGPGenerateKey.self, "import": OpenPGPImportKey.self, "delete": OpenPGPDeleteKey.self,
            "export": OpenPGPExportKey.self, "set-touch": OpenPGPSetTouch.self,
            "set-ca-fingerprint": OpenPGPSetCAFingerprint.self,
        ],
        examples: [Example("ykit openpgp keys generate signature")])
}

/// Generates a key on the card.
struct OpenPGPGenerateKey: Verb {
    static let about = About(
        "Generate a key on the card, replacing the one in the slot.",
        discussion: """
            Fingerprint and time are stored as GnuPG expects them. The private key never leaves the card: data \
            encrypted to it is lost with the card. RSA keys take minutes on some cards.
            """,
        examples: [
            Example("ykit openpgp keys generate signature"),
            Example("ykit openpgp keys generate decryption --type rsa2048 --touch on"),
        ])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @Option(["--type", "-t"], help: "The type of key, such as ed25519, x25519, ecc-p256 or rsa4096.")
    var type: OpenPGPKeyType?

    @Option("--touch", help: "When the key requires a touch: off, on, fixed, cached or cached-fixed.")
    var touch: OpenPGPTouchPolicy?

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var admin: AdminPINOptions

    func run(in run: Run) async throws -> Outcome<StoredOpenPGPKey> {
        let service = try await run.openOpenPGP()
        let type = type ?? (slot == .decryption ? .x25519 : slot == .attestation ? .curve(.p256) : .ed25519)
        try OpenPGPService.check(type, for: slot)
        if let touch { try await service.checkTouch(touch, slot, isNew: true) }
        let replaced = try await run.askToReplace(slot, service, confirmation)
        try await run.administer(admin, service, for: "generate a key")
        let isSlow = if case .rsa = type { true } else { false }
        let progress = isSlow ? Progress(run.terminal, "generating an RSA key, which may take minutes") : nil
        defer { progress?.end() }
        let made = try await service.generateKey(slot, type)
        progress?.end()
        if let touch { try await run.setTouch(touch, slot, service, ofKey: "generated") }
        return try await StoredOpenPGPKey(slot: slot, stored: made, touch: touch).outcome(
            "generated", replaced, service)
    }
}

/// Imports a private key into a slot.
struct OpenPGPImportKey: Verb {
    static let about = About(
        "Import a private key from a file into a slot.",
        discussion: """
            The file is PEM, DER, PKCS#12 or an OpenSSH private key, encrypted or not. --created gives the creation \
            time, in seconds since 1970, which is part of the fingerprint: for a key already used with OpenPGP it must \
            be that key's.
            """,
        examples: [Example("ykit openpgp keys import authentication private.pem")])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @Argument("file", help: "The file with the private key, - for standard input.", completion: .input) var file: String

    @Option("--created <seconds>", help: "The creation time of the key.") var created: UInt32?

    @Option("--touch", help: "When the key requires a touch: off, on, fixed, cached or cached-fixed.")
    var touch: OpenPGPTouchPolicy?

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var admin: AdminPINOptions

    func run(in run: Run) async throws -> Outcome<StoredOpenPGPKey> {
        let key = try fileOptions.privateKey(file, run).key
        let service = try await run.openOpenPGP()
        try await service.checkImport(of: key.publicKey, slot)
        if let touch { try await service.checkTouch(touch, slot, isNew: true) }
        let replaced = try await run.askToReplace(slot, service, confirmation)
        try await run.administer(admin, service, for: "import a key")
        let stored = try await service.importKey(key, slot, created: created.map(Int64.init))
        if let touch { try await run.setTouch(touch, slot, service, ofKey: "imported") }
        return try await StoredOpenPGPKey(slot: slot, stored: stored, touch: touch).outcome(
            "imported", replaced, service)
    }
}

/// Deletes a key.
struct OpenPGPDeleteKey: Verb {
    static let about = About(
        "Delete the key of a slot.",
        discussion: "Its certificate stays: 'ykit openpgp certificates delete' deletes it.",
        examples: [Example("ykit openpgp keys delete signature")])
    static let answer = Shape(Item<OpenPGPSlot>("slot") { $0.description })

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var admin: AdminPINOptions

    func run(in run: Run) async throws -> Outcome<OpenPGPSlot> {
        let service = try await run.openOpenPGP()
        // A key of a type that cannot be read can be deleted, too.
        do { _ = try await service.publicKey(slot) } catch OpenPGPError.unfit {}
        try confirmation.ask("the \(slot) key would be permanently lost: delete it?", in: run)
        try await run.administer(admin, service, for: "delete a key")
        try await service.deleteKey(slot)
        return Outcome(slot, "\(slot) key deleted")
    }
}

/// Exports a public key.
struct OpenPGPExportKey: Verb {
    static let about = About(
        "Write the public key of a slot. No PIN is required.",
        discussion: """
            --format ssh gives a line for authorized_keys, without GnuPG; --format age a recipient from a cv25519 key.
            """,
        examples: [Example("ykit openpgp keys export signature public.pem")])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @OptionGroup var export: PublicKeyExport

    func run(in run: Run) async throws -> Outcome<ExportedPublicKey> {
        let output = try export.output(run)
        let service = try await run.openOpenPGP()
        let key = try await service.publicKey(slot)
        let serial = try await service.status().identity.serial
        return try export.write(
            key, of: slot, algorithm: OpenPGPKeyType(key).description, comment: "openpgp:\(serial)", to: output)
    }
}

/// Sets when a key requires a touch.
struct OpenPGPSetTouch: Verb {
    static let about = About(
        "Set when a key requires a touch.",
        discussion: """
            fixed and cached-fixed remain until the key is replaced or the application reset; for the attestation key, \
            not even a reset removes them. A YubiKey sets the policy to off when a key is generated or imported.
            """,
        examples: [Example("ykit openpgp keys set-touch signature on")])
    static let answer = Shape(
        Item<OpenPGPSlot>("slot") { $0.description }, Item<OpenPGPTouchPolicy>("touchPolicy") { $0.description })

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @Argument("policy", help: "off, on, fixed, cached or cached-fixed.") var policy: OpenPGPTouchPolicy

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var admin: AdminPINOptions

    func run(in run: Run) async throws -> Outcome<(OpenPGPSlot, OpenPGPTouchPolicy)> {
        let service = try await run.openOpenPGP()
        try await service.checkTouch(policy, slot)
        if policy.isFixed {
            let what = slot == .attestation ? "nothing" : "only a new key or a reset"
            try confirmation.ask("\(what) can undo a fixed touch policy: set it?", in: run)
        }
        try await run.administer(admin, service, for: "set the touch policy")
        try await service.setTouch(policy, slot)
        return Outcome((slot, policy), "the touch policy of \(slot) is \(policy)")
    }
}

extension Run {
    /// Sets the touch policy of a new key.
    fileprivate func setTouch(
        _ touch: OpenPGPTouchPolicy, _ slot: OpenPGPSlot, _ service: OpenPGPService, ofKey verb: String
    ) async throws {
        let hint = "set its touch policy: ykit openpgp keys set-touch \(slot) \(touch)"
        try await afterChange("the \(slot) key is \(verb)", hint: hint) { try await service.setTouch(touch, slot) }
    }

    /// Asks before overwriting a key.
    fileprivate func askToReplace(
        _ slot: OpenPGPSlot, _ service: OpenPGPService, _ confirmation: Confirmation
    ) async throws -> OpenPGPKeyInfo? {
        let found = try await service.status().keys.first { $0.slot == slot }
        guard let present = found, present.isPresent else { return found }
        let words = present.algorithm?.description ?? "of an unknown type"
        try confirmation.ask("the \(slot) key (\(words)) would be permanently lost: overwrite it?", in: self)
        return present
    }
}

/// A key that was generated or imported.
struct StoredOpenPGPKey: Report {
    let slot: OpenPGPSlot
    let stored: OpenPGPPublicKey
    let touch: OpenPGPTouchPolicy?
    static let members: [Member<StoredOpenPGPKey>] =
        [
            Member("slot") { $0.slot.description },
            Member("algorithm") { $0.type.description },
            Member("fingerprint", "in hexadecimal") { $0.fingerprint },
        ] + time("created") { $0.stored.created } + [
            Member("touchPolicy", "null if it was not set") { $0.touch?.description },
            Member("publicKey", "PEM") { $0.stored.key.pem },
        ]

    private var type: OpenPGPKeyType { OpenPGPKeyType(stored.key) }

    private var fingerprint: String { Hex.encode(stored.fingerprint) }

    /// The outcome, with a warning if the card forgot the touch policy that the slot had before.
    func outcome(
        _ verb: String, _ replaced: OpenPGPKeyInfo?, _ service: OpenPGPService
    ) async throws -> Outcome<StoredOpenPGPKey> {
        var outcome = Outcome(self, ["\(verb) the \(slot) key: \(type)", "fingerprint \(fingerprint)"])
        guard touch == nil, let before = replaced?.touch, before != .off else { return outcome }
        let now = try await service.status().keys.first { $0.slot == slot }?.touch
        if let now, now != before {
            outcome.answer.warnings = [
                Warning(
                    "touch-changed",
                    "the touch policy of the \(slot) key was \(before), and is now \(now); to set it: "
                        + "ykit openpgp keys set-touch \(slot) \(before)")
            ]
        }
        return outcome
    }
}

/// Stores the fingerprint of a CA key.
struct OpenPGPSetCAFingerprint: Verb {
    static let about = About(
        "Store the fingerprint of a key that certifies others.",
        discussion: """
            The card stores three version 4 fingerprints for programs that need to know which keys are trusted; it \
            does not use them itself.
            """,
        examples: [Example("ykit openpgp keys set-ca-fingerprint 1 000102030405060708090a0b0c0d0e0f10111213")])
    static let answer = Shape(
        Item<Int>("number"),
        Item<[UInt8]?>("fingerprint", "in hexadecimal; null if it was removed") { $0.map { Hex.encode($0) } })

    @Argument("number", help: "The fingerprint to set: 1, 2 or 3.") var number: Int

    @Argument("fingerprint", help: "Forty hexadecimal digits, or none to remove it.") var fingerprint: String

    @OptionGroup var admin: AdminPINOptions

    func check() throws {
        guard (1...3).contains(number) else { throw UsageError("the number must be 1, 2 or 3") }
        guard fingerprint == "none" || (try? Hex.decode(digits))?.count == 20 else {
            throw UsageError("a fingerprint must be 40 hexadecimal digits, or 'none'")
        }
    }

    private var digits: String { fingerprint.filter { $0 != " " } }

    func run(in run: Run) async throws -> Outcome<(Int, [UInt8]?)> {
        let bytes = fingerprint == "none" ? nil : try Hex.decode(digits)
        let service = try await run.openOpenPGP()
        try await run.administer(admin, service, for: "store the fingerprint")
        try await service.setCAFingerprint(number, bytes)
        return Outcome((number, bytes), "CA fingerprint \(number) is \(bytes == nil ? "removed" : "stored")")
    }
}
