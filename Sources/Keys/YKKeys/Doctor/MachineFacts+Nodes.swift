// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement
import YKTransport

/// The kernel's device nodes, the smart card service, its readers, and the cards in them.
extension MachineFacts {
    /// Whether the HID nodes can be opened, and which programs hold them.
    var deviceNodes: [Finding] {
        devices.flatMap { device -> [Finding] in
            let use = device.isFIDO ? NodeFinding.Use.fido : .otp
            switch device.access {
            case .missing: return [Finding(.node, .problem, .node(device.path, .missing(use)))]
            case .denied: return [denied(device.path, use)]
            case .readable:
                return [Finding(.permission, .good, .node(device.path, .accessible(use)))] + held(device.path)
            }
        }
    }

    /// The other programs that have a node open, or hold it exclusively.
    private func held(_ path: String) -> [Finding] {
        if let why = keys.lazy.compactMap({ $0.refusal(at: path) }).first {
            return [Finding(.holder, .problem, .node(path, .refused(why)))]
        }
        let holders = nodes[path]?.holders ?? []
        return holders.isEmpty ? [] : [Finding(.holder, .note, .node(path, .open(holders)))]
    }

    /// An inaccessible node: its permissions, and why this user has no access.
    package func denied(_ path: String, _ use: NodeFinding.Use) -> Finding {
        let rule = rule(path)
        let seat = rule == .applied && machine != .container ? seatAccess : nil
        return Finding(.permission, .problem, .node(path, .denied(use, rule, nodes[path], seat)))
    }

    /// How the rule's "user at this machine" applies to this session.
    private var seatAccess: SeatAccess {
        if isGroupPending { return .groupPending }
        guard login.isThere else { return .noLogind }
        guard let session = login.session else { return .noSession }
        if session.isRemote { return .remote }
        return session.isActive ? .active : .inactive(user: login.activeUser)
    }

    // MARK: the service

    /// Whether any attached key has a smart card interface.
    private var wantsCard: Bool { usbKeys.contains { $0.interfaces.contains(where: \.isReader) } }

    /// Whether all USB card readers can be used without the service.
    private var canDoWithout: Bool {
        hasUSBLibrary && !slots.isEmpty
            && slots.values.allSatisfy { $0.access == .readable && $0.holders.isEmpty }
    }

    var cardService: [Finding] {
        switch readers {
        case .failure(let error):
            let isNeeded = wantsCard || devices.isEmpty
            let need = !isNeeded ? ServiceFinding.Need.none : canDoWithout ? .replaced : .needed
            let isNote = need == .none || need == .replaced && error == .serviceNotInstalled
            let finding = Finding(
                .pcscd, isNote ? .note : .problem, .service(.unavailable(error, obstacle(error), need)))
            return [finding] + (isNeeded ? withoutService : [])
        case .success:
            let works = ServiceFinding.works(version: serviceVersion, protocolVersion: service.protocolVersion)
            return [Finding(.pcscd, .good, .service(works))]
        }
    }

    /// Why the service is unusable, as precisely as the machine allows.
    private func obstacle(_ error: LinkError) -> ServiceFinding.Obstacle? {
        switch error {
        case .serviceNotInstalled, .serviceNotRunning:
            if machine != .plain, machine != .wsl, !service.hasSocket {
                return .notHandedIn(socket: service.path, hasProgram: service.program != nil)
            }
            return error == .serviceNotRunning ? stopped : nil
        case .timedOut: return .unresponsive
        case .accessDenied where service.hidesProcesses: return .hiddenProcesses
        default: return nil
        }
    }

    private var stopped: ServiceFinding.Obstacle {
        if !service.hasSystemd { return .noSystemd(hasSocket: service.hasSocket) }
        let units = [(service.socket, "pcscd.socket"), (service.service, "pcscd.service")]
        let masked = units.filter { $0.0 == .masked }.map(\.1)
        if !masked.isEmpty { return .masked(masked) }
        if service.socket == .missing { return .noUnit }
        return service.hasSocket
            ? .silent(socket: service.path) : .stopped(isDisabled: service.socket == .disabled)
    }

    /// The nodes that are used without the service.
    private var withoutService: [Finding] {
        guard hasUSBLibrary || slots.isEmpty else { return [Finding(.libusb, .problem, .service(.noUSBLibrary))] }
        return slots.values.sorted { $0.node < $1.node }.map { slot in
            switch slot.access {
            case .readable where slot.holders.isEmpty:
                Finding(.permission, .good, .node(slot.node, .accessible(.card)))
            case .readable: Finding(.holder, .problem, .node(slot.node, .held(slot.holders)))
            case .denied: denied(slot.node, .card)
            case .missing: Finding(.node, .note, .node(slot.node, .missing(.card)))
            }
        }
    }

    // MARK: readers and cards

    var cards: [Finding] {
        guard case .success(let readers) = readers else { return [] }
        let isAlone = devices.isEmpty && !readers.contains(where: \.hasCard)
        return unlisted + readers.map { card($0, isAlone) }
    }

    /// USB card readers that the service does not list.
    private var unlisted: [Finding] {
        slots.sorted { $0.key < $1.key }.compactMap { port, slot in
            guard slot.reader == nil else { return nil }
            if let holder = slot.holders.first, holder.name != "pcscd" {
                return Finding(.holder, .problem, .node(slot.node, .held(slot.holders)))
            }
            return Finding(.reader, .problem, .reader(.unlisted(port: port, hasDriver: service.hasDriver)))
        }
    }

    /// An empty reader is a problem only if nothing else is attached.
    private func card(_ reader: ReaderStatus, _ isAlone: Bool) -> Finding {
        if !reader.hasCard { return Finding(.card, isAlone ? .problem : .note, .reader(.empty(reader.name))) }
        if reader.isMute { return Finding(.card, .problem, .reader(.mute(reader.name))) }
        if reader.isExclusive { return Finding(.holder, .problem, .reader(.exclusive(reader.name, clients))) }
        return Finding(.card, .good, .reader(.card(reader, clients)))
    }
}

extension AskedKey {
    /// Why the node at a path is unusable, if a program holds it exclusively.
    func refusal(at path: String) -> KeyFailure? {
        guard place == path, case .failure(let why) = identity, why.isBusy else { return nil }
        return why
    }
}

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
