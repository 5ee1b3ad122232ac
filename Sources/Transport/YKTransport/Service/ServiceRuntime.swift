// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Runs one service: the thread on which it is opened and does every exchange, and its observable state.
///
/// An exchange blocks; it does so on the service's own thread, never in Swift's shared thread pool. While the user is
/// asked for something with `ask(_:_:)` the thread waits, so that no other caller can use the key in between.
public final class ServiceRuntime: Sendable {
    private let thread: ServiceThread
    private let current = Mutex(ServiceState.open)
    private let watchers = Broadcast<ServiceState>()

    private init() throws(LinkError) { thread = try ServiceThread() }

    /// The thread as the executor of the service's actor.
    public var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// The current state of the service.
    public var state: ServiceState { current.withLock { $0 } }

    /// The current state and each later one; ends after `closed`.
    public var states: AsyncStream<ServiceState> {
        current.withLock { state in
            let stream = watchers.stream(beginningWith: state)
            if case .closed = state { watchers.finish() }
            return stream
        }
    }

    /// Starts a thread and opens a service on it: `start` does the first exchanges (SELECT, INIT, getInfo) there.
    ///
    /// - Parameters:
    ///   - link: What the service takes over; it is released on the thread when `start` throws.
    ///   - started: A runtime to use instead of a new one.
    ///   - lifted: Turns an error of the link into one of the service, for when the system has no thread left.
    ///   - start: Opens the session that the service works with.
    package static func open<Link, Session, Failure: Error>(
        _ link: sending Link, on started: ServiceRuntime? = nil, _ lifted: (LinkError) -> Failure,
        _ start: @Sendable (sending Link, ServiceRuntime) throws(Failure) -> sending Session
    ) async throws(Failure) -> sending (runtime: ServiceRuntime, session: Session) {
        let runtime: ServiceRuntime
        do throws(LinkError) {
            runtime = if let started { started } else { try ServiceRuntime() }
        } catch { throw lifted(error) }
        return (runtime, try await Opening(runtime).run(link, start))
    }

    /// The same for a service on a card, whose channel belongs to the runtime: the one that it was connected on, or a
    /// new one.
    ///
    /// - Parameter lifted: Turns an error of the card into one of the service.
    package static func open<Session, Failure: Error>(
        card channel: sending CardChannel, _ lifted: (CardError) -> Failure,
        _ start: @Sendable (sending CardChannel) throws(Failure) -> sending Session
    ) async throws(Failure) -> sending (runtime: ServiceRuntime, session: Session) {
        let started = channel.runtime
        return try await open(channel, on: started, { lifted(.link($0)) }) { channel, runtime throws(Failure) in
            channel.runtime = runtime
            return try start(channel)
        }
    }

    /// Creates a runtime for a service that starts without an exchange.
    package static func start() throws(LinkError) -> ServiceRuntime { try ServiceRuntime() }
}

/// Runs on the thread of a service that does not exist yet.
private actor Opening {
    private let runtime: ServiceRuntime

    nonisolated var unownedExecutor: UnownedSerialExecutor { runtime.unownedExecutor }

    init(_ runtime: ServiceRuntime) { self.runtime = runtime }

    func run<Link, Session, Failure: Error>(
        _ link: sending Link, _ start: @Sendable (sending Link, ServiceRuntime) throws(Failure) -> sending Session
    ) throws(Failure) -> sending Session { try start(link, runtime) }
}

// MARK: - State

extension ServiceRuntime {
    /// Notes that an operation begins.
    ///
    /// - Throws: `closed`, or the reason why the key is gone.
    package func begin() throws(LinkError) {
        let closed: LinkError? = current.withLock { state in
            if case .closed(let cause) = state { return cause ?? .closed }
            move(&state, to: .open)
            return nil
        }
        if let closed { throw closed }
    }

    /// Notes that other programs may use the key until the next operation.
    package func rest() {
        current.withLock { state in
            guard state == .open else { return }
            move(&state, to: .resting)
        }
    }

    /// Notes a failure of the link: a key that was removed does not come back on the same link.
    package func note(_ failure: LinkError?) {
        guard failure == .removed else { return }
        close(.removed)
    }

    /// Ends the service: later operations throw `closed`, or `cause`.
    package func close(_ cause: LinkError? = nil) {
        current.withLock { state in
            if case .closed = state { return }
            move(&state, to: .closed(cause))
            watchers.finish()
        }
    }

    private func move(_ state: inout ServiceState, to next: ServiceState) {
        guard state != next else { return }
        state = next
        watchers.send(next)
    }

    /// Runs one operation on the link. Throws when the service is closed; closes the service when the key was removed.
    package func perform<Value, Failure: Error>(
        _ lifted: (LinkError) -> Failure, cause: (Failure) -> LinkError?, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do { try begin() } catch { throw lifted(error) }
        do { return try body() } catch {
            note(cause(error))
            throw error
        }
    }

    // MARK: - People

    /// Asks the user while the service waits: no one else can use the key, and no thread of Swift's pool is blocked.
    ///
    /// The question starts on the service's thread and may continue anywhere. When `cancellation` or the caller's task
    /// is cancelled, the question is cancelled too, and `cancelled` is thrown.
    package static func ask<Value: Sendable>(
        _ cancellation: Cancellation, _ question: @escaping @Sendable () async -> Value
    ) throws(LinkError) -> Value {
        let answer = Answer<Value>()
        let task = Task.immediate(executorPreference: TaskThread.shared) { answer.give(await question()) }
        let wait = Deadline.after(.seconds(24 * 3600), cancellation: cancellation)
        while true {
            if let value = answer.value { return value }
            if wait.isCancelled {
                task.cancel()
                throw .cancelled
            }
            Pause.step(wait)
        }
    }

    /// The user's answer, set by one thread and awaited by another.
    private final class Answer<Value: Sendable>: Sendable {
        private let content = Mutex<Value?>(nil)

        var value: Value? { content.withLock { $0 } }

        func give(_ value: Value) { content.withLock { $0 = value } }
    }
}
