// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// What a user's program asks of the system part of a guard: the first line of a connection.
package enum GuardRequest: Hashable, Sendable {
    /// To present a key, whose messages are answered at this connection: frames follow, as in a remote bridge.
    case serve
    /// To describe what it does.
    case status
    /// To give the key back for so many seconds.
    case pause(UInt32)
    /// To take the key again, before the pause is over.
    case resume
    /// To note that the user is away, until the connection ends. The key is not taken.
    case away(GuardAbsence)

    /// The longest line, in bytes, without its end.
    package static let limit = 64
    /// The longest pause, in seconds.
    package static let longestPause: UInt32 = 24 * 3600
    /// What every line begins with: the program, and the version of the protocol.
    private static let prefix = "ykit-guard 1 "

    /// The line, with its end.
    package var encoded: [UInt8] { Array((Self.prefix + words + "\n").utf8) }

    private var words: String {
        switch self {
        case .serve: "serve"
        case .status: "status"
        case .pause(let seconds): "pause \(seconds)"
        case .resume: "resume"
        case .away(let reason): "away \(reason.rawValue)"
        }
    }

    /// Reads a line, without its end.
    ///
    /// - Throws: `malformed` for anything but what ``encoded`` writes.
    package init(decoding line: [UInt8]) throws(WireError) {
        let malformed = WireError(.malformed, at: 0, "no request to a guard")
        guard line.count <= Self.limit, line.starts(with: Self.prefix.utf8) else { throw malformed }
        let words = line.dropFirst(Self.prefix.utf8.count).split(separator: 0x20, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        switch (words.first, words.count) {
        case ("serve", 1): self = .serve
        case ("status", 1): self = .status
        case ("resume", 1): self = .resume
        case ("away", 2):
            guard let reason = GuardAbsence(rawValue: words[1]) else { throw malformed }
            self = .away(reason)
        case ("pause", 2):
            guard let seconds = UInt32(words[1]), (1...Self.longestPause).contains(seconds),
                String(seconds) == words[1]
            else { throw malformed }
            self = .pause(seconds)
        default: throw malformed
        }
    }
}

/// What the system part of a guard says before it sends frames, or instead: a line each.
package enum GuardNotice: Hashable, Sendable {
    /// It has taken the key with this node, such as `hidraw3`; frames follow.
    case key(node: String)
    /// It waits for a key.
    case waiting
    /// It waits for the end of a pause of so many seconds.
    case paused(UInt32)
    /// Another user's part is served: its process.
    case busy(Int32)
    /// The user is not the one that is served.
    case refused
    /// The node could not be taken: the error number.
    case failed(Int32)
    /// The key is not taken, since these browsers would not find the device: names of snaps.
    case unseen([String])
    /// The request was carried out.
    case done
    /// What it does.
    case state(GuardState)

    /// The longest line, in bytes, without its end.
    package static let limit = 128

    /// The line, with its end.
    package var encoded: [UInt8] { Array((words.joined(separator: " ") + "\n").utf8) }

    private var words: [String] {
        switch self {
        case .key(let node): ["key", node]
        case .waiting: ["waiting"]
        case .paused(let seconds): ["paused", String(seconds)]
        case .busy(let process): ["busy", String(process)]
        case .refused: ["refused"]
        case .failed(let number): ["failed", String(number)]
        case .unseen(let names): ["unseen"] + names
        case .done: ["done"]
        case .state(let state):
            [
                "state", String(state.process), state.node ?? "-", state.device ?? "-", String(state.pause),
                state.absence?.rawValue ?? "-",
            ]
        }
    }

    /// Reads a line, without its end.
    ///
    /// - Throws: `malformed` for anything but what ``encoded`` writes.
    package init(decoding line: [UInt8]) throws(WireError) {
        let malformed = WireError(.malformed, at: 0, "no answer of a guard")
        guard line.count <= Self.limit else { throw malformed }
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        switch (words.first, words.count) {
        case ("key", 2) where Self.isNode(words[1]): self = .key(node: words[1])
        case ("waiting", 1): self = .waiting
        case ("refused", 1): self = .refused
        case ("done", 1): self = .done
        case ("paused", 2):
            guard let seconds = UInt32(words[1]) else { throw malformed }
            self = .paused(seconds)
        case ("busy", 2):
            guard let process = Int32(words[1]) else { throw malformed }
            self = .busy(process)
        case ("failed", 2):
            guard let number = Int32(words[1]) else { throw malformed }
            self = .failed(number)
        case ("unseen", 2...) where words.dropFirst().allSatisfy(SnapBrowsers.names.contains):
            self = .unseen(Array(words.dropFirst()))
        case ("state", 6):
            let nodes = words[2...3].map { $0 == "-" ? nil : $0 }
            let absence = GuardAbsence(rawValue: words[5])
            guard let process = Int32(words[1]), let pause = UInt32(words[4]),
                nodes.allSatisfy({ $0.map(Self.isNode) ?? true }), absence != nil || words[5] == "-"
            else { throw malformed }
            self = .state(
                GuardState(process: process, node: nodes[0], device: nodes[1], pause: pause, absence: absence))
        default: throw malformed
        }
    }

    /// Whether a word is the name of a hidraw node.
    private static func isNode(_ word: String) -> Bool {
        let number = word.utf8.dropFirst("hidraw".utf8.count)
        return word.hasPrefix("hidraw") && (1...4).contains(number.count)
            && number.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// What the system part of a guard does.
package struct GuardState: Hashable, Sendable {
    /// The process of the user's part; 0 without one.
    package var process: Int32 = 0
    /// The node of the key that was taken, such as `hidraw3`.
    package var node: String?
    /// The node of the device that programs see.
    package var device: String?
    /// The rest of a pause, in seconds.
    package var pause: UInt32 = 0
    /// Why the key is free although a user's part runs.
    package var absence: GuardAbsence?

    package init(
        process: Int32 = 0, node: String? = nil, device: String? = nil, pause: UInt32 = 0,
        absence: GuardAbsence? = nil
    ) {
        (self.process, self.node, self.device, self.pause, self.absence) = (process, node, device, pause, absence)
    }
}

/// Why the user of a guard is away, so that the key is free.
package enum GuardAbsence: String, CaseIterable, Sendable {
    /// The screen is locked.
    case locked
    /// Another session is in front.
    case inactive
    /// The machine is about to sleep.
    case asleep
}
