// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// The description of a capture event in words.
public struct Narration: Sendable, Hashable {
    /// The event on one line.
    public var summary: String
    /// The content, one detail per line.
    public var details: [String]
    /// The application, if any.
    public var application: String?
    /// Whether everything in the event is known, including instruction and application.
    public var isKnown: Bool

    /// Creates a narration.
    public init(_ summary: String, details: [String] = [], application: String? = nil, isKnown: Bool = true) {
        self.summary = summary
        self.details = details
        self.application = application
        self.isKnown = isKnown
    }
}
