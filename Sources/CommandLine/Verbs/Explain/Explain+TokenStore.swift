// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKSecurID
package import YKTokenStore
import YKWire

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
