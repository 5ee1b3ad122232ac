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

/// An application of a key, with its own thread.
///
/// A method runs a whole exchange with the key without an `await` in between, so that two callers never interleave.
/// Cancelling the task of a caller ends its exchange: the key is told to stop if its protocol supports that, and the
/// method throws the service's error for `LinkError.cancelled`.
public protocol KeyService: Actor {
    /// The runtime of the service.
    nonisolated var runtime: ServiceRuntime { get }
    /// The statistics of the service.
    var statistics: ServiceStatistics { get }
    /// Lets other programs use the key until the next operation.
    func rest()
    /// Closes the service; later operations throw the service's error for `LinkError.closed`.
    func close()
}

extension KeyService {
    /// The thread of the service.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { runtime.unownedExecutor }
    /// The current state of the service.
    public nonisolated var state: ServiceState { runtime.state }
    /// The current state and each later one; ends after `closed`.
    public nonisolated var states: AsyncStream<ServiceState> { runtime.states }
}

/// A service for an application that is selected on a card.
public protocol CardKeyService: KeyService {
    /// Why the application could not be opened.
    associatedtype OpeningError: Error

    /// Takes ownership of a channel and selects the application, on the service's thread.
    static func open(_ channel: sending CardChannel) async throws(OpeningError) -> Self
}

/// The state of a service.
public enum ServiceState: Hashable, Sendable {
    /// The key is in use, and other programs are locked out if the link supports it.
    case open
    /// Other programs may use the key until the next operation.
    case resting
    /// The service ended: `nil` when it was closed, otherwise the reason why the key is gone.
    case closed(LinkError?)
}

/// Statistics of a service, for tests and measurements.
public struct ServiceStatistics: Hashable, Sendable {
    /// The number of exchanges with the key: APDUs over a card, messages over HID.
    public var exchanges: Int

    /// Creates statistics.
    public init(exchanges: Int) { self.exchanges = exchanges }
}
