// SPDX-License-Identifier: Apache-2.0

/// A request as a server receives it, put together from the bytes that came so far (RFC 9112).
///
/// It takes POST with a body of known length and nothing else: what a gateway sends that delivers a message.
public struct IncomingRequest: Sendable {
    /// What is known after some bytes.
    public enum Step: Hashable, Sendable {
        /// More is needed.
        case more
        /// The body is complete.
        case complete([UInt8])
        /// The request is refused with this status code.
        case refused(Int)
    }

    /// The most bytes of the request line and the header fields.
    public static let headerLimit = 8 << 10
    /// The most bytes of the body.
    public static let bodyLimit = 64 << 10

    private var bytes: [UInt8] = []
    /// Where the body starts, and how long it is.
    private var body: (start: Int, count: Int)?

    /// Begins before the first byte.
    public init() {}

    /// Takes what came; after anything but `more` nothing else is to be taken.
    public mutating func take(_ more: some Collection<UInt8>) -> Step {
        let searched = max(0, bytes.count - 3)
        bytes += more
        if body == nil {
            guard let end = headerEnd(from: searched) else {
                return bytes.count > Self.headerLimit ? .refused(431) : .more
            }
            guard end <= Self.headerLimit else { return .refused(431) }
            switch Self.length(Array(bytes[..<end])) {
            case .failure(let refusal): return .refused(refusal.status)
            case .success(let count): body = (end, count)
            }
        }
        guard let body, bytes.count - body.start >= body.count else { return .more }
        return .complete(Array(bytes[body.start..<(body.start + body.count)]))
    }

    private struct Refusal: Error { let status: Int }

    /// Where the empty line behind the header ends.
    private func headerEnd(from start: Int) -> Int? {
        var index = start
        while index + 3 < bytes.count {
            if bytes[index] == 0x0D, bytes[index + 1] == 0x0A, bytes[index + 2] == 0x0D, bytes[index + 3] == 0x0A {
                return index + 4
            }
            index += 1
        }
        return nil
    }

    /// How long the body is, as the header says.
    private static func length(_ header: [UInt8]) -> Result<Int, Refusal> {
        let line = header.prefix { $0 != 0x0D }
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, words[1].first == UInt8(ascii: "/"), words[2].starts(with: Array("HTTP/1.".utf8)) else {
            return .failure(Refusal(status: 400))
        }
        guard words[0].elementsEqual(Array("POST".utf8)) else { return .failure(Refusal(status: 405)) }
        let fields = [HTTPField](parsing: Array(header.dropFirst(line.count)))
        guard fields.values(of: "Transfer-Encoding").isEmpty else { return .failure(Refusal(status: 501)) }
        let lengths = Set(fields.values(of: "Content-Length"))
        guard let text = lengths.first else { return .failure(Refusal(status: 411)) }
        guard lengths.count == 1, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return .failure(Refusal(status: 400))
        }
        // A number of more digits than an integer holds is too long as well.
        guard let count = Int(text), count <= bodyLimit else {
            return .failure(Refusal(status: text.isEmpty ? 400 : 413))
        }
        return .success(count)
    }
}
