// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import YKSecurID
import YKit

/// Prints the codes of the SecurID tokens in a file: `securid FILE [SECONDS]`, now or at a time in seconds since 1970.
@main
struct SecurID {
    enum Problem: Error {
        case noFile
    }

    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        guard let path = words.first else { throw Problem.noFile }
        let time = words.dropFirst().first.flatMap { Int64($0) } ?? SystemClock().now
        let input = try SecurIDInput(parsing: Array(try Data(contentsOf: URL(filePath: path))))
        for token in try tokens(in: input) {
            let code = try token.tokencode(at: time)
            print("\(token.serial) \(code.code), then \(code.next) in \(code.remaining.components.seconds) s")
        }
    }

    /// Decrypts the tokens, and asks for the password only if there is one.
    private static func tokens(in input: SecurIDInput) throws -> [SecurIDToken] {
        do { return try input.tokens() } catch {
            guard error == .passwordNeeded else { throw error }
        }
        print("password:")
        let password = SharedSecret(Secret(utf8: readLine() ?? ""))
        return try input.tokens(SecurIDKeys(password: password))
    }
}
