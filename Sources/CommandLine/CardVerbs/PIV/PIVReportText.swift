// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKCrypto
import YKPIV
import YKTransport
import YKUse
import YKWire
import YKX509

/// The report of a PIV application, for people.
struct PIVReportText {
    let report: PIVReport
    /// The current time, in seconds since 1970.
    let now: Int64

    var lines: [String] {
        var rows = [["version", report.identity.version?.description ?? absence(.version)]]
        rows.append(["serial", report.serial.map(String.init) ?? absence(.serial)])
        rows.append(["PIN", tries(report.pin, .pin)])
        rows.append(["PUK", report.administration.flags.contains(.pukBlocked) ? "blocked" : tries(report.puk, .puk)])
        rows.append(["management key", managementKey])
        rows.append(["CHUID", report.chuid.map(Self.words) ?? absence(.chuid)])
        rows.append(["CCC", report.capability.map { _ in "present" } ?? absence(.capability)])
        if report.identity.isFIPSFirmware || report.isComplete {
            let broken = report.brokenFIPSRules.map(\.words)
            rows.append(["FIPS 140", broken.isEmpty ? "requirements met" : "not met: " + broken.listed()])
        }
        let slots = report.slots.flatMap { [""] + slot($0) }
        return Table.details(rows) + (slots.isEmpty ? ["", nothing] : slots) + rest
    }

    private static func words(_ chuid: CHUID) -> String {
        chuid.guidText + (chuid.fascn == nil ? " (the FASC-N cannot be read)" : "")
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
        case .managementKey: Explanation(PIVUnlockingError.defaultManagementKey).message
        }
    }
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
