// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKPIV
import YKWire

extension KeyContents {
    static let members: [Member<KeyContents>] = [
        Member("fido2", "null if the key has no FIDO2, or it was not read; likewise the others") { $0.fido2 },
        Member("oath") { $0.oath },
        Member("piv") { $0.piv.map(PIVSummary.init) },
        Member("openpgp") { $0.openPGP },
        Member("otp", "whether slots 1 and 2 are programmed") { $0.otpSlots },
        Member("hsmauth") { $0.hsmAuth },
        Member("secrets", "of a Nitrokey 3") { $0.secrets },
        Member("problems", "the applications that could not be read") { $0.problems },
    ]

    /// The rows for people.
    var rows: [[String]] {
        var rows: [[String]] = []
        if let fido2 { rows.append(["passkeys", fido2.words]) }
        if let oath { rows.append(["OATH accounts", oath.words]) }
        if let secrets { rows.append(["entries", secrets.words]) }
        if let piv { rows.append(["PIV", PIVSummary(report: piv).words]) }
        if let openPGP { rows.append(["OpenPGP", openPGP.words]) }
        if let otpSlots {
            let words = ["not in use", "in use", "not reported"]
            rows.append([
                "OTP slots",
                otpSlots.enumerated().map { "\($0 + 1) \(words[$1.map { $0 ? 1 : 0 } ?? 2])" }.listed(),
            ])
        }
        if let hsmAuth { rows.append(["YubiHSM Auth", hsmAuth.words]) }
        return rows + problems.map { [$0.application, "not read: \($0.message)"] }
    }
}

extension KeyContents.FIDO2 {
    static let members: [Member<Self>] = [
        Member("hasPin") { $0.hasPIN },
        Member("pinRetries") { $0.pinRetries },
        Member("passkeyCount", "with --all") { $0.passkeys },
        Member("remainingCount", "how many more the key can store, at most") { $0.room },
    ]

    fileprivate var words: String {
        let count = passkeys.map { "\($0)" } ?? (hasPIN ? "counted with --all, which requires the PIN" : nil)
        let pin = hasPIN ? "PIN set" + (pinRetries.map { ", \(Tries.left($0))" } ?? "") : "no PIN is set"
        return [count, room.map { "room for \($0)" + (passkeys == nil ? "" : " more") }, pin].compactMap(\.self)
            .joined(separator: "; ")
    }
}

extension KeyContents.OATH {
    static let members: [Member<Self>] = [
        Member("accountCount", "null if a password locks them and --all is not given") { $0.accounts },
        Member("hasPassword") { $0.hasPassword },
    ]

    fileprivate var words: String {
        (accounts.map { "\($0)" } ?? "counted with --all, which requires the password")
            + (hasPassword ? "; password set" : "; no password is set")
    }
}

/// The numbers of a PIV application.
struct PIVSummary: Report {
    let report: PIVReport

    static let members: [Member<Self>] = [
        Member("keyCount", "null if the key reports only certificates") { $0.keys },
        Member("certificateCount", "in the slots that were read") { $0.certificates },
        Member("pinRetries") { $0.report.pin?.triesLeft },
        Member("pukRetries") { $0.report.puk?.triesLeft },
        Member("factory", "which of pin, puk and managementKey are still the factory defaults") {
            $0.report.defaults.map(\.rawValue)
        },
    ]

    private var keys: Int? { report.tellsKeys ? report.slots.count { $0.metadata != nil } : nil }
    private var certificates: Int { report.slots.count { $0.certificate != nil } }

    fileprivate var words: String {
        let counts = [
            keys.map { "\($0) \($0 == 1 ? "key" : "keys")" },
            "\(certificates) \(certificates == 1 ? "certificate" : "certificates")",
        ].compactMap(\.self).listed()
        let tries = [("PIN", report.pin), ("PUK", report.puk)].compactMap { name, pin in
            pin.map { "\(name) \(Tries.left($0.triesLeft))" }
        }
        let names = report.defaults.map {
            ["pin": "PIN", "puk": "PUK", "managementKey": "management key"][$0.rawValue] ?? ""
        }
        let factory = names.isEmpty ? [] : [Style.yellow.around("factory default: \(names.listed())")]
        return ([counts] + (tries.isEmpty ? [] : [tries.listed()]) + factory).joined(separator: "; ")
    }
}

extension KeyContents.OpenPGP {
    static let members: [Member<Self>] = [
        Member("keyCount") { $0.keys },
        Member("pinRetries") { $0.pinRetries },
        Member("adminPinRetries") { $0.adminPINRetries },
    ]

    fileprivate var words: String {
        "\(keys) \(keys == 1 ? "key" : "keys"); PIN \(Tries.left(pinRetries)), admin PIN \(Tries.left(adminPINRetries))"
    }
}

extension KeyContents.HSMAuth {
    static let members: [Member<Self>] = [
        Member("credentialCount") { $0.credentials },
        Member("managementPasswordRetries") { $0.managementPasswordRetries },
    ]

    fileprivate var words: String {
        "\(credentials) \(credentials == 1 ? "credential" : "credentials"); "
            + "management password \(Tries.left(managementPasswordRetries))"
    }
}

extension KeyContents.Secrets {
    static let members: [Member<Self>] = [
        Member("entryCount", "those that no PIN protects") { $0.entries },
        Member("hasPin") { $0.hasPIN },
        Member("pinRetries") { $0.pinRetries },
    ]

    fileprivate var words: String {
        "\(entries) without protection by a PIN; "
            + (hasPIN ? "PIN set" + (pinRetries.map { ", \(Tries.left($0))" } ?? "") : "no PIN is set")
    }
}

extension KeyContents.Problem {
    static let members: [Member<Self>] = [
        Member("application") { $0.application },
        Member("message", "for people") { $0.message },
    ]

    fileprivate var message: String { Explanation(error).message }
}
