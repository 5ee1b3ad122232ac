// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Glibc

/// A context with the smart card service and at most one card: what a worker thread owns. Every call may block.
final class PCSCSession {
    /// The card that a link is for.
    struct Target: Sendable {
        var reader: String
        var share: PCSC.Share
    }

    let library: PCSCLibrary
    private var context: SCARDCONTEXT?
    private(set) var card: SCARDHANDLE?
    private var activeProtocol: DWORD = 0
    private var isInTransaction = false
    /// Room for the longest response APDU (MAX_BUFFER_SIZE_EXTENDED).
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 4 + 3 + 65536 + 3 + 2)

    init(library: PCSCLibrary) { self.library = library }

    deinit { buffer.deallocate() }

    // MARK: the context

    /// The context, made when there is none.
    func established() throws(PCSCFailure) -> SCARDCONTEXT {
        if let context { return context }
        var fresh: SCARDCONTEXT = 0
        try PCSCFailure.check(library.establishContext(&fresh), .establish)
        context = fresh
        return fresh
    }

    /// Runs `body` with a context, and once more with a new one when the service was restarted since the last time.
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

    /// Drops card and context, whatever the service says to it.
    func forget() {
        card = nil
        isInTransaction = false
        if let context { _ = library.releaseContext(context) }
        context = nil
    }

    // MARK: the card

    /// Connects to a card and asks what it and its reader are.
    func connect(_ target: Target) throws(PCSCFailure) -> CardFacts {
        try withContext { context throws(PCSCFailure) in
            var code = connect(target, in: context)
            // A pcscd that has just started looks for readers before it lists them, but not before it connects.
            if code == .unknownReader, try readerNames().contains(target.reader) {
                code = connect(target, in: context)
            }
            // While another program resets the card, pcscd knows of no protocol for a moment.
            if code == .protocolMismatch {
                usleep(50_000)
                code = connect(target, in: context)
            }
            guard code == .success, let card else { throw PCSCFailure(code, .connect) }
            return CardFacts(atr: atr(of: card), maxCommandLength: ReaderFeatures.maxCommandLength(card, library))
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

    /// Keeps other programs off the card, connecting to it anew when it was reset or the service restarted.
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
    func end() {
        guard let card, isInTransaction else { return }
        isInTransaction = false
        _ = library.endTransaction(card, Disposition.leave.rawValue)
    }

    /// Resets the card and gives what it says of itself now.
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

    /// Ends the use of the card; the context stays for the next one.
    func disconnect(_ disposition: Disposition) {
        end()
        guard let card else { return }
        self.card = nil
        if PCSCCode(library.disconnect(card, disposition.rawValue)).meansServiceLost { forget() }
    }

    // MARK: an exchange

    /// Sends a command APDU and gives what came back, unread.
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
        // vpcd 3.3 answers without a byte when its card goes away.
        if code == .success, length == 0 { code = .notTransacted }
        // Another program reset the card, which speaks the other protocol since: nothing was sent, and what was selected
        // is lost, as after any reset. The next transaction connects again.
        if code == .protocolMismatch {
            disconnect(.leave)
            throw PCSCFailure(.resetCard, .transmit)
        }
        guard code == .success else { throw PCSCFailure(cause(of: code, card, patience), .transmit) }
        guard length <= DWORD(buffer.count) else { throw PCSCFailure(.insufficientBuffer, .transmit) }
        defer { _ = buffer.baseAddress.map { memset($0, 0, Int(length)) } }
        return Array(buffer.prefix(Int(length)))
    }

    /// pcscd says only "not transacted" when a card is pulled out in the middle and looks for cards every 400 ms
    /// (pcsc-lite 1.9.9): waits for the true reason, a busy machine's time included.
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

/// What happens to a card when a connection is made or ended.
enum Disposition: DWORD, Sendable {
    case leave = 0
    case reset = 1
    case unpower = 2
}

/// What a connection tells of a card and its reader.
struct CardFacts: Sendable {
    var atr: [UInt8]
    var maxCommandLength: Int?
}

/// How a transaction began.
struct Begun: Sendable {
    /// What was selected and unlocked is lost.
    var isLost: Bool
    /// The connection was made anew.
    var isNew: Bool
    /// What the card says of itself now, where it was asked.
    var facts: CardFacts?
}

extension [UInt8] {
    /// A short command with data and Le goes over T=0 without its Le (ISO 7816-3 §12.2.5).
    fileprivate var withoutLeOfCase4: ArraySlice<UInt8> {
        guard count > 6, self[4] != 0, count == 6 + Int(self[4]) else { return self[...] }
        return dropLast()
    }
}
