// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Delivers each value to all listeners. A slow listener gets only the newest values.
package final class Broadcast<Element: Sendable>: Sendable {
    private typealias Listeners = (next: Int, all: [Int: AsyncStream<Element>.Continuation])

    /// Maximum number of values buffered for a slow listener.
    private static var backlog: Int { 64 }

    private let listeners = Mutex<Listeners>((0, [:]))

    package init() {}

    /// A sequence of the values sent from now on.
    package func stream(beginningWith first: Element? = nil) -> AsyncStream<Element> {
        let (stream, listener) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let number = listeners.withLock { listeners in
            listeners.next += 1
            listeners.all[listeners.next] = listener
            return listeners.next
        }
        listener.onTermination = { [weak self] _ in self?.remove(number) }
        if let first { listener.yield(first) }
        return stream
    }

    package func send(_ element: Element) {
        for (_, listener) in listeners.withLock({ $0.all }) { listener.yield(element) }
    }

    /// Ends all sequences.
    package func finish() {
        // An array of the values would cost each run of the program 0.3 ms: it looks up conformances at run time.
        let all = listeners.withLock { listeners in
            defer { listeners.all = [:] }
            return listeners.all
        }
        for (_, listener) in all { listener.finish() }
    }

    private func remove(_ number: Int) { _ = listeners.withLock { $0.all.removeValue(forKey: number) } }

    deinit { finish() }
}

/// Prompts the user to touch the key while it waits for a touch.
///
/// Belongs to the thread of a service. The prompt starts there, may continue anywhere, and its task is cancelled when the
/// wait ends.
package final class TouchWait {
    private let show: @Sendable () async -> Void
    private var task: Task<Void, Never>?

    package init(_ show: @escaping @Sendable () async -> Void) { self.show = show }

    /// Notes that the key waits for a touch; starts the prompt once until ``end()``.
    package func begin() {
        guard task == nil else { return }
        let show = show
        task = Task.immediate(executorPreference: TaskThread.shared) { await show() }
    }

    /// Notes that the key no longer waits.
    package func end() {
        task?.cancel()
        task = nil
    }

    deinit { end() }
}
