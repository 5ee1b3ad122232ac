// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Glibc

/// A context with the smart card service and at most one card, owned by a worker thread. Every call may block.
final class PCSCSession {
    /// The card of a link.
    struct Target: Sendable {
        var reader: String
        var share: PCSC.Share
    }

    let library: PCSCLibrary
    private var context: SCARDCONTEXT?
    private(set) var card: SCARDHANDLE?
    private var activeProtocol: DWORD = 0
    private var isInTransaction = false
    /// The readers when they were last listed.
    var listing: ReaderListing?
    /// Room for the longest response APDU (MAX_BUFFER_SIZE_EXTENDED).
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 4 + 3 + 65536 + 3 + 2)

    init(library: PCSCLibrary) { self.library = library }

    deinit { buffer.deallocate() }

    // MARK: the context

    /// The context, created if necessary.
    func established() throws(PCSCFailure) -> SCARDCONTEXT {
        if let context { return context }
        var fresh: SCARDCONTEXT = 0
        try PCSCFailure.check(library.establishContext(&fresh), .establish)
        context = fresh
        return fresh
    }

    /// Runs `body` with a context, and retries with a new one when the service has been restarted.
    func withContext<Value>(_ body: (SCARDCONTEXT) throws(PCSCFailure) -> Value) throws(PCSCFailure) -> Value {
        let wasOld = context != nil
        do { return try body(established()) } catch {
            guard error.code.meansServiceLost else { throw error }
            forget()
            guard wasOld else { throw error }
        }
        do { return try body(established()) } catch {
            if error.code.meansServiceLost { forget() }
            throw error
        }
    }

    /// Drops card and context, ignoring errors.
    func forget() {
        card = nil
        isInTransaction = false
        if let context { _ = library.releaseContext(context) }
        context = nil
    }

    // MARK: the card

    /// Connects to a card and reads its identity and the reader's.
    func connect(_ target: Target) throws(PCSCFailure) -> CardFacts {
        try withContext { context throws(PCSCFailure) in
            var code = connect(target, in: context)
            // A pcscd that has just started searches for readers before it lists them, but not before it connects.
            if code == .unknownReader, try readerNames().contains(target.reader) {
                code = connect(target, in: context)
            }
            // While another program resets the card, pcscd briefly knows no protocol.
            if code == .protocolMismatch {
                usleep(50_000)
                code = connect(target, in: context)
            }
            guard code == .success, let card else { throw PCSCFailure(code, .connect) }
            return CardFacts(
                atr: listing?.atr(in: target.reader) ?? atr(of: card),
                maxCommandLength: ReaderFeatures.maxCommandLength(card, library),
                isShared: listing?.isInUse(target.reader) ?? false)
        }
    }

    private func connect(_ target: Target, in context: SCARDCONTEXT) -> PCSCCode {
        var code = PCSCCode.success
        for protocols in [SCARD_PROTOCOL_ANY, SCARD_PROTOCOL_RAW] {
            var fresh: SCARDHANDLE = 0
            code = PCSCCode(
                library.connect(
                    context, target.reader, target.share.code, DWORD(protocols), &fresh, &activeProtocol))
            if code == .success { card = fresh }
            if code != .protocolMismatch { break }
        }
        return code
    }

    private func atr(of card: SCARDHANDLE) -> [UInt8] {
        var atr = [UInt8](repeating: 0, count: Int(MAX_ATR_SIZE))
        var length = DWORD(atr.count)
        guard PCSCCode(library.status(card, nil, nil, &atr, &length)) == .success else { return [] }
        return Array(atr.prefix(Int(min(length, DWORD(MAX_ATR_SIZE)))))
    }

    /// Locks other programs out of the card; reconnects when the card was reset or the service restarted.
    func begin(_ target: Target) throws(PCSCFailure) -> Begun {
        var begun = Begun(isLost: false, isNew: false, facts: nil)
        for _ in 0..<5 {
            if card == nil {
                begun = Begun(isLost: true, isNew: true, facts: try connect(target))
            }
            guard let card else { break }
            let code = PCSCCode(library.beginTransaction(card))
            switch code {
            case .success:
                isInTransaction = true
                return begun
            case .resetCard:
                do { try reconnect(target, .leave) } catch {
                    guard error.code == .protocolMismatch else { throw error }
                    disconnect(.leave)
                    continue
                }
                begun = Begun(isLost: true, isNew: begun.isNew, facts: CardFacts(atr: atr(of: card)))
            case let code where code.meansServiceLost && !begun.isNew:
                forget()
            default: throw PCSCFailure(code, .begin)
            }
        }
        throw PCSCFailure(.resetCard, .begin)
    }

    /// Lets other programs use the card.
    func end(_ disposition: Disposition) {
        guard let card, isInTransaction else { return }
        isInTransaction = false
        _ = library.endTransaction(card, disposition.rawValue)
    }

    /// Resets the card and returns its new identity.
    func reset(_ target: Target, _ disposition: Disposition) throws(PCSCFailure) -> CardFacts {
        guard let card else { return try connect(target) }
        try reconnect(target, disposition)
        return CardFacts(atr: atr(of: card))
    }

    private func reconnect(_ target: Target, _ disposition: Disposition) throws(PCSCFailure) {
        guard let card else { throw PCSCFailure(.invalidHandle, .reconnect) }
        let isRaw = activeProtocol == DWORD(SCARD_PROTOCOL_RAW)
        let protocols = DWORD(isRaw ? SCARD_PROTOCOL_RAW : SCARD_PROTOCOL_ANY)
        let code = library.reconnect(card, target.share.code, protocols, disposition.rawValue, &activeProtocol)
        try PCSCFailure.check(code, .reconnect)
    }

    /// Disconnects from the card, which ends a transaction (SCardDisconnect of pcsc-lite 1.9.9); keeps the context for the
    /// next one.
    func disconnect(_ disposition: Disposition) {
        guard let card else { return }
        self.card = nil
        isInTransaction = false
        if PCSCCode(library.disconnect(card, disposition.rawValue)).meansServiceLost { forget() }
    }

    // MARK: an exchange

    /// Sends a command APDU and returns the response undecoded.
    func transmit(_ command: [UInt8], patience: Duration) throws(PCSCFailure) -> [UInt8] {
        guard let card else { throw PCSCFailure(.resetCard, .transmit) }
        var header = SCARD_IO_REQUEST(
            dwProtocol: activeProtocol, cbPciLength: UInt(MemoryLayout<SCARD_IO_REQUEST>.size))
        let sent = activeProtocol == DWORD(SCARD_PROTOCOL_T0) ? command.withoutLeOfCase4 : command[...]
        var length = DWORD(buffer.count)
        var code = sent.withUnsafeBufferPointer { bytes in
            PCSCCode(
                library.transmit(card, &header, bytes.baseAddress, DWORD(bytes.count), buffer.baseAddress, &length))
        }
        // vpcd 3.3 returns no bytes when its card is removed.
        if code == .success, length == 0 { code = .notTransacted }
        // Another program reset the card, which now uses the other protocol: nothing was sent, and the selection is
        // lost, as after any reset. The next transaction reconnects.
        if code == .protocolMismatch {
            disconnect(.leave)
            throw PCSCFailure(.resetCard, .transmit)
        }
        guard code == .success else { throw PCSCFailure(cause(of: code, card, patience), .transmit) }
        guard length <= DWORD(buffer.count) else { throw PCSCFailure(.insufficientBuffer, .transmit) }
        defer { _ = buffer.baseAddress.map { memset($0, 0, Int(length)) } }
        return Array(buffer.prefix(Int(length)))
    }

    /// pcscd reports only "not transacted" when a card is removed during an exchange, and polls for cards every 400 ms
    /// (pcsc-lite 1.9.9): this waits for the real reason, with a margin for a busy machine.
    private func cause(of code: PCSCCode, _ card: SCARDHANDLE, _ patience: Duration) -> PCSCCode {
        if code.meansServiceLost { forget() }
        guard code == .notTransacted else { return code }
        let end = ContinuousClock.now.advanced(by: min(patience, .seconds(2)))
        repeat {
            var none: DWORD = 0
            let status = PCSCCode(library.status(card, nil, nil, nil, &none))
            if status.meansServiceLost { return .removedCard }
            if status.meansRemoved || status == .resetCard { return status }
            usleep(20_000)
        } while ContinuousClock.now < end
        return code
    }
}

