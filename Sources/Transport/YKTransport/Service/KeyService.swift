// SPDX-License-Identifier: Apache-2.0

/// An application of a key, on a thread of its own.
///
/// A method runs a whole exchange with the key without an `await` in between, so that two callers never mix on it.
/// Cancelling the task of a caller ends its exchange: the key is told to stop where its protocol has a way to, and the
/// method throws the service's error for `LinkError.cancelled`.
public protocol KeyService: Actor {
    /// What runs the service.
    nonisolated var runtime: ServiceRuntime { get }
    /// What the service has done so far.
    var statistics: ServiceStatistics { get }
    /// Lets other programs use the key until the next operation.
    func rest()
    /// Ends the use of the key; later operations throw the service's error for `LinkError.closed`.
    func close()
}

extension KeyService {
    /// The thread on which the key is talked to.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { runtime.unownedExecutor }
    /// What the service is doing with its key now.
    public nonisolated var state: ServiceState { runtime.state }
    /// The present state and each later one; ends after `closed`.
    public nonisolated var states: AsyncStream<ServiceState> { runtime.states }
}

/// A service of an application that is selected on a card.
public protocol CardKeyService: KeyService {
    /// Why the application could not be opened.
    associatedtype OpeningError: Error

    /// Takes a channel over and selects the application, on the thread of the service.
    static func open(_ channel: sending CardChannel) async throws(OpeningError) -> Self
}

/// What a service is doing with its key.
public enum ServiceState: Hashable, Sendable {
    /// The key is in use, and kept from other programs where its link can do that.
    case open
    /// Other programs may use the key until the next operation.
    case resting
    /// The service ended: `nil` when it was closed, else why the key is gone.
    case closed(LinkError?)
}

/// What a service has done, for tests and for those who count.
public struct ServiceStatistics: Hashable, Sendable {
    /// Exchanges with the key: APDUs over a card, messages over HID.
    public var exchanges: Int

    /// Makes a count.
    public init(exchanges: Int) { self.exchanges = exchanges }
}
