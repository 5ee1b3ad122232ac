// SPDX-License-Identifier: Apache-2.0

import Synchronization
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