/// What to do with the card when a connection is made or ended.
enum Disposition: DWORD, Sendable {
    case leave = 0
    case reset = 1
    case unpower = 2
}

/// The facts that a connection reports about card and reader.
struct CardFacts: Sendable {
    var atr: [UInt8]
    var maxCommandLength: Int?
    /// Whether another program was connected to the card before.
    var isShared = false
}

/// The result of beginning a transaction.
struct Begun: Sendable {
    /// Whether the selection and unlocked state are lost.
    var isLost: Bool
    /// Whether the connection is new.
    var isNew: Bool
    /// The card's current identity, if it was read.
    var facts: CardFacts?
}

extension [UInt8] {
    /// A short command with data and Le is sent over T=0 without its Le (ISO 7816-3 §12.2.5).
    fileprivate var withoutLeOfCase4: ArraySlice<UInt8> {
        guard count > 6, self[4] != 0, count == 6 + Int(self[4]) else { return self[...] }
        return dropLast()
    }
}

extension PCSCSession {
    func connection() throws(PCSCFailure) -> CardConnection {
        guard let card else { throw PCSCFailure(.resetCard, .status) }
        var (state, active): (DWORD, DWORD) = (0, 0)
        var atr = [UInt8](repeating: 0, count: Int(MAX_ATR_SIZE))
        var length = DWORD(atr.count)
        try PCSCFailure.check(library.status(card, &state, &active, &atr, &length), .status)
        return CardConnection(
            state: UInt32(truncatingIfNeeded: state), activeProtocol: UInt32(truncatingIfNeeded: active),
            atr: Array(atr.prefix(Int(min(length, DWORD(MAX_ATR_SIZE))))))
    }

    func control(_ code: UInt32, _ bytes: [UInt8]) throws(PCSCFailure) -> [UInt8] {
        try answer(.control, upTo: buffer.count) { card, reply, length in
            library.control(card, DWORD(code), bytes, DWORD(bytes.count), reply, length.pointee, length)
        }
    }

    func attribute(_ tag: UInt32) throws(PCSCFailure) -> [UInt8] {
        // With a larger buffer pcsc-lite 1.9.9 reports that it is too small.
        try answer(.attribute, upTo: Int(MAX_BUFFER_SIZE)) { card, value, length in
            library.attribute(card, DWORD(tag), value, length)
        }
    }

    private func answer(
        _ step: PCSCFailure.Step, upTo count: Int,
        _ call: (SCARDHANDLE, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<DWORD>) -> LONG
    ) throws(PCSCFailure) -> [UInt8] {
        guard let card, let room = buffer.baseAddress else { throw PCSCFailure(.resetCard, step) }
        var length = DWORD(count)
        try PCSCFailure.check(call(card, room, &length), step)
        guard length <= DWORD(count) else { throw PCSCFailure(.insufficientBuffer, step) }
        return Array(buffer.prefix(Int(length)))
    }
}
