// SPDX-License-Identifier: Apache-2.0

/// Why text in another program's format cannot be read.
public struct FormatError: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Problem: Hashable, Sendable {
        /// The text ends before the named part.
        case endsBefore(String)
        /// It violates its format, as described.
        case malformed(String)
    }

    /// The line, counted from 1; `nil` in a format without lines.
    public let line: Int?
    /// What is wrong.
    public let problem: Problem

    init(line: Int? = nil, _ problem: Problem) { (self.line, self.problem) = (line, problem) }

    /// The error in a named text, such as a file.
    package func description(of name: String) -> String {
        switch problem {
        case .endsBefore(let what): "\(name) ends before \(what)"
        case .malformed(let text): "\(name): \(text)"
        }
    }
}

extension FormatError: CustomStringConvertible {
    /// What is wrong, in a few words.
    public var description: String {
        switch problem {
        case .endsBefore: description(of: "the text")
        case .malformed(let text): text
        }
    }
}
