// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement

/// What the keys report: whether they answer, which applications are disabled, and known firmware flaws.
extension MachineFacts {
    var answers: [Finding] { keys.compactMap(failure) + identified.flatMap(findings) }

    /// The failure of a key that did not identify itself, at its step.
    private func failure(_ key: AskedKey) -> Finding? {
        guard case .failure(let why) = key.identity else { return nil }
        if devices.contains(where: { key.refusal(at: $0.path) != nil }) { return nil }
        return Finding(why.step, .problem, .key(.failed(place: key.place, key.access, why)))
    }

    /// The identified keys, each listed once, with all their answers.
    private var identified: [(identity: DeviceIdentity, asked: [AskedKey])] {
        var found: [(identity: DeviceIdentity, asked: [AskedKey])] = []
        for key in keys {
            guard case .success(let identity) = key.identity else { continue }
            let same = found.firstIndex { other in
                other.identity.product == identity.product && other.identity.firmware == identity.firmware
                    && other.identity.serial == identity.serial && !other.asked.contains { $0.access == key.access }
            }
            if let same { found[same].asked.append(key) } else { found.append((identity, [key])) }
        }
        return found
    }

    private func findings(_ identity: DeviceIdentity, _ asked: [AskedKey]) -> [Finding] {
        let over = asked.map(\.access).filter { $0 != .virtual }
        let known = identity.info.map { info in disabled(info) + KnownFlaw.of(info).map { flaw($0, asked) } } ?? []
        return [Finding(.applications, .good, .key(.answers(identity, over)))]
            + asked.compactMap { card($0, identity.info) } + known
    }

    /// Checks which applications of a card can be selected. One that is enabled over USB and cannot be selected is
    /// broken; FIDO does not count, since it is meant for contactless readers.
    private func card(_ key: AskedKey, _ info: DeviceInfo?) -> Finding? {
        guard !key.applications.isEmpty else { return nil }
        func all(_ isThere: Bool) -> Capability {
            key.applications.filter { $0.isThere == isThere }.reduce(into: []) { $0.formUnion($1.capability) }
        }
        let isOnUSB = key.access == .direct || slots.values.contains { $0.reader == key.place }
        let broken = isOnUSB ? (info?.usb.enabled ?? []).intersection(all(false)).subtracting(.fido2) : []
        if !broken.isEmpty { return Finding(.applications, .problem, .key(.broken(broken, key.access))) }
        let found = all(true)
        if found.isEmpty { return Finding(.applications, .note, .key(.unknownCard(place: key.place))) }
        return Finding(.applications, .good, .key(.applications(found)))
    }

    private func disabled(_ info: DeviceInfo) -> [Finding] {
        DeviceInfo.Transport.allCases.compactMap { transport in
            guard let applications = info.applications(over: transport) else { return nil }
            let off = applications.supported.subtracting(applications.enabled)
            return off.names.isEmpty ? nil : Finding(.switchedOff, .note, .key(.switchedOff(off, transport)))
        }
    }

    private func flaw(_ flaw: KnownFlaw, _ asked: [AskedKey]) -> Finding {
        if flaw.name == KnownFlaw.resetCode, let tries = asked.lazy.compactMap(\.resetCodeTries).first {
            return Finding(.firmware, tries > 0 ? .note : .good, .key(.resetCodeFlaw(flaw, tries: tries)))
        }
        if flaw.name == KnownFlaw.openPGPPIN, let version = asked.lazy.compactMap(\.openPGPVersion).first {
            let isFixed = version >= KnownFlaw.mendedOpenPGP
            return Finding(.firmware, isFixed ? .good : .note, .key(.openPGPFlaw(flaw, version)))
        }
        return Finding(.firmware, .note, .key(.flaw(flaw)))
    }
}
