// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKProtocols
import YKTransport
import YKWire

/// The cards in the readers, used by one thread, which performs all work in order.
final class CardBench: Sendable {
    /// Runs work in order on another thread.
    typealias Executor = @Sendable (@escaping @Sendable () -> Void) -> Void

    private let readers: any BridgeReaders
    private let environment: ServiceEnvironment
    private let execute: Executor
    private let cards = Mutex<[Int: BridgedCard]>([:])

    init(_ readers: any BridgeReaders, _ environment: ServiceEnvironment, _ execute: @escaping Executor) {
        (self.readers, self.environment, self.execute) = (readers, environment, execute)
    }

    /// Connects to the card in a reader, under a number that the caller chooses.
    func open(
        _ number: Int, reader: String, done: @escaping @Sendable (Result<CardDescription, FIDOLinkError>) -> Void
    ) {
        execute { [self] in
            done(
                cards.withLock { cards in
                    do throws(FIDOLinkError) {
                        let deadline = environment.deadline()
                        let link = try lift({ FIDOLinkError.card(.link($0)) }) { () throws(LinkError) in
                            try readers.connect(reader: reader, deadline: deadline)
                        }
                        let isContactless = (try? ATR(decoding: link.identity.atr))?.contactless != nil
                        let card = try BridgedCard(CardChannel(link: link, environment: environment))
                        let description = try card.describe(isContactless: isContactless, deadline)
                        cards[number] = card
                        return .success(description)
                    } catch { return .failure(error) }
                })
        }
    }

    /// Sends a request to a card.
    ///
    /// - Parameters:
    ///   - cancellation: Cancels the request, also while the card waits for its user.
    ///   - keepalive: Called when the card reports that it is still processing or waiting.
    func send(
        _ request: CardRequest, to number: Int, within limit: Duration, _ cancellation: Cancellation,
        keepalive: @escaping @Sendable (FIDOKeepalive) -> Void, done: @escaping @Sendable (BridgedCard.Reply) -> Void
    ) {
        execute { [self] in
            let deadline = Deadline.after(limit, cancellation: cancellation)
            let removed = BridgedCard.Reply(outcome: .failed(.card(.link(.removed))), isHeld: false)
            done(
                cards.withLock { cards in
                    // Cancelled before it was sent: the card never sees it.
                    if cancellation.isCancelled {
                        return BridgedCard.Reply(outcome: .failed(.card(.link(.cancelled))), isHeld: false)
                    }
                    return cards[number]?.answer(request, deadline, keepalive: keepalive) ?? removed
                })
        }
    }

    /// Lets other programs use a card.
    func rest(_ number: Int) { execute { [self] in cards.withLock { $0[number]?.rest() } } }

    /// Disconnects from a card, which stays powered.
    func close(_ number: Int) { execute { [self] in cards.withLock { $0[number] = nil } } }
}

/// What a card reports about itself, kept for use while no card is present.
struct CardDescription: Hashable, Sendable {
    /// The answer to getInfo with its status byte; `nil` if the card has no CTAP2.
    var info: [UInt8]?
    /// Whether it supports U2F.
    var hasU2F: Bool
    /// Whether it is on a contactless reader.
    var isContactless: Bool

    /// The capabilities in the answer to INIT: wink (01), CTAP2 (04), no U2F (08).
    var capabilities: UInt8 { 0x01 | (info != nil ? 0x04 : 0) | (hasU2F ? 0 : 0x08) }

    /// The answer to getInfo as programs get it: unchanged, except that USB is added to the transports. A browser
    /// stores these with a credential, and would otherwise look for it only on contactless readers, which it does not
    /// support. An answer that is not canonical is passed on unchanged.
    static func bridged(_ answer: [UInt8]) -> [UInt8] {
        guard answer.first == CTAPProtocol.Status.ok, let item = try? CBOR(decoding: Array(answer.dropFirst())),
            var map = item.map, [UInt8](item.encoded) == Array(answer.dropFirst()),
            let transports = map[CTAPProtocol.GetInfo.Reply.transports]?.array, !transports.contains("usb")
        else { return answer }
        map[CTAPProtocol.GetInfo.Reply.transports] = .array(transports + ["usb"])
        return [CTAPProtocol.Status.ok] + CBOR.map(map).encoded
    }
}

/// Proof of user presence: a card was laid on a contactless reader, which counts for one ceremony and for a limited
/// time (CTAP 2.2 §11.3.1).
struct Presence: Hashable, Sendable {
    /// When the card was laid down; `nil` if that was not seen.
    let laidDown: ContinuousClock.Instant?
    private(set) var isUsed = false

    /// Whether it is still valid.
    func isAvailable(at now: ContinuousClock.Instant, within limit: Duration) -> Bool {
        guard let laidDown, !isUsed else { return false }
        return laidDown.duration(to: now) <= limit
    }

    /// Uses it up.
    mutating func use() { isUsed = true }
}
