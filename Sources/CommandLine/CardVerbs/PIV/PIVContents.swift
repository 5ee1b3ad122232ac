// SPDX-License-Identifier: Apache-2.0

import Applications
package import TerminalIO
package import YKPIV
import YKTransport
import YKWire
package import YKX509

/// The content of a PIV application.
struct PIVContents: Report {
    let report: PIVReport
    /// The URIs of the keys, with --uris.
    let advice: PKCS11Advice?
    /// The current time, in seconds since 1970.
    let now: Int64

    static let members: [Member<PIVContents>] = [
        Member("firmware", title: "version", line: { $0.version ?? $0.absence(.version) }) { $0.version },
        Member("serial", title: "serial", line: { $0.serial ?? $0.absence(.serial) }) { $0.serial },
        Member("pin", title: "PIN", line: { $0.tries($0.report.pin, .pin) }) { $0.report.pin },
        Member(
            "puk", title: "PUK",
            line: { $0.report.administration.flags.contains(.pukBlocked) ? "blocked" : $0.tries($0.report.puk, .puk) }
        ) { $0.report.puk },
        Member("managementKey", title: "management key", line: { $0.managementKey }) {
            ManagementKeyState(report: $0.report)
        },
        Member("pukBlocked") { $0.isPUKBlocked },
        Member(
            "chuid", "its GUID", title: "CHUID",
            line: { contents in
                contents.report.chuid.map { $0.guidText + ($0.fascn == nil ? " (the FASC-N cannot be read)" : "") }
                    ?? contents.absence(.chuid)
            }
        ) { $0.report.chuid?.guidText },
        Member(
            "ccc", "whether there is one; null if the recording does not say", title: "CCC",
            line: { $0.report.capability == nil ? $0.absence(.capability) : "present" }
        ) { $0.hasCapability },
        Member("slots") { $0.report.slots },
        Member("notLookedAt", "slots, without --all") { $0.report.notLookedAt.map(\.description) },
        Member("advisories") { $0.report.identity.warnings },
        Member(
            "brokenFIPSRules",
            "ownPIN, ownPUK, ownManagementKey, aesManagementKey, noShortRSA, noX25519 or pinForEveryKey",
            title: "FIPS 140", line: { $0.fips }
        ) { $0.report.brokenFIPSRules.map(\.rawValue) },
        Member("uris", "with --uris") { $0.advice?.entries },
    ]

    var lines: [String] {
        if let advice { return advice.lines }
        let slots = report.slots.flatMap { [""] + slot($0) }
        return details + (slots.isEmpty ? ["", nothing] : slots) + rest
    }

    private var version: String? { report.identity.version?.description }

    private var serial: String? { report.serial.map { String($0) } }

    private var isPUKBlocked: Bool {
        report.administration.flags.contains(.pukBlocked) || report.puk?.isBlocked == true
    }

    private var hasCapability: Bool? { report.unrecorded.contains(.capability) ? nil : report.capability != nil }

    private var fips: String? {
        guard report.identity.isFIPSFirmware || report.isComplete else { return nil }
        let broken = report.brokenFIPSRules.map(\.words)
        return broken.isEmpty ? "requirements met" : "not met: " + broken.listed()
    }

    private func absence(_ id: PIVObjectID) -> String {
        if report.problems[id] != nil { return "cannot be read" }
        return report.unrecorded.contains(id) ? "not in the recording" : "none"
    }

    private func absence(_ fact: PIVReport.Fact) -> String {
        report.unrecordedFacts.contains(fact) ? "not in the recording" : "not reported"
    }

    /// What an empty list of slots means, given what was queried.
    private var nothing: String {
        report.tellsKeys
            ? "no keys and no certificates" : "no certificates; the card does not report which slots have a key"
    }

    /// The slots that were not read.
    private var rest: [String] {
        guard let first = report.notLookedAt.first, let last = report.notLookedAt.last else { return [] }
        return ["", "not read: slots \(first) to \(last) (--all reads all of them)"]
    }

    private func tries(_ metadata: PINMetadata?, _ fact: PIVReport.Fact) -> String {
        guard let metadata else { return absence(fact) }
        let words = Tries.left(metadata.triesLeft, of: metadata.triesTotal)
        return metadata.isDefault == true && !metadata.isBlocked ? words + ", the factory default" : words
    }

    private var managementKey: String {
        let isProtected = report.administration.isKeyProtected ? "protected by the PIN" : nil
        guard let metadata = report.managementKey else { return isProtected ?? absence(.managementKey) }
        let words: [String?] = [
            metadata.type.description, metadata.touch == .always ? "needs a touch" : nil, isProtected,
            metadata.isDefault == true ? "factory default" : nil,
        ]
        return words.compactMap(\.self).listed()
    }

