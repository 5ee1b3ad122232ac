// SPDX-License-Identifier: Apache-2.0

/// The parts of a request and of its answer that hold secrets, so that a recording leaves them out.
///
/// Header fields are not listed here: a recording has only those that are known to be harmless.
public struct HTTPSecrets: Hashable, Sendable {
    /// What of a body, and of the query of an address, is a secret.
    public enum Part: Hashable, Sendable {
        /// All of it.
        case all
        /// The members with these names: of JSON objects at any depth, of forms, of lines `name=value`, and of the query.
        /// Other kinds of bodies count as secret as a whole, unless there are no names.
        case members(Set<String>)
    }

    /// What of the request is a secret.
    public var request: Part
    /// What of the answer is a secret. A recording without any of an answer cannot be replayed.
    public var answer: Part

    /// The bodies and every value of the query: the default, for whoever has not said what they hold.
    public static let everything = HTTPSecrets(request: .all, answer: .all)

    /// Describes both sides.
    public init(request: Part, answer: Part) {
        self.request = request
        self.answer = answer
    }

    /// Names the members that hold secrets.
    public init(request: Set<String>, answer: Set<String>) {
        self.init(request: .members(request), answer: .members(answer))
    }
}
