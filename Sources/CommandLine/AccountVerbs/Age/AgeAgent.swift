// SPDX-License-Identifier: Apache-2.0

import Glibc
import TerminalIO
import Verbs
import YKAge
import YKCrypto
import YKHardware
import YKKeyAgent
import YKTransport

/// The SSH agent at SSH_AUTH_SOCK, which can hold keys for age if it is `ykit ssh agent`, on this machine or on the one
/// that forwards it. Other agents refuse the requests immediately.
final class AgeAgent {
    /// The timeout for asking whether the agent holds a key.
    private static let patience = Duration.seconds(3)
    /// The timeout for a PIN, a touch and a confirmation.
    private static let userPatience = Duration.seconds(180)
    /// The time without an answer after which the user is told what age is waiting for.
    private static let silence = Duration.seconds(1)

    private enum Message {
        static let request: UInt8 = 27
        static let response: UInt8 = 29
    }

    private let path: String
    private let cancellation: Cancellation
    private var descriptor: Int32?
    private var held: [AgeAgentKey: Bool] = [:]

    /// Finds the agent; `nil` if none is named, or nothing listens there.
    init?(_ run: Run) {
        guard let path = run.variable("SSH_AUTH_SOCK"),
            let descriptor = LocalSocket.connect(path, within: Self.patience)
        else { return nil }
        (self.path, self.descriptor, cancellation) = (path, descriptor, run.environment.cancellation)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { if let descriptor { close(descriptor) } }

    /// Whether the agent holds a key.
    func holds(_ key: AgeAgentKey) -> Bool {
        if let known = held[key] { return known && descriptor != nil }
        let isHeld = answer(AgeUnwrapRequest(key), within: Self.patience) != nil
        held[key] = isHeld
        return isHeld
    }

    /// Unwraps a file key with a key that the agent holds; `nil` if it is wrapped for another key.
    ///
    /// - Parameter waiting: Called when the agent does not answer at once.
    /// - Throws: ``AgeError/refused(_:)``.
    func fileKey(
        _ wrapping: AgeWrapping, _ key: AgeAgentKey, waiting: () -> Void
    ) throws(AgeError) -> SharedSecret? {
        switch answer(AgeUnwrapRequest(key, wrapping), within: Self.userPatience, waiting: waiting) {
        case .fileKey(let key): return key
        case .key: return nil
        case nil: throw .refused("the SSH agent at \(path.printable), which holds the key, did not decrypt")
        }
    }

    private func answer(
        _ request: AgeUnwrapRequest, within patience: Duration, waiting: () -> Void = {}
    ) -> AgeUnwrapAnswer? {
        guard let descriptor else { return nil }
        let name = Self.string(Array(AgeUnwrapRequest.name.utf8))
        let silence = Deadline.after(Self.silence)
        let deadline = Deadline.after(patience, cancellation: cancellation)
        var isTold = false
        let wait = { (events: Int32) in
            if Self.wait(for: events, on: descriptor, isTold ? deadline : silence) { return true }
            guard !isTold, !deadline.isOver else { return false }
            isTold = true
            waiting()
            return Self.wait(for: events, on: descriptor, deadline)
        }
        guard AgentStream.send([Message.request] + name + request.bytes, to: descriptor, wait),
            var reply = AgentStream.receive(descriptor, wait)
        else {
            // A late answer would be mistaken for the answer to the next request.
            close(descriptor)
            self.descriptor = nil
            return nil
        }
        defer { Secret.wipe(&reply) }
        guard reply.first == Message.response, reply.dropFirst().starts(with: name) else { return nil }
        var content = Array(reply.dropFirst(1 + name.count))
        defer { Secret.wipe(&content) }
        return AgeUnwrapAnswer(content)
    }

    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }

    private static func wait(for events: Int32, on descriptor: Int32, _ deadline: Deadline) -> Bool {
        while !deadline.isOver, !deadline.isCancelled {
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            if poll(&entry, 1, deadline.milliseconds()) > 0 { return true }
        }
        return false
    }
}
