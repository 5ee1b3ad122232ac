// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A card for commands of one's own: an actor on a thread of its own, as the services of applications are.
///
/// Calls run one after the other in the order in which they come; none mixes with another on the card.
public actor CardService: CardKeyService {
    /// What runs the service.
    public nonisolated let runtime: ServiceRuntime
    private let channel: CardChannel

    /// Takes a channel over; nothing is sent. Throws `link` when the system has no thread to give.
    public init(_ channel: sending CardChannel) throws(CardError) {
        do { runtime = try ServiceRuntime.start() } catch { throw .link(error) }
        channel.runtime = runtime
        self.channel = channel
    }

    /// Takes a channel over; nothing is sent. Throws `link` when the system has no thread to give.
    public static func open(_ channel: sending CardChannel) async throws(CardError) -> CardService {
        try CardService(channel)
    }

    /// What is known of the card and its reader.
    public var identity: CardIdentity { channel.identity }

    /// Selects an application (ISO 7816-4 §11.2.2) and gives the data of the reply. Throws `appletMissing`.
    public func select(_ aid: AID) throws(CardError) -> [UInt8] { try channel.select(aid) }

    /// Sends a command, chained where it is long, and gives the whole reply, whatever its status word.
    public func send(_ command: APDU) throws(CardError) -> ResponseAPDU { try channel.transmit(command) }

    /// Sends the bytes of a command APDU as they are and gives the response APDU as it came.
    public func exchange(raw command: [UInt8]) throws(CardError) -> [UInt8] { try channel.exchange(raw: command) }

    /// Runs several exchanges as one, behind all that was asked for before: no other caller's come in between.
    public func perform<Value: Sendable, Failure: Error>(
        _ body: @Sendable (CardChannel) throws(Failure) -> Value
    ) throws(Failure) -> Value { try body(channel) }

    /// How many exchanges were made with the card.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: channel.exchanges) }
    /// Lets other programs use the card until the next call.
    public func rest() { channel.rest() }
    /// Ends the use of the card.
    public func close() { channel.close() }
}
