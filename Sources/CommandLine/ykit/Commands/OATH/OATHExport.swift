// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOATH
import YKWire

/// Exports the account data that a key discloses.
struct OATHExport: Verb {
    static let about = About(
        "export",
        "Export names, types, algorithms and periods. Keys never reveal secrets.",
        discussion: "The lines are otpauth URIs without a secret; nothing can be enrolled from them.",
        members: ["accounts"])

    @OptionGroup var password: PasswordOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        let accounts = try await service.accounts()
        let known = try await service.codes(at: world.now)
        let merged = accounts.map { account in
            var account = account
            let entry = known.first { $0.account.id.rawName == account.id.rawName }
            account.digits = account.digits ?? entry?.account.digits
            account.needsTouch = account.needsTouch ?? entry?.account.needsTouch
            return account
        }
        let uris = merged.map(OtpauthURI.textWithoutSecret)
        var answer = Answer(
            uris,
            ["accounts": .array(zip(merged, uris).map { .object($0.json.with("uri", .string($1))) })])
        answer.warnings = ["keys never reveal secrets: this is a list, not a backup"]
        return answer
    }
}

extension JSON.Object {
    func with(_ key: String, _ value: JSON) -> JSON.Object {
        var copy = self
        copy[key] = value
        return copy
    }
}
