// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A card accessed through the smart card service.
final class PCSCLink: CardLink {
    private(set) var identity: CardIdentity
    var resetsOnRelease = false
    var resetsWhenShared = false

    private let service: PCSCService
    private let target: PCSCSession.Target
    /// `nil` after a call that did not return in time; the next transaction gets a new one.
    private var worker: PCSCWorker?
    /// Whether another program may have used the card in the meantime.
    private var hasRested = false
    private var isRemoved = false
    private var isClosed = false
    /// Whether another program was connected to the card before this one.
    private var isShared: Bool
    private var hold: UnfinishedWork.Hold? = .init()

    init(_ service: PCSCService, _ worker: PCSCWorker, _ target: PCSCSession.Target, _ facts: CardFacts) {
        self.service = service
        self.worker = worker
        self.target = target
        isShared = facts.isShared
        identity = CardIdentity(reader: target.reader, atr: facts.atr, maxCommandLength: facts.maxCommandLength)
    }

    deinit { close() }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        guard !command.isEmpty else { throw .malformed(WireError(.truncated, at: 0, "a command without bytes")) }
        let reply = try run("the card's answer", deadline) { session throws(PCSCFailure) in
            try session.transmit(command, patience: deadline.remaining - .milliseconds(50))
        }
        guard reply.count >= 2 else {
            throw .malformed(
                WireError(.truncated, at: reply.count, "a reply of \(reply.count) bytes, expected 2 or more"))
        }
        return reply
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool {
        guard !isRemoved, !isClosed else { throw .removed }
        let isNew = worker == nil
        if isNew { worker = try service.worker(deadline) }
        let begun: Begun
        do {
            begun = try run("the card in \(target.reader) to be free", deadline) {
                [target] session throws(PCSCFailure) in
                try session.begin(target)
            }
        } catch { throw service.explainWaiting(error, for: target.reader) }
        try adopt(begun)
        defer { hasRested = false }
        return begun.isLost || isNew || hasRested
    }

    func end() {
        hasRested = true
        worker?.post { [disposition] in $0.end(disposition) }
    }

    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        guard !isRemoved, !isClosed else { throw .removed }
        if worker == nil { worker = try service.worker(deadline) }
        let disposition: Disposition = kind == .warm ? .reset : .unpower
        let facts = try run("the card to be reset", deadline) { [target] session throws(PCSCFailure) in
            try session.reset(target, disposition)
        }
        hasRested = true
        if !facts.atr.isEmpty { identity.atr = facts.atr }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        defer { hold = nil }
        guard let worker else { return }
        self.worker = nil
        let disposition = disposition
        let isDone: Void? = try? worker.run("the card's release", .after(.seconds(2)), finalDisposition: disposition) {
            $0.disconnect(disposition)
        }
        if isDone != nil { service.park(worker) }
    }

    /// What happens to the card when it is released.
    private var disposition: Disposition { resetsOnRelease || isShared && resetsWhenShared ? .reset : .leave }

    /// Detects a replaced card: one with another answer to reset after the service was unavailable.
    private func adopt(_ begun: Begun) throws(LinkError) {
        if begun.isNew, let facts = begun.facts { isShared = facts.isShared }
        guard let facts = begun.facts, !facts.atr.isEmpty else { return }
        if begun.isNew, facts.atr != identity.atr {
            isRemoved = true
            close()
            throw .removed
        }
        identity.atr = facts.atr
    }

    func run<Value: Sendable>(
        _ doing: String, _ deadline: Deadline,
        _ body: @escaping @Sendable (PCSCSession) throws(PCSCFailure) -> Value
    ) throws(LinkError) -> Value {
        if isRemoved || isClosed { throw .removed }
        guard let worker else { throw .reset }
        let result: Result<Value, PCSCFailure>
        do {
            result = try worker.run(doing, deadline, finalDisposition: disposition) { session in
                attempt { () throws(PCSCFailure) in try body(session) }
            }
        } catch {
            if worker.isAbandoned { self.worker = nil }
            throw error
        }
        return try lift(explain) { () throws(PCSCFailure) in try result.get() }
    }

    private func explain(_ failure: PCSCFailure) -> LinkError {
        // Reconnecting after the service restarted: a card that is not detected yet has not necessarily been removed.
        if failure.step == .establish || failure.step == .connect {
            return service.explainConnecting(failure, to: target.reader)
        }
        if failure.code.meansRemoved { isRemoved = true }
        return service.explainConnected(failure, to: target.reader)
    }
}
