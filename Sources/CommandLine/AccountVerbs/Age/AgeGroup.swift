// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments
import TerminalIO
import Verbs
import YKAge
import YKPIV
import YKX509

/// Commands for age.
package struct AgeGroup: ParsableCommand {
    package static let about = About(
        "Keys for age, which encrypts files: PIV slots and FIDO2 credentials.",
        discussion: """
            A recipient is a public key to encrypt to, which needs no security key; an identity names the key that \
            decrypts, and holds no secret. age finds ykit through a link: ln -s ykit age-plugin-ykit. With a link \
            named age-plugin-yubikey, keys of that plugin work too.
            """,
        subcommands: [
            "generate": AgeGenerate.self, "list": AgeList.self, "identity": AgeIdentityVerb.self,
            "plugin": AgePluginVerb.self,
        ],
        examples: [Example("ykit age generate --output identity.txt")])

    package init() {}
}

/// The three forms of a P-256 recipient.
enum AgeRecipientForm: String, CaseIterable, ExpressibleByArgument {
    case tag, yubikey, ykit

    /// The recipient as text.
    func text(_ key: AgePublicKey) -> String {
        switch (self, key) {
        case (.yubikey, .p256(let point)): AgeRecipient.pivP256(point).text()
        case (.ykit, _): key.recipient.text(isOwn: true)
        default: key.recipient.text()
        }
    }
}

/// The slot of an age key: 82 to 95, or its number from 1 to 20 as in age-plugin-yubikey.
struct AgeSlotArgument: ExpressibleByArgument {
    let slot: PIVSlot

    init?(argument: String) {
        guard let slot = Int(argument).flatMap({ PIVSlot.retired($0) }) ?? PIVSlot(argument) else { return nil }
        self.slot = slot
    }

    static let help = """
        One of \(PIVSlot.retiredWords), 1 to \(PIVSlot.retired.count) for the same slots, or \(PIVSlot.mainWords).
        """
}

/// A key in a slot that age can use.
struct AgeSlot {
    let slot: PIVSlot
    let key: AgePublicKey
    /// The common name of its certificate.
    let name: String?
    /// Its policies, if the card or the certificate states them.
    let policies: KeyPolicies?

    func on(_ serial: UInt32) -> AgeSlotKey { AgeSlotKey(slot: slot.rawValue, serial: serial, key: key) }

    /// Returns the identity for this plugin or age-plugin-yubikey; `nil` if the latter does not support it.
    func identity(_ serial: UInt32, _ form: AgeIdentityForm) -> AgeIdentity? {
        switch (form, key) {
        case (.ykit, _): .slot(slot.rawValue, serial: serial, key: key)
        case (.yubikey, .p256) where slot.retiredNumber != nil:
            .yubikey(slot.rawValue, serial: serial, tag: key.tag)
        case (.yubikey, _): nil
        }
    }

    /// The comment lines before an identity or a recipient.
    func comments(_ serial: UInt32) -> [String] {
        var lines = ["#       Serial: \(serial), Slot: \(slot)"]
        if let name { lines.append("#         Name: \(name.printable)") }
        if let policies {
            lines.append("#   PIN policy: \(policies.pin)")
            lines.append("# Touch policy: \(policies.touch)")
        }
        return lines
    }

    /// All recipient forms of the key.
    var recipients: [String] {
        switch key {
        case .x25519: [AgeRecipientForm.tag.text(key)]
        case .p256: AgeRecipientForm.allCases.map { $0.text(key) }
        }
    }

    func report(_ serial: UInt32, recipient: String, identity: String?) -> AgeKeyReport {
        AgeKeyReport(slot: self, serial: serial, recipient: recipient, recipients: recipients, identity: identity)
    }
}

/// A key for age: a key in a slot, or a FIDO2 credential.
struct AgeKeyReport: Report {
    /// The slot; `nil` for a credential.
    var slot: AgeSlot?
    /// The serial number; 0 if the key does not report it.
    var serial: UInt32 = 0
    let recipient: String
    let recipients: [String]
    let identity: String?

    static let members: [Member<AgeKeyReport>] = [
        Member("slot", "null for a FIDO2 credential") { $0.slot?.slot.description },
        Member("serial", "null if the key does not report it") { $0.serial == 0 ? nil : String($0.serial) },
        Member("algorithm") { ($0.slot?.key.algorithm ?? .x25519).description },
        Member("name") { $0.slot?.name },
        Member("pinPolicy") { $0.slot?.policies?.pin.description },
        Member("touchPolicy") { $0.slot?.policies?.touch.description },
        Member("recipient") { $0.recipient },
        Member("recipients", "in every form") { $0.recipients },
        Member("identity") { $0.identity },
    ]
}

extension AgePublicKey {
    var algorithm: PIVAlgorithm { if case .x25519 = self { .x25519 } else { .p256 } }
}

