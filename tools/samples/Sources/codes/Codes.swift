// SPDX-License-Identifier: Apache-2.0

import YKit

/// Prints the OATH codes of a key: `codes [SERIAL] [--virtual]`.
@main
struct Codes {
    static func main() async throws {
        let key = try await chosenKey()
        let oath = try await key.open(OATHService.self)
        for entry in try await oath.codes() {
            print(entry.account.id, entry.code?.text ?? "\(entry.outcome)")
        }
        await oath.close()
    }

    private static func chosenKey() async throws(KeyError) -> Key {
        if CommandLine.arguments.contains("--virtual") {
            return try await KeyRing(source: .virtual(.demonstration())).only()
        }
        if let serial = CommandLine.arguments.dropFirst().first { return try await KeyRing.find(serial: serial) }
        return try await KeyRing.only()
    }
}
