// SPDX-License-Identifier: Apache-2.0

import Verbs
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