    /// The warning about a slot whose key the card reports in an unusable form.
    private static func warning(_ slot: PIVReport.Slot) -> Warning? {
        guard case .untold(let error?) = slot.key else { return nil }
        return Warning(Explanation(error)) { "the card does not report the key in slot \(slot.slot): \($0)" }
    }

    private func slot(_ slot: PIVReport.Slot) -> [String] {
        var rows = [["slot \(slot.slot)", slot.slot.name]]
        switch slot.key {
        case .present(let metadata): rows.append(["  key", metadata.words])
        case .absent: rows.append(["  key", "none"])
        case .untold(nil): break
        case .untold: rows.append(["  key", "not reported"])
        }
        switch slot.certificate {
        case .success(let certificate)?: rows += certificate.rows(at: now).map { ["  " + $0[0]] + $0.dropFirst() }
        case .failure(let error)? where error.isUnrecorded: rows.append(["  certificate", "not in the recording"])
        case .failure(let error)?: rows.append(["  certificate", "cannot be read: " + Explanation(error).message])
        case nil: rows.append(["  certificate", "none"])
        }
        return Table.details(rows)
    }

    /// Warnings about default codes, firmware flaws, and what could not be read.
    var warnings: [Warning] {
        var warnings = report.problems.sorted { $0.key.rawValue < $1.key.rawValue }.map { id, error in
            Warning(Explanation(error)) { "the object \(id) cannot be read: \($0)" }
        }
        warnings += report.slots.compactMap(Self.warning)
        warnings += report.defaults.map { Warning("factory-default", Self.words($0)) }
        warnings += report.identity.warnings.map { Warning("advisory", "\($0.advisory): \($0.meaning)") }
        return warnings
    }

    private static func words(_ item: PIVReport.Default) -> String {
        switch item {
        case .pin: "the PIN is still the factory default; change it with 'ykit piv access change-pin'"
        case .puk: "the PUK is still the factory default; change it with 'ykit piv access change-puk'"
        case .managementKey: Explanation.defaultManagementKey.message
        }
    }
}

/// The management key of a report.
private struct ManagementKeyState: Report {
    let report: PIVReport
    static let members: [Member<ManagementKeyState>] = [
        Member("algorithm") { $0.report.managementKey?.type.description },
        Member("default") { $0.report.managementKey?.isDefault },
        Member("touchPolicy") { $0.report.managementKey?.touch.description },
        Member("protected", "whether the PIN gives access to it") { $0.report.administration.isKeyProtected },
    ]
}

extension PINMetadata: Report {
    package static let members: [Member<PINMetadata>] = [
        Member("retries", "how many are left") { $0.triesLeft },
        Member("maxRetries") { $0.triesTotal },
        Member("default") { $0.isDefault },
    ]
}

extension FirmwareWarning: Report {
    package static let members: [Member<FirmwareWarning>] = [
        Member("id") { $0.advisory },
        Member("meaning") { $0.meaning },
    ]
}

extension PIVReport.Slot: Report {
    package static let members: [Member<PIVReport.Slot>] = [
        Member("slot") { $0.slot.description },
        Member("name") { $0.slot.name },
        Member("key") { $0.metadata },
        Member("certificate") { try? $0.certificate?.get() },
        Member("error", "why the certificate cannot be read") { $0.problem },
    ]

    private var problem: Explanation? {
        if case .failure(let error) = certificate { Explanation(error) } else { nil }
    }
}

extension SlotMetadata: Report {
    package static let members: [Member<SlotMetadata>] = [
        Member("algorithm") { $0.algorithm.description },
        Member("origin") { $0.origin?.description },
        Member("pinPolicy") { $0.policies.pin.description },
        Member("touchPolicy") { $0.policies.touch.description },
        Member("publicKey", "PEM") { $0.publicKey?.pem },
    ]
}

extension X509Certificate: Report {
    package static let members: [Member<X509Certificate>] =
        names + time("notBefore") { $0.notBefore } + time("notAfter") { $0.notAfter } + contents

    private static let names: [Member<X509Certificate>] = [
        Member("subject") { $0.subject.description },
        Member("issuer") { $0.issuer.description },
        Member("serialNumber", "in hexadecimal") { Hex.encode($0.serial) },
    ]

    private static let contents: [Member<X509Certificate>] = [
        Member("alternativeNames") { $0.alternativeNameTexts },
        Member("algorithm", "null for an algorithm that PIV does not have") {
            $0.publicKey.flatMap { PIVAlgorithm($0) }?.description
        },
        Member("fingerprint", "SHA-256, in hexadecimal") { Hex.encode($0.fingerprint) },
    ]
}

