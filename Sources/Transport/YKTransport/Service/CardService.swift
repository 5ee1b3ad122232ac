// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A card for custom commands: an actor with its own thread, like the services of applications.
///
/// Calls run in the order in which they arrive; their exchanges never interleave on the card.
public actor CardService: CardKeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    private let channel: CardChannel

    /// Takes ownership of a channel; nothing is sent.
    ///
    /// - Throws: `link` when the system cannot create a thread.
    public init(_ channel: sending CardChannel) throws(CardError) {
        do throws(LinkError) {
            runtime = if let started = channel.runtime { started } else { try ServiceRuntime.start() }
        } catch { throw .link(error) }
        channel.runtime = runtime
        self.channel = channel
    }

    /// Takes ownership of a channel; nothing is sent.
    ///
    /// - Throws: `link` when the system cannot create a thread.
    public static func open(_ channel: sending CardChannel) async throws(CardError) -> CardService {
        try CardService(channel)
    }

    /// The identity of the card and its reader.
    public var identity: CardIdentity { channel.identity }

    /// Selects an application (ISO 7816-4 §11.2.2) and returns the data of the reply.
    ///
    /// - Throws: `appletMissing`.
    public func select(_ aid: AID) throws(CardError) -> [UInt8] { try channel.select(aid) }

    /// Sends a command, chained if it is long, and returns the whole reply, whatever its status word.
    public func send(_ command: APDU) throws(CardError) -> ResponseAPDU { try channel.transmit(command) }

    /// Sends a command APDU unmodified and returns the response APDU as received.
    public func exchange(raw command: [UInt8]) throws(CardError) -> [UInt8] { try channel.exchange(raw: command) }

    /// Runs several exchanges as a unit, after all earlier requests; no other caller's exchanges come in between.
    public func perform<Value: Sendable, Failure: Error>(
        _ body: @Sendable (CardChannel) throws(Failure) -> Value
    ) throws(Failure) -> Value { try body(channel) }

    /// The number of exchanges with the card.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: channel.exchanges) }
    /// Lets other programs use the card until the next call.
    public func rest() { channel.rest() }
    /// Closes the card.
    public func close() { channel.close() }
}
