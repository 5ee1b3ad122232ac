// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKOATH
import YKWire

/// Adds an account from an otpauth URI.
struct OATHUri: Verb {
    static let about = About(
        "uri", "Add an account from an otpauth:// URI.",
        discussion:
            "A URI contains a secret: read it from standard input, with '-', rather than from the command line.",
        members: ["account"])

    @Argument(help: "otpauth://…, or - for standard input.") var uri: String

    @Flag(name: .shortAndLong, help: "Require a touch for each code.") var touch = false

    @Flag(name: .shortAndLong, help: "Overwrite accounts of the same name.") var force = false

    @OptionGroup var password: PasswordOptions

    func answer(in world: World) async throws -> Answer {
        let text: String
        if uri == "-" {
            text = String(decoding: try SecretInput.line(from: 0).copyBytes(), as: UTF8.self)
        } else {
            world.terminal.warn("a secret on the command line can be seen by others; use: ykit oath uri -")
            text = uri
        }
        if MigrationPayload.matches(text) {
            throw Explanation.usage(
                "this is an export of several accounts", hint: "save it in a file, or pipe it: ykit oath import -")
        }
        var account = try Self.parse(text)
        account.needsTouch = touch
        let service = try await world.oath(password)
        try await AccountWriter(service: service, force: force).write(account)
        return Answer("added '\(account.id.text.printable)'", ["account": account.json])
    }

    private static func parse(_ text: String) throws -> NewOATHAccount {
        do { return try OtpauthURI.parse(text) } catch { throw OATHError.invalidURI(error) }
    }
}
