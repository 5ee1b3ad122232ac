// SPDX-License-Identifier: Apache-2.0

package import YKWire

extension RemoteFrame {
    /// The kinds of frames.
    private enum Kind: UInt8 { case hello = 1, key, request, touch, reply, cancel, alive, end, card }

    /// The longest texts, in bytes.
    private static let (programLimit, textLimit) = (64, 512)

    /// The bytes of the frame, with its length.
    package var encoded: [UInt8] {
        let (kind, content): (Kind, [UInt8]) =
            switch self {
            case .hello(let hello):
                (
                    .hello,
                    [hello.versions.lowerBound, hello.versions.upperBound]
                        + hello.program.utf8.prefix(Self.programLimit)
                )
            case .key(let info): (.key, info)
            case .card(let atr): (.card, atr)
            case .request(let number, let message): (.request, Self.bytes(number) + message)
            case .touch(let number): (.touch, Self.bytes(number))
            case .reply(let number, let answer): (.reply, Self.bytes(number) + answer)
            case .cancel(let number): (.cancel, Self.bytes(number))
            case .alive: (.alive, [])
            case .end(let ending): (.end, [ending.reason.rawValue] + ending.text.utf8.prefix(Self.textLimit))
            }
        return Self.bytes(UInt32(truncatingIfNeeded: content.count + 1)) + [kind.rawValue] + content
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Reads the kind and the content of a frame.
    fileprivate init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let number = try reader.byte("the kind of a frame")
        guard let kind = Kind(rawValue: number) else {
            throw WireError(.malformed, at: 0, "a frame of the unknown kind \(number)")
        }
        switch kind {
        case .hello: self = .hello(try Self.hello(&reader))
        case .key: self = .key(try Self.message(&reader))
        case .card: self = .card(try Self.answerToReset(&reader))
        case .request: self = .request(try reader.uint32("a number"), try Self.message(&reader))
        case .touch: self = .touch(try reader.uint32("a number"))
        case .reply: self = .reply(try reader.uint32("a number"), try Self.message(&reader))
        case .cancel: self = .cancel(try reader.uint32("a number"))
        case .alive: self = .alive
        case .end:
            let reason = RemoteEnding.Reason(rawValue: try reader.byte("a reason"))
            self = .end(RemoteEnding(reason, String(decoding: reader.rest().prefix(Self.textLimit), as: UTF8.self)))
        }
        try reader.finish("a frame")
    }

    private static func hello(_ reader: inout ByteReader) throws(WireError) -> RemoteHello {
        let (lowest, highest) = (try reader.byte("the lowest version"), try reader.byte("the highest version"))
        guard lowest <= highest else { throw WireError(.malformed, at: 1, "no version between the two") }
        let program = String(decoding: reader.rest().prefix(programLimit), as: UTF8.self)
        return RemoteHello(versions: lowest...highest, program: program)
    }

    /// 2 to 33 bytes (ISO 7816-3 §8.2.1).
    private static func answerToReset(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        let atr = reader.rest()
        guard (2...33).contains(atr.count) else {
            throw WireError(.malformed, at: 0, "an answer to reset of \(atr.count) bytes")
        }
        return atr
    }

    /// A message for the key or its answer, neither of which is empty.
    private static func message(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        let message = reader.rest()
        guard !message.isEmpty, message.count <= CTAPHID.messageLimit else {
            throw WireError(.malformed, at: 0, "a message of \(message.count) bytes")
        }
        return message
    }
}

/// Parses a stream: the greeting, then frames.
package struct RemoteFrameReader: Sendable {
    /// The maximum number of bytes before the greeting, where a shell may have written something.
    package static let noiseLimit = 4096

    private let skipsNoise: Bool
    private var bytes: [UInt8] = []
    /// Whether the greeting was read.
    package private(set) var isGreeted = false

    /// - Parameter skipsNoise: Whether other bytes may precede the greeting.
    package init(skipsNoise: Bool) { self.skipsNoise = skipsNoise }

    /// The bytes received instead of the greeting.
    package var noise: [UInt8] { isGreeted ? [] : bytes }

    /// Adds bytes of the stream.
    package mutating func add(_ more: [UInt8]) { bytes += more }

    /// Removes and returns the next whole frame; `nil` if it is incomplete.
    ///
    /// - Throws: `malformed` or `tooLarge` if the other end does not speak the protocol; the stream cannot be read further.
    package mutating func next() throws(WireError) -> RemoteFrame? {
        if !isGreeted { guard try greeting() else { return nil } }
        guard bytes.count >= 4 else { return nil }
        let length = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        guard (1...(RemoteFrame.limit + 1)).contains(length) else {
            throw WireError(.tooLarge, at: 0, "a frame of \(length) bytes")
        }
        guard bytes.count - 4 >= length else { return nil }
        let frame = Array(bytes[4..<(4 + length)])
        bytes.removeFirst(4 + length)
        return try RemoteFrame(decoding: frame)
    }

    private mutating func greeting() throws(WireError) -> Bool {
        let wanted = RemoteFrame.greeting
        if let end = Self.end(of: wanted, in: bytes), skipsNoise || end == wanted.count {
            bytes.removeFirst(end)
            isGreeted = true
            return true
        }
        let isPossible = skipsNoise ? bytes.count <= Self.noiseLimit : wanted.starts(with: bytes)
        guard isPossible else { throw WireError(.malformed, at: 0, "no greeting of ykit") }
        return false
    }

    private static func end(of wanted: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= wanted.count else { return nil }
        return (wanted.count...min(bytes.count, noiseLimit + wanted.count)).first {
            bytes[($0 - wanted.count)..<$0] == wanted[...]
        }
    }
}
