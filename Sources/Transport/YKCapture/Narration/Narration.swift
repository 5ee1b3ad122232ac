// SPDX-License-Identifier: Apache-2.0

import YKTransport
public import YKWire

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

    /// The narration as a JSON object: `summary`, `details`, `known`, and `application` if there is one.
    public var json: JSONValue {
        var object = JSONValue.Object()
        object["summary"] = .string(summary)
        object["details"] = .array(details.map(JSONValue.string))
        object["application"] = application.map(JSONValue.string)
        object["known"] = .bool(isKnown)
        return .object(object)
    }
}
