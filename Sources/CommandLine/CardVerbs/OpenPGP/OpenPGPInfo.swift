// SPDX-License-Identifier: Apache-2.0

package import Arguments
package import TerminalIO
import Verbs
package import YKOpenPGP
import YKTransport
import YKWire

/// Commands for the OpenPGP application.
package struct OpenPGPGroup: ParsableCommand {
    package static let about = About(
        "OpenPGP card: status, PINs and keys.",
        discussion: """
            Slots: signature (sig), decryption (dec), authentication (aut), attestation (att). A FILE of - means \
            standard input or output.
            """,
        subcommands: [
            "info": OpenPGPInfo.self, "access": OpenPGPAccessGroup.self, "keys": OpenPGPKeysGroup.self,
            "certificates": OpenPGPCertificatesGroup.self, "sign": OpenPGPSign.self, "decrypt": OpenPGPDecrypt.self,
            "authenticate": OpenPGPAuthenticate.self, "attest": OpenPGPAttest.self, "random": OpenPGPRandom.self,
            "reset": OpenPGPReset.self,
        ],
        examples: [Example("ykit openpgp keys generate signature")])

    package init() {}
}

/// Shows what the card reports about itself.
struct OpenPGPInfo: Verb {
    static let about = About(
        "Show card, cardholder, PIN tries and keys. No PIN is required.",
        discussion: "Reads public data only, and changes nothing on the card.",
        examples: [Example("ykit openpgp info")])

    func run(in run: Run) async throws -> Outcome<OpenPGPReport> {
        let service = try await run.openOpenPGP()
        let report = try await service.report()
        var outcome = Outcome(report, report.details)
        outcome.answer.warnings = report.problems.map { problem in
            Warning(Explanation(problem.error)) { "the card does not report the \(problem.part): \($0)" }
        }
        return outcome
    }
}

extension OpenPGPIdentity {
    fileprivate var maker: String {
        manufacturerName
            ?? "unknown (\(Hex.encode([UInt8(manufacturer >> 8), UInt8(truncatingIfNeeded: manufacturer)])))"
    }
}

extension OpenPGPKeyInfo {
    /// Whether the slot has a key. Cards that do not report this store a fingerprint for each key.
    var isPresent: Bool { origin.map { $0 != .none } ?? (fingerprint != nil) }

    fileprivate var rows: [[String]] {
        let key = isPresent ? [algorithm?.description ?? "unknown", origin?.description ?? ""] : ["none"]
        let row = ["\(slot) key"] + key + (touch.map { ["touch \($0)"] } ?? [])
        return [row.filter { !$0.isEmpty }] + (fingerprint.map { [["", Hex.encode($0)]] } ?? [])
    }
}

extension OpenPGPReport: Report {
    package static let members: [Member<OpenPGPReport>] = [
        Member("version", "of the card application", title: "OpenPGP card") { $0.status.identity.version },
        Member("firmware") { $0.firmware?.description },
        Member("manufacturerId") { $0.status.identity.manufacturer },
        Member(
            "manufacturer", title: "manufacturer",
            line: { $0.status.identity.maker }
        ) { $0.status.identity.manufacturerName },
        Member("serial", rows: { $0.numbers }) { $0.status.identity.serial },
        Member("name", title: "cardholder") { $0.cardholder.name },
        Member("login", title: "login") { $0.cardholder.login },
        Member("url", title: "URL") { $0.cardholder.url },
        Member("languages") { $0.cardholder.languages },
        Member("pinRetries") { $0.status.pins.retries.user },
        Member("adminPinRetries") { $0.status.pins.retries.admin },
        Member("userRetries", "the same as pinRetries", title: "user PIN", words: { Tries.left($0) }) {
            $0.status.pins.retries.user
        },
        Member("resetCodeRetries", title: "reset code", words: { $0 == 0 ? "not set, or blocked" : Tries.left($0) }) {
            $0.status.pins.retries.reset
        },
        Member("adminRetries", "the same as adminPinRetries", title: "admin PIN", words: { Tries.left($0) }) {
            $0.status.pins.retries.admin
        },
        Member("signatureNeedsPin", title: "PIN for signatures", words: { $0 ? "for each" : "once" }) {
            $0.status.pins.signatureNeedsPIN
        },
        Member(
            "kdf", "whether PINs are sent as hashes; null if the card does not report it", title: "PINs are sent",
            absent: "not reported", words: { $0 ? "hashed (KDF)" : "as they are" }
        ) { $0.usesKDF },
        Member(
            "signatures", "the number of signatures made; null if the card does not report it",
            title: "signatures made", absent: "not reported"
        ) { $0.signatures },
        Member("caFingerprints", "three, in hexadecimal or null") { $0.caFingerprints },
        Member("keys", rows: { $0.status.keys.flatMap(\.rows) + $0.caRows }) { $0.status.keys },
    ]

    private var caFingerprints: [String?] { status.caFingerprints.map { $0.map { Hex.encode($0) } } }

    private var numbers: [[String]] {
        [["serial number", status.identity.serial]] + (firmware.map { [["firmware", $0.description]] } ?? [])
    }

    private var caRows: [[String]] {
        caFingerprints.enumerated().compactMap { index, text in text.map { ["CA fingerprint \(index + 1)", $0] } }
    }
}

extension OpenPGPKeyInfo: Report {
    package static let members: [Member<OpenPGPKeyInfo>] =
        [
            Member("slot") { $0.slot.description },
            Member("algorithm") { $0.algorithm?.description },
            Member("origin") { $0.origin?.description },
            Member("fingerprint", "in hexadecimal") { $0.fingerprint.map { Hex.encode($0) } },
        ] + time("created") { $0.created } + [Member("touchPolicy") { $0.touch?.description }]
}
