// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport
import YKVirtualKeyHost

/// The stream between the ends. Any thread can send frames; they are never interleaved.
package final class RemoteChannel: Sendable {
    /// How long the other end may take to accept a frame.
    private static let patience = Duration.seconds(10)

    /// How long the other end may send nothing; `nil` without a limit and without signs of life, on one machine.
    let silence: Duration?
    private let stream: DescriptorStream
    private let state = Mutex((isOpen: true, frames: 0))

    /// Makes both descriptors non-blocking; they are not closed.
    package init(input: Int32, output: Int32, silence: Duration? = .seconds(20)) {
        self.silence = silence
        stream = DescriptorStream(input: input, output: output)
    }

    /// The number of frames sent, without the signs of life.
    var framesSent: Int { state.withLock { $0.frames } }

    /// Sends the greeting.
    func greet() { _ = send(RemoteFrame.greeting, frames: 0) }

    /// Sends a frame; `false` if the other end is gone, or accepts nothing for ten seconds.
    @discardableResult func send(_ frame: RemoteFrame) -> Bool {
        send(frame.encoded, frames: frame == .alive ? 0 : 1)
    }

    private func send(_ bytes: [UInt8], frames: Int) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.frames += frames
            state.isOpen = stream.write(bytes, within: Self.patience)
            return state.isOpen
        }
    }

    /// Waits for bytes and returns them: empty if the time was over or one of the cancellations happened before, `nil` if
    /// the other end is gone.
    func receive(until cancellations: [Cancellation], atMost limit: Duration? = nil) -> [UInt8]? {
        stream.receive(until: cancellations, atMost: limit)
    }
}
