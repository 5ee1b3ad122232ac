// SPDX-License-Identifier: Apache-2.0

import YKHardware
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
