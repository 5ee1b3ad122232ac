// SPDX-License-Identifier: Apache-2.0

/// Where a replay and its recording part: the line and the bytes that were expected and sent, secrets overwritten.
public struct ReplayMismatch: Hashable, Sendable {
    /// The line of the capture, 0 when it is past the end.
    public let line: Int
    /// The bytes that the recording has there, when it has a command there.
    public let expected: [UInt8]?
    /// The bytes that the host sent, when it sent any.
    public let actual: [UInt8]?
    /// What happened, in a few words.
    public let reason: String
    /// The command that the recording has there, in words.
    public var expectedWords: String?
    /// The command that the host sent, in words.
    public var actualWords: String?

    /// The secret that was overwritten when the session was recorded, where that is what the replay lacks.
    public private(set) var overwritten: String?

    /// A secret is needed that was overwritten when the session was recorded.
    public static func overwritten(_ name: String, line: Int = 0) -> ReplayMismatch {
        var mismatch = ReplayMismatch(
            line: line, reason: "\(name) is a secret, which was overwritten in the recording")
        mismatch.overwritten = name
        return mismatch
    }

    /// Makes a mismatch.
    public init(line: Int, expected: [UInt8]? = nil, actual: [UInt8]? = nil, reason: String) {
        self.line = line
        self.expected = expected
        self.actual = actual
        self.reason = reason
    }
}
