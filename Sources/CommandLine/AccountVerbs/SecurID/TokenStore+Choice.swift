// SPDX-License-Identifier: Apache-2.0

import YKSecurID
import YKTokenStore
import YKWire

extension TokenStore {
    /// Returns the token that a text means; the user chooses among several.
    func one(_ query: String?, _ world: World) throws -> StoredToken {
        let found = try tokens(matching: query)
        if let only = found.first, found.count == 1 { return only }
        let failure = Explanation(
            "several-tokens", .severalDevices,
            query.map { "several tokens match '\($0.printable)'" }
                ?? "the store has \(found.count) tokens, name one or choose one with 'securid use'",
            candidates: found.map(\.name))
        return found[try world.choose("which token?", among: failure.candidates, orElse: failure)]
    }
}

extension StoredToken {
    /// The JSON for lists.
    func listed(current: String?, at time: Int64) -> JSONValue {
        var object = description.object ?? JSONValue.Object()
        object["expired"] = .bool(isExpired(at: time))
        object["current"] = .bool(serial == current)
        return .object(object)
    }

    /// The display name.
    var name: String { nickname.map { "\($0.printable) (\(serial))" } ?? serial }
}

extension Explain {
    static func tokenStore(_ error: TokenStoreError) -> Explanation {
        switch error {
        case .store(let error): store(error)
        case .token(let error): securID(error)
        case .empty:
            Explanation(
                "no-such-token", .notFound, "the store has no tokens", hint: "'ykit securid import' adds one")
        case .noSuchToken:
            Explanation(
                "no-such-token", .notFound, "the store has no such token",
                hint: "'ykit securid list' shows them, 'ykit securid import' adds one")
        case .nicknameTaken(let name):
            Explanation("exists", .policy, "another token is called '\(name.printable)'", hint: "choose another name")
        case .tooMany(let count, let limit):
            Explanation(
                "too-many", .policy, "the store would hold \(count) tokens, more than \(limit)",
                hint: "delete one, or allow more with --max N")
        case .random: securID(.random)
        }
    }
}
