// SPDX-License-Identifier: Apache-2.0

import YKTransport
public import YKWire

/// One event of a capture in words.
public struct Narration: Sendable, Hashable {
    /// What happened, on one line.
    public var summary: String
    /// What was in it, a line each.
    public var details: [String]
    /// The application that was spoken to, where there is one.
    public var application: String?
    /// Whether everything in it is known; an unknown instruction or application is not.
    public var isKnown: Bool

    /// Makes a narration.
    public init(_ summary: String, details: [String] = [], application: String? = nil, isKnown: Bool = true) {
        self.summary = summary
        self.details = details
        self.application = application
        self.isKnown = isKnown
    }

    /// The narration as a JSON object: `summary`, `details`, `known`, and `application` where there is one.
    public var json: JSON {
        var object = JSON.Object()
        object["summary"] = .string(summary)
        object["details"] = .array(details.map(JSON.string))
        object["application"] = application.map(JSON.string)
        object["known"] = .bool(isKnown)
        return .object(object)
    }
}
