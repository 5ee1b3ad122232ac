// SPDX-License-Identifier: Apache-2.0

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
