// SPDX-License-Identifier: Apache-2.0

import YKWire

extension VirtualHID {
    /// Whether the fault of this message is that it never ends.
    var isEndless: Bool {
        if case .endless = fault { true } else { fault == .keepalives }
    }

    /// Whether the report arrives. A fault for this report may remove the key or affect the report's message.
    mutating func admit(at now: Instant) -> Bool {
        switch faults.nextReport() {
        case nil: return true
        case .drop: return false
        case let found?:
            if leaves(found) { return false }
            spoiling = found
            return true
        }
    }

    /// Looks up the fault for a message; returns whether to execute the message.
    mutating func plan(_ message: CTAPHID.Message, at now: Instant) -> Bool {
        guard message.command != .cancel else { return true }
        // INIT, on the same channel or for a new one, ends a message that never ends.
        if message.command == .initialize, isEndless { work = nil }
        guard work == nil || message.command == .initialize else { return true }
        let planned = faults.next([0x80 | message.command.rawValue] + message.payload) ?? spoiling
        spoiling = nil
        fault = planned
        if busyLeft > 0, message.command != .initialize {
            busyLeft -= 1
            fault = .busy(1)
        } else if case .busy(let times) = planned {
            busyLeft = max(0, times - 1)
        }
        switch fault {
        case nil: return true
        case .busy, .error, .status, .ctap:
            send(.init(message.command, on: message.channel, []), at: now)
            return false
        case let found?: return !leaves(found)
        }
    }

    private mutating func leaves(_ fault: FaultPlan.Fault) -> Bool {
        switch fault {
        case .remove(let back?): leave(.until(back))
        case .remove(nil): leave(.forGood)
        case .reset: leave(.until(.zero))
        default: return false
        }
        return true
    }

    /// Removes the key.
    package mutating func leave(_ absence: FaultPlan.Absence) {
        self.absence = absence
        work = nil
        outgoing = []
    }

    /// Queues the reports of an answer with the planned fault applied.
    mutating func send(_ answer: CTAPHID.Message, at now: Instant) {
        guard let fault else { return say(answer, at: now) }
        self.fault = nil
        var due = max(now, outgoing.last?.due ?? now)
        if case .delay(let time) = fault { due = due.advanced(by: time) }
        var reports = Self.reports(fault.replacing(answer))
        if !reports.isEmpty { fault.spoil(&reports) }
        outgoing += reports.map { (due, $0) }
        if case .removeAfter = fault { outgoing.append((due, nil)) }
    }

    /// Queues the reports of a message unchanged.
    mutating func say(_ message: CTAPHID.Message, at now: Instant) {
        let due = max(now, outgoing.last?.due ?? now)
        outgoing += Self.reports(message).map { (due, $0) }
    }

    static func reports(_ message: CTAPHID.Message) -> [[UInt8]] { (try? message.reports()) ?? [] }
}

extension FaultPlan.Fault {
    /// The message sent in place of an answer.
    fileprivate func replacing(_ answer: CTAPHID.Message) -> CTAPHID.Message {
        let channel = answer.channel
        switch self {
        case .error(let code): return .init(.error, on: channel, [code])
        case .busy: return .init(.error, on: channel, [CTAPHID.ErrorCode.channelBusy.rawValue])
        case .status(let word): return .init(answer.command, on: channel, [word.sw1, word.sw2])
        case .ctap(let status): return .init(answer.command, on: channel, [status])
        case .channel: return .init(answer.command, on: .init(rawValue: channel.rawValue ^ 0x0101_0101), answer.payload)
        case .nonce:
            guard answer.command == .initialize else { return answer }
            return .init(
                answer.command, on: channel, answer.payload.prefix(8).map { ~$0 } + answer.payload.dropFirst(8))
        default: return answer
        }
    }

    /// Applies the fault to the reports of an answer.
    fileprivate func spoil(_ reports: inout [[UInt8]]) {
        switch self {
        case .drop: reports = []
        case .dropReport(let number) where reports.indices.contains(number - 1): reports.remove(at: number - 1)
        case .removeAfter(let count): reports = Array(reports.prefix(count))
        case .truncate(let count): reports[0] = Array(reports[0].prefix(count))
        case .garbage(let bytes):
            let size = CTAPHID.reportSize
            reports = [Array((bytes + [UInt8](repeating: 0, count: size)).prefix(max(size, bytes.count)))]
        case .sequence:
            for index in reports.indices.dropFirst() { reports[index][4] = (reports[index][4] &+ 1) & 0x7F }
        case .length(let difference):
            let said = Int(reports[0][5]) << 8 | Int(reports[0][6])
            let length = UInt16(clamping: said + difference)
            reports[0][5] = UInt8(length >> 8)
            reports[0][6] = UInt8(truncatingIfNeeded: length)
        case .storm(let count):
            let other = CTAPHID.Channel(rawValue: 0x7F00_00FF)
            let foreign = VirtualHID.reports(.init(.keepalive, on: other, [1]))
            let storm = (0..<count).flatMap { _ in foreign }
            reports = reports.flatMap { storm + [$0] }
        default: break
        }
    }
}
