// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKKeys
import YKManagement
import YKOATH
import YKTransport
import YKWire

/// The answer of `ykit info`. Values that the key does not report are null; settings with their default value have no
/// row.
extension KeyReport: Report {
    package static let members: [Member<KeyReport>] = identityMembers + stateMembers + settingMembers + foundMembers

    private static let identityMembers: [Member<KeyReport>] = [
        Member("name", title: "name") { KeyDetails($0.identity).name },
        Member("manufacturer") { $0.identity.maker.rawValue },
        Member("serial", title: "serial", absent: "not reported") { KeyDetails($0.identity).serial },
        Member("firmware", title: "firmware", absent: "not reported") { KeyDetails($0.identity).version },
        Member("reader", "of a key that was read as a card", title: "reader") { $0.reader },
        Member("path", "of a key that was read over HID", title: "node") { $0.path },
        Member("formFactor", title: "form factor") { $0.identity.info?.formFactor.description },
        Member(
            "applications", title: "applications",
            line: { report in report.found.map { $0.isEmpty ? report.absence : $0.sentence } }
        ) { $0.applications },
    ]

    private static let stateMembers: [Member<KeyReport>] = [
        Member(
            "locked", "whether the configuration is locked by a code", title: "configuration",
            words: { $0 ? "locked by a code" : nil }
        ) { $0.identity.info?.isLocked },
        Member("fipsSeries", title: "series", words: { $0 ? "FIPS" : nil }) { $0.identity.info?.isFIPSSeries },
        Member(
            "securityKeySeries", title: "series",
            words: { $0 ? "Security Key" : nil }
        ) { $0.identity.info?.isSecurityKeySeries },
        Member("partNumber", title: "part number") { $0.identity.info?.partNumber },
        Member("fipsCapable", "applications") { $0.identity.info?.fipsCapable.names },
        Member("fipsApproved", "applications") { $0.identity.info?.fipsApproved.names },
        Member("fipsMode", "with --check-fips", title: "FIPS mode", words: { $0 ? "on" : "off" }) { $0.isInFIPSMode },
        Member(
            "complexPin", "whether simple PINs are refused", title: "PINs",
            words: { $0 ? "simple ones are refused" : nil }
        ) { $0.identity.info?.requiresComplexPIN },
        Member("resetBlocked", "applications", title: "reset blocked by") { $0.identity.info?.resetBlocked.names },
    ]

    private static let settingMembers: [Member<KeyReport>] = [
        Member(
            "flags", "remote-wakeup and touch-eject",
            rows: { report in
                [("touch-eject", ["touch", "ejects the smart card"]), ("remote-wakeup", ["remote wake-up", "on"])]
                    .filter { report.identity.info?.flagNames.contains($0.0) ?? false }.map(\.1)
            }
        ) { $0.identity.info?.flagNames },
        Member("autoEjectTimeout", "in seconds", title: "auto-eject", words: { $0 > 0 ? "after \($0) s" : nil }) {
            $0.identity.info?.autoEjectTimeout.components.seconds
        },
        Member(
            "challengeResponseTimeout", "in seconds", title: "challenge-response",
            words: { $0 > 0 && $0 != 15 ? "waits \($0) s for a touch" : nil }
        ) { $0.identity.info?.challengeResponseTimeout.components.seconds },
        Member(
            "nfcRestricted", "whether NFC is off until the key is in a USB port", title: "nfc",
            words: { $0 ? "off until the key is in a USB port" : nil }
        ) { $0.identity.info?.isNFCRestricted },
    ]

    private static let foundMembers: [Member<KeyReport>] = [
        Member("fingerprintVersion", "of the sensor", title: "fingerprint sensor", words: { "version \($0)" }) {
            $0.identity.info?.fingerprintVersion?.description
        },
        Member("stmVersion", title: "STM", words: { "version \($0)" }) { $0.identity.info?.stmVersion?.description },
        Member(
            "synthesized", "whether the applications were probed one by one", title: "note",
            words: { $0 ? "too old to report its applications; they were probed one by one" : nil }
        ) { $0.identity.info?.isSynthesized },
        Member("flaws", "of the firmware") { $0.identity.info.map { KnownFlaw.of($0) } },
        Member("oath", rows: { $0.codes }) { $0.oath.map(OATHSummary.init) },
        Member(
            "secureChannels", "protocols", title: "secure channels",
            line: { $0.identity.info.flatMap(channels) }
        ) { $0.identity.info?.secureChannels },
    ]

    /// The members in the order of their rows.
    private static let order = [
        "name", "reader", "path", "firmware", "serial", "formFactor", "partNumber", "fingerprintVersion", "stmVersion",
        "fipsSeries", "securityKeySeries", "secureChannels", "locked", "complexPin", "resetBlocked", "nfcRestricted",
        "flags", "autoEjectTimeout", "challengeResponseTimeout", "synthesized", "fipsMode", "applications", "oath",
    ]

    /// The lines of `ykit info`.
    func lines(_ contents: KeyContents) -> [String] {
        let stored = contents.details
        let lines = Table.details(rows(Self.order)) + (stored.isEmpty ? [] : [""] + stored)
        guard let info = identity.info else { return lines }
        return lines + [""] + Table.details(Self.table(info)) + Self.flaws(info).asProse
    }

