// SPDX-License-Identifier: Apache-2.0

/// The secret parts of a request and its response, which recordings leave out.
///
/// Header fields are not listed here: a recording contains only those known to be harmless.
public struct HTTPSecrets: Hashable, Sendable {
    /// The secret part of a body, or of a URL's query.
    public enum Part: Hashable, Sendable {
        /// Everything.
        case all
        /// The members with these names: of JSON objects at any depth, of forms, of `name=value` lines, and of the
        /// query. Other kinds of bodies are secret as a whole, unless the set is empty.
        case members(Set<String>)
    }

    /// The secret part of the request.
    public var request: Part
    /// The secret part of the response. A response recorded without any content cannot be replayed.
    public var answer: Part

    /// The bodies and every value of the query: the default when nothing is specified.
    public static let everything = HTTPSecrets(request: .all, answer: .all)

    /// Specifies both sides.
    public init(request: Part, answer: Part) {
        self.request = request
        self.answer = answer
    }

    /// Names the secret members.
    public init(request: Set<String>, answer: Set<String>) {
        self.init(request: .members(request), answer: .members(answer))
    }
}