extension FIPSRule {
    /// The rule as a requirement.
    fileprivate var words: String {
        switch self {
        case .ownPIN: "a PIN of your own"
        case .ownPUK: "a PUK of your own"
        case .ownManagementKey: "a management key of your own"
        case .aesManagementKey: "an AES management key"
        case .noShortRSA: "RSA keys of 2048 bits or more"
        case .noX25519: "no X25519 keys"
        case .pinForEveryKey: "a PIN for every key"
        }
    }
}

extension SlotMetadata {
    /// The card's information about a key, for people.
    var words: String {
        var words = [algorithm.description]
        if let origin { words.append(origin.description) }
        words.append("PIN \(policies.pin)")
        if policies.touch != .never { words.append("touch \(policies.touch)") }
        return words.listed()
    }
}

extension X509Certificate {
    /// The alternative names that have a text form; none if they cannot be read.
    var alternativeNameTexts: [String] { ((try? alternativeNames) ?? []).compactMap(\.text) }

    /// The rows of a table that describe the certificate.
    func rows(at now: Int64) -> [[String]] {
        var rows = [["subject", subject.description.printable]]
        if issuer != subject { rows.append(["issuer", issuer.description.printable]) }
        let names = alternativeNameTexts.listed()
        if !names.isEmpty { rows.append(["names", names.printable]) }
        let state = now < notBefore ? ", not valid yet" : now > notAfter ? ", expired" : ""
        rows.append(["valid", "\(Day.text(notBefore)) to \(Day.text(notAfter))\(state)"])
        rows.append(["fingerprint", Hex.encode(fingerprint)])
        return rows
    }
}

/// Explains how programs that use PKCS#11 URIs (RFC 7512) access a card's keys through a third-party module: Yubico's
/// ykcs11 or OpenSC's opensc-pkcs11, which use the same slot identifiers.
struct PKCS11Advice {
    let report: PIVReport

    init(_ report: PIVReport) { self.report = report }

    /// A slot and its identifier in the modules.
    struct Entry: Report {
        let slot: PIVSlot
        let id: UInt8
        /// The token name in ykcs11, which contains the serial number.
        let token: String
        let hasCertificate: Bool

        static let members: [Member<Entry>] = [
            Member("slot") { $0.slot.description },
            Member("private", "the key in ykcs11") { $0.uri("private", $0.token) },
            Member("certificate", "the same for the certificate") {
                $0.hasCertificate ? $0.uri("cert", $0.token) : nil
            },
            Member("openscPrivate") { $0.uri("private") },
            Member("openscCertificate") { $0.hasCertificate ? $0.uri("cert") : nil },
        ]

        func uri(_ type: String, _ token: String = "") -> String {
            "pkcs11:\(token)id=%\(Hex.encode([id]).uppercased());type=\(type)"
        }
    }

    var entries: [Entry] {
        report.slots.compactMap { slot in
            guard let id = slot.slot.pkcs11Identifier else { return nil }
            let certificate = slot.certificate.flatMap { try? $0.get() }
            guard slot.metadata != nil || certificate != nil else { return nil }
            return Entry(slot: slot.slot, id: id, token: token, hasCertificate: certificate != nil)
        }
    }

    private var token: String { report.serial.map { "serial=\($0);" } ?? "" }

    var lines: [String] {
        let entries = entries
        guard !entries.isEmpty else { return ["no keys and no certificates in slots that PKCS#11 modules show"] }
        var lines = entries.flatMap { entry in
            [
                "slot \(entry.slot)", "  ykcs11  \(entry.uri("private", entry.token))",
                "  OpenSC  \(entry.uri("private"))",
            ]
                + (entry.hasCertificate
                    ? []
                    : [
                        "  no certificate: OpenSC does not show this key; ykcs11 shows it if it was generated on the key"
                    ])
        }
        guard let first = entries.first(where: \.hasCertificate) else { return lines }
        let (slot, key) = (first.slot, first.uri("private"))
        lines += [
            "", "commands with the key in \(slot); the module is libykcs11.so, or opensc-pkcs11.so:",
            "  ykit piv certificates export \(slot) \(slot).pem",
            "  openssl dgst -sha256 -engine pkcs11 -keyform engine -sign '\(key)' -out FILE.sig FILE",
            "  curl --engine pkcs11 --key-type ENG --key '\(key)' --cert \(slot).pem https://HOST/",
            "  modutil -dbdir sql:$HOME/.pki/nssdb -add ykcs11 -libfile libykcs11.so",
            "  certutil -L -h all -d sql:$HOME/.pki/nssdb",
        ]
        return lines
    }
}
