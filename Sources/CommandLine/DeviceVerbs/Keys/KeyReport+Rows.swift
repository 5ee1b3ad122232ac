// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKKeys
import YKManagement
import YKOATH
import YKTransport
import YKWire

extension KeyReport {
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

    /// The lines of `ykit info`.
    func lines(_ contents: KeyContents) -> [String] {
        let details = KeyDetails(identity)
        var rows = [["name", details.name.printable]]
        if let reader { rows.append(["reader", reader.printable]) }
        if let path { rows.append(["node", path.printable]) }
        let facts = [("firmware", details.version), ("serial", details.serial)]
        rows += facts.map { [$0, $1?.printable ?? "not reported"] }
        if let info = identity.info { rows += Self.rows(info) }
        if let isInFIPSMode { rows.append(["FIPS mode", isInFIPSMode ? "on" : "off"]) }
        if let found { rows.append(["applications", found.isEmpty ? absence : found.sentence]) }
        if hasSecrets {
            rows.append(["secrets", "codes and passwords of a Nitrokey 3: ykit secrets list"])
        } else if reader != nil, hasOATH {
            rows.append(["oath", words(oath)])
        }
        let stored = contents.rows.isEmpty ? [] : [""] + Table.details(contents.rows)
        guard let info = identity.info else { return Table.details(rows) + stored }
        return Table.details(rows) + stored + [""] + Table.details(Self.table(info)) + Self.flaws(info).asProse
    }

    /// Whether OATH is an application of the key, as far as is known.
    private var hasOATH: Bool {
        oath != nil || oathProblem != nil || unrecorded.contains(.oath) || (found ?? .oath).contains(.oath)
    }

    private var absence: String { unrecorded.isEmpty ? "none that ykit knows" : "not in the recording" }

    private func words(_ oath: OATHInfo?) -> String {
        guard let oath else {
            if oathProblem != nil { return "not reported" }
            return unrecorded.contains(.oath) ? "not in the recording" : "not there"
        }
        return (oath.version.map { "version \($0), " } ?? "") + (oath.hasPassword ? "with a password" : "no password")
    }

    /// The rows about the device; settings with their default value have none.
    private static func rows(_ info: DeviceInfo) -> [[String]] {
        var rows = [["form factor", info.formFactor.description]]
        if let part = info.partNumber { rows.append(["part number", part.printable]) }
        if let version = info.fingerprintVersion { rows.append(["fingerprint sensor", "version \(version)"]) }
        if let version = info.stmVersion { rows.append(["STM", "version \(version)"]) }
        if info.isFIPSSeries { rows.append(["series", "FIPS"]) }
        if info.isSecurityKeySeries { rows.append(["series", "Security Key"]) }
        if let channels = channels(info) { rows.append(["secure channels", channels]) }
        if info.isLocked { rows.append(["configuration", "locked by a code"]) }
        if info.requiresComplexPIN { rows.append(["PINs", "simple ones are refused"]) }
        if !info.resetBlocked.isEmpty { rows.append(["reset blocked by", info.resetBlocked.sentence]) }
        if info.isNFCRestricted { rows.append(["nfc", "off until the key is in a USB port"]) }
        if info.flags.contains(.touchEject) { rows.append(["touch", "ejects the smart card"]) }
        if info.flags.contains(.remoteWakeUp) { rows.append(["remote wake-up", "on"]) }
        let (eject, wait) = (info.autoEjectTimeout, info.challengeResponseTimeout)
        if eject > .zero { rows.append(["auto-eject", "after \(eject.components.seconds) s"]) }
        if wait > .zero, wait != .seconds(15) {
            rows.append(["challenge-response", "waits \(wait.components.seconds) s for a touch"])
        }
        if info.isSynthesized {
            rows.append(["note", "too old to report its applications; they were probed one by one"])
        }
        return rows
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
