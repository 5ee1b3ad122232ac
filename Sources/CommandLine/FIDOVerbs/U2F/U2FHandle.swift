// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKFIDO

/// Explains a key handle that does not belong to the key.
enum U2FHandle {
    static let foreign = Explanation(
        "no-credentials", .notFound, "the key handle does not belong to this key, or is for another application",
        hint: "use the key that was registered, with the same --app")

    /// Uses a key handle; reports one that does not belong to this key.
    static func using<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch FIDOError.noCredentials { throw foreign }
    }
}
