// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement

/// What the keys report: whether they answer, which applications are disabled, and known firmware flaws.
extension Ladder {
    var applications: [Rung] {
        let failures = findings.keys.compactMap(failure)
        return failures + told.flatMap(rungs)
    }

    /// The failure of a key that did not identify itself, at its step.
    private func failure(_ key: AskedKey) -> Rung? {
        guard case .failure(let why) = key.identity else { return nil }
        if findings.devices.contains(where: { key.refusal(at: $0.path) != nil }) { return nil }
        let name =
            switch why.exit {
            case .busy: "holder"
            case .permission: "permission"
            case .removed, .noDevice: "unplugged"
            default: "applications"
            }
        var rung = Rung(name, why)
        rung.seen = "\(key.place.printable) over \(key.way.rawValue): \(why.message)"
        return rung
    }

    /// The identified keys, each once, with all their answers.
    private var told: [(identity: DeviceIdentity, asked: [AskedKey])] {
        var found: [(identity: DeviceIdentity, asked: [AskedKey])] = []
        for key in findings.keys {
            guard case .success(let identity) = key.identity else { continue }
            let same = found.firstIndex { other in
                other.identity.product == identity.product && other.identity.firmware == identity.firmware
                    && other.identity.serial == identity.serial && !other.asked.contains { $0.way == key.way }
            }
            if let same { found[same].asked.append(key) } else { found.append((identity, [key])) }
        }
        return found
    }

    private func rungs(_ identity: DeviceIdentity, _ asked: [AskedKey]) -> [Rung] {
        let version = identity.firmware.map { " with firmware \($0.printable)" } ?? ""
        let ways = asked.map(\.way).filter { $0 != .virtual }.map(\.rawValue)
        let over = ways.isEmpty ? "" : " over \(ways.joined(separator: " and over "))"
        let answers = Rung("applications", .good, "\(identity.product.printable)\(version) answers\(over)")
        var rungs = [answers] + asked.compactMap { card($0, identity.info) }
        if let info = identity.info {
            rungs += switchedOff(info)
            rungs += KnownFlaw.of(info).map { flaw($0, asked) }
        }
        return rungs
    }

    /// Checks which applications of a card can be selected. One that is enabled over USB and cannot be selected is
    /// broken; FIDO does not count, since it is meant for contactless readers.
    private func card(_ key: AskedKey, _ info: DeviceInfo?) -> Rung? {
        guard !key.applications.isEmpty else { return nil }
        let isThere = key.applications.filter(\.isThere).reduce(into: Capability()) { $0.formUnion($1.capability) }
        let isMissing = key.applications.filter { !$0.isThere }.reduce(into: Capability()) {
            $0.formUnion($1.capability)
        }
        let isOnUSB = key.way == .direct || findings.slots.values.contains { $0.reader == key.place }
        let broken = isOnUSB ? (info?.usb.enabled ?? []).intersection(isMissing).subtracting(.fido2) : []
        if !broken.isEmpty {
            return Rung(
                "applications", .bad, "switched on, but not answering over \(key.way.rawValue): \(broken.sentence)",
                remedy: "take the key out, insert it again and look: ykit info")
        }
        guard !isThere.isEmpty else {
            return Rung(
                "applications", .note, "the card in '\(key.place.printable)' has no application that ykit knows",
                remedy: "is it a security key? ykit apdu shows what it answers")
        }
        return Rung("applications", .good, "applications of the card that answer: \(isThere.sentence)")
    }

    private func switchedOff(_ info: DeviceInfo) -> [Rung] {
        DeviceInfo.Transport.allCases.compactMap { transport in
            guard let applications = info.applications(over: transport) else { return nil }
            let off = applications.supported.subtracting(applications.enabled)
            guard !off.names.isEmpty else { return nil }
            return Rung(
                "switched-off", .note, "switched off over \(transport.rawValue.uppercased()): \(off.sentence)",
                remedy: "if you need one of them: ykit config \(transport.rawValue) --enable NAME")
        }
    }

    private func flaw(_ flaw: KnownFlaw, _ asked: [AskedKey]) -> Rung {
        if flaw.name == KnownFlaw.resetCode, let tries = asked.lazy.compactMap(\.resetCodeTries).first {
            return resetCode(flaw, tries)
        }
        if flaw.name == KnownFlaw.openPGPPIN, let version = asked.lazy.compactMap(\.openPGPVersion).first {
            guard version < KnownFlaw.mendedOpenPGP else {
                return Rung("firmware", .good, "\(flaw.title) does not concern this key: its OpenPGP is \(version)")
            }
            return Rung(
                "firmware", .note, "\(flaw.title) concerns this key, its OpenPGP is \(version): \(flaw.summary)",
                remedy: "take the keys off the NEO, or treat them as lost when it is lost")
        }
        return Rung("firmware", .note, "\(flaw.title): \(flaw.summary)", remedy: flaw.advice)
    }

    private func resetCode(_ flaw: KnownFlaw, _ tries: Int) -> Rung {
        guard tries > 0 else {
            return Rung("firmware", .good, "\(flaw.title) does not concern this key: its reset code has no tries")
        }
        return Rung(
            "firmware", .note, "\(flaw.title) concerns this key: \(flaw.summary); it has \(tries)",
            remedy: "set a reset code, unless you have: ykit openpgp access set-reset-code")
    }
}
