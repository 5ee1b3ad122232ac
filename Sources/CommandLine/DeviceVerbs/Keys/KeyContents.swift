// SPDX-License-Identifier: Apache-2.0

import Applications
import TerminalIO
import Verbs
import YKCapture
import YKFIDO
import YKHSMAuth
import YKKeys
import YKManagement
import YKOATH
import YKOTP
import YKOpenPGP
import YKPIV
import YKProtocols
import YKSecrets
import YKTransport
import YKWire

/// What is on a key: the number of things that each application stores, the tries that are left, and what is still the
/// factory default. An application that the key does not have, or that was not read, is `nil`.
struct KeyContents: Report {
    /// FIDO2.
    struct FIDO2: Report {
        let hasPIN: Bool
        let pinRetries: Int?
        /// The number of passkeys, which a key reports only with the PIN.
        var passkeys: Int?
        /// The room for more of them.
        let room: Int?
    }

    /// One-time codes.
    struct OATH: Report {
        /// `nil` if a password locks them.
        let accounts: Int?
        let hasPassword: Bool
    }

    /// OpenPGP.
    struct OpenPGP: Report {
        let keys: Int
        let pinRetries: Int
        let adminPINRetries: Int
    }

    /// YubiHSM Auth.
    struct HSMAuth: Report {
        let credentials: Int
        let managementPasswordRetries: Int
    }

    /// The Secrets application of a Nitrokey 3.
    struct Secrets: Report {
        let entries: Int
        let hasPIN: Bool
        let pinRetries: Int?
    }

    var fido2: FIDO2?
    var oath: OATH?
    var piv: PIVReport?
    var openPGP: OpenPGP?
    /// Whether each slot of Yubico OTP is programmed, as far as the key reports it.
    var otpSlots: [Bool?]?
    var hsmAuth: HSMAuth?
    var secrets: Secrets?
    /// The applications that could not be read.
    var problems: [Problem] = []

    /// An application that could not be read, and why.
    struct Problem: Report {
        let application: String
        let error: any Error
    }

    /// Reads the contents without a PIN or a touch, in the least number of exchanges.
    ///
    /// - Parameter pins: How to ask for the PIN and the password that the rest requires; `nil` to leave it out.
    static func read(
        _ report: KeyReport, all pins: (pin: PINOptions, password: PasswordOptions)?, in run: Run
    ) async throws -> Self {
        var contents = KeyContents()
        // A recording has one kind of link; FIDO2 and Yubico OTP are on another one unless --link chooses the card's. Its
        // replay leaves out the same.
        let isRecorded = run.options.record != nil || run.replay.map { $0.mode == .strict && !$0.hasOTP } ?? false
        let elsewhere: Capability =
            isRecorded && report.reader != nil && [nil, .auto].contains(run.options.link) ? [.fido2, .otp] : []
        let there = report.applications.subtracting(elsewhere)
        for (application, name) in [(Capability.fido2, "FIDO2"), (.otp, "Yubico OTP")]
        where report.applications.intersection(elsewhere).contains(application) {
            contents.problems.append(
                Problem(application: name, error: LinkError.capture("\(Recorder.oneLinkOnly), card")))
        }
        if there.contains(.fido2) {
            contents.fido2 = try await contents.part(run, "FIDO2") { try await fido2(pins?.pin, run) }
        }
        if report.hasSecrets { contents.secrets = try await contents.part(run, "Secrets") { try await secrets(run) } }
        if there.contains(.piv) {
            contents.piv = try await contents.part(run, "PIV") { try await run.openPIV().report() }
        }
        if there.contains(.openPGP) {
            contents.openPGP = try await contents.part(run, "OpenPGP") { try await openPGP(run) }
        }
        if there.contains(.hsmAuth) {
            contents.hsmAuth = try await contents.part(run, "YubiHSM Auth") { try await hsmAuth(run) }
        }
        if there.contains(.oath), report.oathProblem == nil {
            contents.oath = try await contents.part(run, "OATH") { try await oath(pins?.password, run) }
        }
        if there.contains(.otp) {
            contents.otpSlots = try await contents.part(run, "Yubico OTP") { try await otpSlots(run) }
        }
        return contents
    }

    /// Reads an application; an error of it is stored, unless the key was removed or the reading cancelled.
    private mutating func part<Part: Sendable>(
        _ run: Run, _ name: String, _ read: () async throws -> Part?
    ) async throws -> Part? {
        do { return try await read() } catch {
            if run.isInterrupted { throw error }
            if KeyError.isAbsence(ofApplication: error) { return nil }
            if case .recordedLink = error as? KeyError { return nil }
            if case .link(let link) = CardError(causing: error) {
                guard case .replay = link else { throw error }
                return nil
            }
            problems.append(Problem(application: name, error: error))
            return nil
        }
    }

