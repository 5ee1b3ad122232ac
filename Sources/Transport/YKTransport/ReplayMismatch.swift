// SPDX-License-Identifier: Apache-2.0

/// Where a replay deviates from its recording: the line, and the expected and actual bytes, with secrets overwritten.
public struct ReplayMismatch: Hashable, Sendable {
    /// The line of the capture, which is its last one after the end; 0 if all of it was searched.
    public let line: Int
    /// The recorded bytes, if a command is recorded there.
    public let expected: [UInt8]?
    /// The bytes sent by the host, if any.
    public let actual: [UInt8]?
    /// What happened, in a few words.
    public let reason: String
    /// The recorded command, in words.
    public var expectedWords: String?
    /// The command sent by the host, in words.
    public var actualWords: String?
    /// Whether another tool made the recording, so that the order of its commands may differ.
    public var isOfAnotherTool = false

    /// The overwritten secret that the replay lacks, if that is the reason.
    public private(set) var overwritten: String?

    /// A secret is needed that was overwritten when the session was recorded.
    public static func overwritten(_ name: String, line: Int = 0) -> ReplayMismatch {
        var mismatch = ReplayMismatch(
            line: line, reason: "\(name) is a secret, which was overwritten in the recording")
        mismatch.overwritten = name
        return mismatch
    }

    /// Creates a mismatch.
    public init(line: Int, expected: [UInt8]? = nil, actual: [UInt8]? = nil, reason: String) {
        self.line = line
        self.expected = expected
        self.actual = actual
        self.reason = reason
    }
}