    /// The applications by transport; for a card that does not list them, those found by probing.
    private var applications: [ApplicationState]? {
        if let info = identity.info { return ApplicationState.all(usb: info.usb, nfc: info.nfc) }
        guard let found else { return nil }
        let there = DeviceInfo.Applications(supported: found, enabled: found)
        return ApplicationState.all(usb: isContactless ? nil : there, nfc: isContactless ? there : nil)
    }

    /// What the key or the recording does not show.
    var warnings: [Warning] {
        var warnings: [Warning] = []
        if let problem = identity.problem, problem.isUnrecorded {
            warnings.append(Warning("unrecorded", "the recording does not have all of the key's device information"))
        } else if let problem = identity.problem {
            warnings.append(
                Warning(Explanation(problem)) { "the key does not report all of its device information: \($0)" })
        }
        if let oathProblem {
            warnings.append(
                Warning(Explanation(oathProblem)) { "the key does not report the state of OATH: \($0)" })
        }
        if !unrecorded.isEmpty {
            warnings.append(
                Warning("unrecorded", "the recording does not show whether the key has \(unrecorded.sentence)"))
        }
        return warnings
    }

    /// Whether OATH is an application of the key, as far as is known.
    private var hasOATH: Bool {
        oath != nil || oathProblem != nil || unrecorded.contains(.oath) || (found ?? .oath).contains(.oath)
    }

    /// The row about codes.
    private var codes: [[String]] {
        if hasSecrets { return [["secrets", "codes and passwords of a Nitrokey 3: ykit secrets list"]] }
        return reader != nil && hasOATH ? [["oath", words(oath)]] : []
    }

    private var absence: String { unrecorded.isEmpty ? "none that ykit knows" : "not in the recording" }

    private func words(_ oath: OATHInfo?) -> String {
        guard let oath else {
            if oathProblem != nil { return "not reported" }
            return unrecorded.contains(.oath) ? "not in the recording" : "not there"
        }
        return (oath.version.map { "version \($0), " } ?? "") + (oath.hasPassword ? "with a password" : "no password")
    }

    /// The secure channels of firmware 5.3 and later, and whether one is required.
    private static func channels(_ info: DeviceInfo) -> String? {
        let protocols = info.secureChannels
        guard !protocols.isEmpty else { return nil }
        let isNeeded = info.isFIPSSeries && info.version >= FirmwareVersion(5, 7, 0) && info.nfc != nil
        let names = protocols.listed()
        guard isNeeded else { return names }
        let needing = info.fipsCapable.subtracting(.fido2).sentence
        return "\(names); over NFC \(needing) require one: SCP11b unless --scp chooses another"
    }

    /// The applications by transport, with FIPS status if the key reports it.
    private static func table(_ info: DeviceInfo) -> [[String]] {
        let hasNFC = info.nfc != nil
        let hasFIPS = !info.fipsCapable.isEmpty
        let head = ["application", "usb"] + (hasNFC ? ["nfc"] : []) + (hasFIPS ? ["FIPS approved"] : [])
        let rows = Capability.applications.map { capability, name in
            var row = [name, state(capability, info.usb) ?? "not there"]
            if hasNFC { row.append(state(capability, info.nfc) ?? "not there") }
            if hasFIPS, info.fipsCapable.contains(capability) {
                row.append(info.fipsApproved.contains(capability) ? "yes" : "no")
            }
            return row
        }
        return [head] + rows
    }

    static func state(_ capability: Capability, _ applications: DeviceInfo.Applications?) -> String? {
        guard let applications, applications.supported.contains(capability) else { return nil }
        return applications.enabled.contains(capability) ? "enabled" : "disabled"
    }

    private static func flaws(_ info: DeviceInfo) -> [String] {
        let flaws = KnownFlaw.of(info)
        guard !flaws.isEmpty else { return [] }
        return ["", "known flaws of firmware \(info.version)"]
            + flaws.flatMap { flaw in
                ["  \(flaw.title)", "    \(flaw.summary)", "    what to do: \(flaw.advice)"]
            }
    }
}

/// An application of a key, by transport.
private struct ApplicationState: Report {
    let name: String
    let usb: String?
    let nfc: String?

    static let members: [Member<ApplicationState>] = [
        Member("name") { $0.name },
        Member("usb", "enabled or disabled, null if the key does not have it there") { $0.usb },
        Member("nfc", "the same") { $0.nfc },
    ]

    static func all(usb: DeviceInfo.Applications?, nfc: DeviceInfo.Applications?) -> [ApplicationState] {
        Capability.applications.map { capability, name in
            ApplicationState(
                name: name, usb: KeyReport.state(capability, usb), nfc: KeyReport.state(capability, nfc))
        }
    }
}

/// The state of OATH.
private struct OATHSummary: Report {
    let info: OATHInfo

    static let members: [Member<OATHSummary>] = [
        Member("version") { $0.info.version?.description },
        Member("deviceId") { $0.info.deviceID },
        Member("hasPassword") { $0.info.hasPassword },
    ]
}

extension DeviceInfo {
    fileprivate var flagNames: [String] {
        [(Flags.remoteWakeUp, "remote-wakeup"), (.touchEject, "touch-eject")]
            .filter { flags.contains($0.0) }.map(\.1)
    }
}
