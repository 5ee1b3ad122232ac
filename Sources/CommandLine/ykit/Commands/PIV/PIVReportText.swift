// SPDX-License-Identifier: Apache-2.0

import YKPIV
import YKTransport
import YKWire

/// The report of a PIV application, for people.
struct PIVReportText {
    let report: PIVReport
    /// The current time, in seconds since 1970.
    let now: Int64

    var lines: [String] {
        var rows = [["version", report.identity.version?.description ?? "not told"]]
        rows.append(["serial", report.serial.map(String.init) ?? "not told"])
        rows.append(["PIN", Self.tries(report.pin)])
        rows.append(["PUK", report.administration.flags.contains(.pukBlocked) ? "blocked" : Self.tries(report.puk)])
        rows.append(["management key", managementKey])
        rows.append(["CHUID", report.chuid.map(\.guidText) ?? absence(.chuid)])
        rows.append(["CCC", report.capability.map { _ in "there" } ?? absence(.capability)])
        if report.identity.isFIPSFirmware || report.isComplete {
            let broken = report.brokenFIPSRules.map(\.words)
            rows.append(["FIPS 140", broken.isEmpty ? "follows the rules" : "not: " + broken.joined(separator: ", ")])
        }
        let slots = report.slots.flatMap { [""] + slot($0) }
        return Table.lines(rows) + (slots.isEmpty ? ["", nothing] : slots)
    }

    private func absence(_ id: PIVObjectID) -> String {
        report.unrecorded.contains(id) ? "not in the recording" : "none"
    }

    /// What an empty list of slots means, given what was queried.
    private var nothing: String {
        if !report.tellsKeys { return "no certificates; the card does not tell which slots have a key" }
        return report.isComplete ? "no keys and no certificates" : "no keys, and no certificates in the main slots"
    }

    private static func tries(_ metadata: PINMetadata?) -> String {
        guard let metadata else { return "not told" }
        if metadata.isBlocked { return "blocked" }
        let total = metadata.triesTotal.map { " of \($0)" } ?? ""
        let words = "\(metadata.triesLeft)\(total) tries left"
        return metadata.isDefault == true ? words + ", that of a new key" : words
    }

    private var managementKey: String {
        let isProtected = report.administration.isKeyProtected ? "protected by the PIN" : nil
        guard let metadata = report.managementKey else { return isProtected ?? "not told" }
        let words: [String?] = [
            metadata.type.description, metadata.touch == .always ? "needs a touch" : nil, isProtected,
            metadata.isDefault == true ? "that of a new key" : nil,
        ]
        return words.compactMap(\.self).joined(separator: ", ")
    }

    private func slot(_ slot: PIVReport.Slot) -> [String] {
        var rows = [["slot \(slot.slot)", slot.slot.name]]
        if let metadata = slot.metadata { rows.append(["  key", metadata.words]) }
        switch slot.certificate {
        case .success(let certificate)?: rows += certificate.rows(at: now).map { ["  " + $0[0]] + $0.dropFirst() }
        case .failure(let error)?: rows.append(["  certificate", "cannot be read: " + Explain.piv(error).message])
        case nil: rows.append(["  certificate", "none"])
        }
        return Table.lines(rows)
    }

    /// Warnings about default codes and firmware flaws.
    var warnings: [String] {
        report.defaults.map { item in
            switch item {
            case .pin: "the PIN is still the default; change it with 'ykit piv access change-pin'"
            case .puk: "the PUK is still the default; change it with 'ykit piv access change-puk'"
            case .managementKey: PIVUnlocking.isDefault
            }
        } + report.identity.warnings.map { "\($0.advisory): \($0.meaning)" }
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
