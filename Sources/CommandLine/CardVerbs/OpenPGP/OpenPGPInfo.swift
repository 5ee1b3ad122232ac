// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKOpenPGP
import YKTransport
import YKWire

/// Commands for the OpenPGP application.
struct OpenPGPGroup: ParsableCommand {
    static let about = About(
        "openpgp", "OpenPGP card: status, PINs and keys.",
        discussion: """
            Slots: signature (sig), decryption (dec), authentication (aut), attestation (att). Files: - stands for \
            standard input or output.
            """,
        subcommands: [
            OpenPGPInfo.self, OpenPGPAccessGroup.self, OpenPGPKeysGroup.self, OpenPGPCertificatesGroup.self,
            OpenPGPSign.self, OpenPGPDecrypt.self, OpenPGPAuthenticate.self, OpenPGPAttest.self, OpenPGPRandom.self,
            OpenPGPReset.self,
        ])
}

/// Shows the card's information about itself.
struct OpenPGPInfo: Verb {
    static let about = About(
        "info", "Show card, cardholder, tries of the PINs, and keys. No PIN is required.",
        discussion: "Only data that anybody may read is read; nothing on the card changes.",
        members: [
            "version", "firmware", "manufacturer", "manufacturerName", "serial", "name", "login", "url", "languages",
            "userRetries", "resetCodeRetries", "adminRetries", "signatureNeedsPin", "kdf", "signatures",
            "caFingerprints", "keys",
        ])

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openOpenPGP()
        let report = try await service.report()
        let (status, holder) = (report.status, report.cardholder)
        var answer = Answer()
        let identity = status.identity
        let members: KeyValuePairs<String, JSONValue> = [
            "version": .string(identity.version), "firmware": report.firmware.map { .string($0.description) } ?? .null,
            "manufacturer": .int(Int64(identity.manufacturer)),
            "manufacturerName": identity.manufacturerName.map(JSONValue.string) ?? .null,
            "serial": .string(identity.serial), "name": holder.name.map(JSONValue.string) ?? .null,
            "login": holder.login.map(JSONValue.string) ?? .null, "url": holder.url.map(JSONValue.string) ?? .null,
            "languages": .array(holder.languages.map(JSONValue.string)),
            "userRetries": .int(Int64(status.pins.retries.user)),
            "resetCodeRetries": .int(Int64(status.pins.retries.reset)),
            "adminRetries": .int(Int64(status.pins.retries.admin)),
            "signatureNeedsPin": .bool(status.pins.signatureNeedsPIN),
            "kdf": report.usesKDF.map(JSONValue.bool) ?? .null,
            "signatures": report.signatures.map { .int(Int64($0)) } ?? .null, "keys": .array(status.keys.map(\.json)),
            "caFingerprints": .array(status.caFingerprints.map { $0.map { .string(Hex.encode($0)) } ?? .null }),
        ]
        for (name, value) in members { answer.members[name] = value }
        answer.lines = Self.lines(report)
        answer.warnings = report.problems.map { problem in
            "the card does not report the \(problem.part): \(Explain.openPGP(problem.error).message)"
        }
        return answer
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

    fileprivate var json: JSONValue {
        var object = JSONValue.Object()
        object["slot"] = .string(slot.description)
        object["algorithm"] = algorithm.map { .string($0.description) } ?? .null
        object["origin"] = origin.map { .string($0.description) } ?? .null
        object["fingerprint"] = fingerprint.map { .string(Hex.encode($0)) } ?? .null
        object["created"] = created.map(JSONValue.int) ?? .null
        object["touch"] = touch.map { .string($0.description) } ?? .null
        return .object(object)
    }
}