extension PIVService {
    /// Returns the keys in slots that age can use, according to the metadata or else the certificate.
    func ageSlots(_ slots: [PIVSlot]) throws(PIVError) -> [AgeSlot] {
        var found: [AgeSlot] = []
        for slot in slots {
            let known: SlotMetadata?
            do { known = try metadata(of: slot) } catch {
                guard case .noKey = error else { throw error }
                continue
            }
            if let known, known.publicKey.flatMap({ AgePublicKey($0) }) == nil { continue }
            let certificate: X509Certificate?
            do { certificate = try self.certificate(slot) } catch {
                switch error {
                case .noSuchObject, .malformedObject, .notInflated, .notCertificate: certificate = nil
                default: throw error
                }
            }
            guard let key = (known?.publicKey ?? certificate?.publicKey).flatMap({ AgePublicKey($0) }) else { continue }
            found.append(
                AgeSlot(
                    slot: slot, key: key, name: certificate?.commonName,
                    policies: known?.policies ?? certificate.flatMap { KeyPolicies($0) }))
        }
        return found
    }
}

extension X509Certificate {
    /// The organization in certificates that age-plugin-yubikey and ykit issue for age keys.
    static let ageOrganization = "age-plugin-yubikey"

    /// The most specific common name of the subject.
    fileprivate var commonName: String? { subject.attributes.last { $0.type == "2.5.4.3" }?.text }
}

/// Lists recipients.
struct AgeList: Verb {
    static let about = About(
        "Print the recipients of the keys in the slots \(PIVSlot.retiredWords).",
        discussion: """
            The output is a recipients file for 'age -R'. age 1.3 and later encrypts to age1tag1… without a plugin; \
            --form yubikey is for older versions with age-plugin-yubikey, --form ykit for those with ykit.
            """,
        examples: [Example("ykit age list")])
    static let answer = Shape(Item<[AgeKeyReport]>("keys"))

    @Flag("--all", help: "Also list the keys in \(PIVSlot.mainWords).") var all = false

    @Option("--form", help: "Format of P-256 recipients: tag, yubikey or ykit.")
    var form: AgeRecipientForm = .tag

    func run(in run: Run) async throws -> Outcome<[AgeKeyReport]> {
        let service = try await run.openPIV()
        let serial = try await service.serial() ?? 0
        let slots = try await service.ageSlots((all ? PIVSlot.main : []) + PIVSlot.retired)
        if slots.isEmpty { run.terminal.note("no keys for age; create one with: ykit age generate") }
        let keys = slots.map {
            $0.report(serial, recipient: form.text($0.key), identity: $0.identity(serial, .ykit)?.text)
        }
        return Outcome(keys, slots.flatMap { $0.comments(serial) + [form.text($0.key)] })
    }
}

/// The form of an identity.
enum AgeIdentityForm: String, CaseIterable, ExpressibleByArgument {
    case ykit, yubikey
}

/// Prints identities.
struct AgeIdentityVerb: Verb {
    static let about = About(
        "Print the identities of keys, for 'age -d -i FILE'. They hold no secret.",
        discussion: """
            For the key in one slot, or for all keys in the slots \(PIVSlot.retiredWords). Identities of --form \
            yubikey also work with age-plugin-yubikey, and exist for P-256 keys only.
            """,
        examples: [Example("ykit age identity > identity.txt")])
    static let answer = Shape(
        Item<[AgeKeyReport]>("keys"), Item<String>("output", "the file, - for standard output"))

    @Argument("slot", help: AgeSlotArgument.help) var slot: AgeSlotArgument?

    @Option("--form", help: "Format of identities: ykit or yubikey.") var form: AgeIdentityForm = .ykit

    @Option(["--output <file>", "-o"], help: "Where to write the identities.") var output = "-"

    @OptionGroup var replacing: OutputOptions

    func run(in run: Run) async throws -> Outcome<([AgeKeyReport], String)> {
        let file = try FileOutput(output, isText: true, isSecret: true, force: replacing.force, run)
        let service = try await run.openPIV()
        let serial = try await service.serial() ?? 0
        let slots = try await service.ageSlots(slot.map { [$0.slot] } ?? PIVSlot.retired)
        let keys = slots.compactMap { key in key.identity(serial, form).map { (key, $0) } }
        guard !keys.isEmpty else {
            throw Explanation(
                "no-key", .notFound,
                "there is no key for age in \(slot.map { "slot \($0.slot)" } ?? "the slots \(PIVSlot.retiredWords)")",
                hint: "create one with: ykit age generate")
        }
        let reports = keys.map {
            $0.report(serial, recipient: AgeRecipientForm.tag.text($0.key), identity: $1.text)
        }
        var outcome = Outcome((reports, output), "identities written to \(output.printable)")
        let text = keys.map { AgeIdentityFile.text($0.comments(serial), $0.recipients, $1) }.joined()
        try file.put(Array(text.utf8), &outcome.answer)
        return outcome
    }
}

/// An identity with comments that describe it.
enum AgeIdentityFile {
    static func text(_ comments: [String], _ recipients: [String], _ identity: AgeIdentity) -> String {
        var lines = comments
        for (index, recipient) in recipients.enumerated() {
            lines.append((index == 0 ? "#    Recipient: " : "#               ") + recipient)
        }
        return (lines + [identity.text]).map { $0 + "\n" }.joined()
    }
}