    private static func fido2(_ pin: PINOptions?, _ run: Run) async throws -> FIDO2? {
        let service =
            if let pin { try await run.openFIDO(pin, for: "count the passkeys") } else { try await run.openFIDO() }
        guard await service.hasCTAP2 else { return nil }
        let info = try await service.info()
        let retries = info.hasPIN ? try await service.pinRetriesIfTold() : nil
        var contents = FIDO2(
            hasPIN: info.hasPIN, pinRetries: retries?.count, room: info.remainingCredentials.map { Int(clamping: $0) })
        if pin != nil, info.hasCredentialManagement, info.hasPIN || info.givesTokenForUV {
            contents.passkeys = try await service.credentialStorageIfTold().map { Int(clamping: $0.existing) }
        }
        return contents
    }

    private static func oath(_ password: PasswordOptions?, _ run: Run) async throws -> OATH? {
        let service = try await run.open(OATHService.self)
        let info = await service.info
        if let password { try await run.unlock(service, password) }
        let isLocked = await service.info.isLocked && password == nil
        return OATH(accounts: isLocked ? nil : try await service.accounts().count, hasPassword: info.hasPassword)
    }

    private static func openPGP(_ run: Run) async throws -> OpenPGP? {
        let status = try await run.open(OpenPGPService.self).status()
        let keys = status.keys.filter { $0.slot != .attestation && $0.fingerprint != nil }
        return OpenPGP(
            keys: keys.count, pinRetries: status.pins.retries.user, adminPINRetries: status.pins.retries.admin)
    }

    private static func hsmAuth(_ run: Run) async throws -> HSMAuth? {
        let service = try await run.open(HSMAuthService.self)
        return HSMAuth(
            credentials: try await service.credentials().count,
            managementPasswordRetries: try await service.managementKeyRetries())
    }

    private static func secrets(_ run: Run) async throws -> Secrets? {
        let service = try await run.choosing { try await $0.open(SecretsService.self) }
        let info = await service.info
        return Secrets(entries: try await service.entries().count, hasPIN: info.hasPIN, pinRetries: info.pinRetries)
    }

    private static func otpSlots(_ run: Run) async throws -> [Bool?]? {
        let service = try await run.choosing { try await $0.open(OTPService.self) }
        return [await service.state(of: .one).isProgrammed, await service.state(of: .two).isProgrammed]
    }
}

extension CaptureReplay {
    /// Whether the recording has Yubico OTP over the card.
    fileprivate var hasOTP: Bool {
        CardTransaction.all(in: capture).contains {
            $0.command.ins == ISO7816.select && $0.command.data == OTPProtocol.aid.rawValue
        }
    }
}

extension KeyReport {
    /// The applications that can be used now; a key over HID that does not list any may have FIDO2.
    fileprivate var applications: Capability {
        if let info = identity.info {
            return info.usb.enabled.union(isContactless || info.usb.enabled.isEmpty ? info.nfc?.enabled ?? [] : [])
        }
        return (found ?? .fido2).subtracting(unrecorded)
    }
}

extension KeyContents {
    static let members: [Member<KeyContents>] = [
        Member(
            "fido2", "null if the key has no FIDO2, or it was not read; likewise the others", title: "passkeys",
            words: { $0.words }
        ) { $0.fido2 },
        Member("oath", title: "OATH accounts", words: { $0.words }) { $0.oath },
        Member("piv", title: "PIV", words: { $0.words }) { $0.piv.map(PIVSummary.init) },
        Member("openpgp", title: "OpenPGP", words: { $0.words }) { $0.openPGP },
        Member(
            "otp", "whether slots 1 and 2 are programmed", title: "OTP slots",
            words: { slots in
                let words = ["not in use", "in use", "not reported"]
                return slots.enumerated().map { "\($0 + 1) \(words[$1.map { $0 ? 1 : 0 } ?? 2])" }.listed()
            }
        ) { $0.otpSlots },
        Member("hsmauth", title: "YubiHSM Auth", words: { $0.words }) { $0.hsmAuth },
        Member("secrets", "of a Nitrokey 3", title: "entries", words: { $0.words }) { $0.secrets },
        Member(
            "problems", "the applications that could not be read",
            rows: { $0.problems.map { [$0.application, "not read: \($0.message)"] } }
        ) { $0.problems },
    ]
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
            .listed(by: "; ")
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
        return ([counts] + (tries.isEmpty ? [] : [tries.listed()]) + factory).listed(by: "; ")
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
