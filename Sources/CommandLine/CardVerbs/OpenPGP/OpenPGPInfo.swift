// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
import Verbs
package import YKOpenPGP
import YKTransport
import YKWire

/// Commands for the OpenPGP application.
struct OpenPGPGroup: ParsableCommand {
    static let about = About(
        "openpgp", "OpenPGP card: status, PINs and keys.",
        discussion: """
            Slots: signature (sig), decryption (dec), authentication (aut), attestation (att). A FILE of - means \
            standard input or output.
            """,
        subcommands: [
            OpenPGPInfo.self, OpenPGPAccessGroup.self, OpenPGPKeysGroup.self, OpenPGPCertificatesGroup.self,
            OpenPGPSign.self, OpenPGPDecrypt.self, OpenPGPAuthenticate.self, OpenPGPAttest.self, OpenPGPRandom.self,
            OpenPGPReset.self,
        ],
        examples: [Example("ykit openpgp keys generate signature")])
}

/// Shows what the card reports about itself.
struct OpenPGPInfo: Verb {
    static let about = About(
        "info", "Show card, cardholder, PIN tries and keys. No PIN is required.",
        discussion: "Reads public data only, and changes nothing on the card.",
        examples: [Example("ykit openpgp info")])

    func run(in run: Run) async throws -> Outcome<OpenPGPReport> {
        let service = try await run.openOpenPGP()
        let report = try await service.report()
        var outcome = Outcome(report, Self.lines(report))
        outcome.answer.warnings = report.problems.map { problem in
            Warning(Explanation(problem.error)) { "the card does not report the \(problem.part): \($0)" }
        }
        return outcome
    }

    private static func lines(_ report: OpenPGPReport) -> [String] {
        let (status, holder) = (report.status, report.cardholder)
        let identity = status.identity
        let maker = identity.manufacturerName ?? "unknown (\(Hex.encode(identity.manufacturerBytes)))"
        var rows = [["OpenPGP card", identity.version], ["manufacturer", maker], ["serial number", identity.serial]]
        if let firmware = report.firmware { rows.append(["firmware", firmware.description]) }
        let texts = [("cardholder", holder.name), ("login", holder.login), ("URL", holder.url)]
        for (name, text) in texts { if let text { rows.append([name, text.printable]) } }
        rows += [
            ["user PIN", Tries.left(status.pins.retries.user)],
            [
                "reset code",
                status.pins.retries.reset == 0 ? "not set, or blocked" : Tries.left(status.pins.retries.reset),
            ],
            ["admin PIN", Tries.left(status.pins.retries.admin)],
            ["PIN for signatures", status.pins.signatureNeedsPIN ? "for each" : "once"],
            ["PINs are sent", report.usesKDF.map { $0 ? "hashed (KDF)" : "as they are" } ?? "not reported"],
            ["signatures made", report.signatures.map(String.init) ?? "not reported"],
        ]
        for key in status.keys {
            var row = ["\(key.slot) key", "none"]
            if key.isPresent { row = [row[0], key.algorithm?.description ?? "unknown", key.origin?.description ?? ""] }
            if let touch = key.touch { row.append("touch \(touch)") }
            rows.append(row.filter { !$0.isEmpty })
            if let fingerprint = key.fingerprint { rows.append(["", Hex.encode(fingerprint)]) }
        }
        for (index, fingerprint) in status.caFingerprints.enumerated() {
            if let fingerprint { rows.append(["CA fingerprint \(index + 1)", Hex.encode(fingerprint)]) }
        }
        return Table.details(rows)
    }
}

extension OpenPGPIdentity {
    fileprivate var manufacturerBytes: [UInt8] {
        [UInt8(manufacturer >> 8), UInt8(truncatingIfNeeded: manufacturer)]
    }
}

extension OpenPGPKeyInfo {
    /// Whether the slot has a key. Cards that do not report this store a fingerprint for each key.
    var isPresent: Bool { origin.map { $0 != .none } ?? (fingerprint != nil) }
}

extension OpenPGPReport: Report {
    package static let members: [Member<OpenPGPReport>] = [
        Member("version", "of the card application") { $0.status.identity.version },
        Member("firmware") { $0.firmware?.description },
        Member("manufacturerId") { $0.status.identity.manufacturer },
        Member("manufacturer") { $0.status.identity.manufacturerName },
        Member("serial") { $0.status.identity.serial },
        Member("name") { $0.cardholder.name },
        Member("login") { $0.cardholder.login },
        Member("url") { $0.cardholder.url },
        Member("languages") { $0.cardholder.languages },
        Member("pinRetries") { $0.status.pins.retries.user },
        Member("adminPinRetries") { $0.status.pins.retries.admin },
        Member("userRetries", "the same as pinRetries") { $0.status.pins.retries.user },
        Member("resetCodeRetries") { $0.status.pins.retries.reset },
        Member("adminRetries", "the same as adminPinRetries") { $0.status.pins.retries.admin },
        Member("signatureNeedsPin") { $0.status.pins.signatureNeedsPIN },
        Member("kdf", "whether PINs are sent as hashes; null if the card does not report it") { $0.usesKDF },
        Member("signatures", "the number of signatures made; null if the card does not report it") { $0.signatures },
        Member("caFingerprints", "three, in hexadecimal or null") { $0.caFingerprints },
        Member("keys") { $0.status.keys },
    ]

    private var caFingerprints: [String?] { status.caFingerprints.map { $0.map { Hex.encode($0) } } }
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
