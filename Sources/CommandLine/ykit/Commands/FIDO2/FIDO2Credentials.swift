// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKFIDO
import YKWire

/// Commands for the credentials stored on the key.
struct FIDO2Credentials: ParsableCommand {
    static let about = About(
        "credentials", "Manage the credentials (passkeys) that the key stores.",
        subcommands: [FIDO2CredentialsList.self, FIDO2CredentialsDelete.self, FIDO2CredentialsUpdate.self])
}

/// The persistent token that stands for the PIN where credentials are only listed.
struct TokenOptions: ParsableArguments {
    static let title = "Token Options"

    @Option(
        help: ArgumentHelp(
            "Use the persistent token in this file instead of the PIN; info --save-token stores it.", valueName: "file"),
        completion: .file)
    var token: String?

    /// Makes a service use the token in the file.
    ///
    /// - Returns: The token; `nil` if no file is named.
    func use(with service: FIDOService, _ world: World) async throws -> FIDOToken? {
        guard let path = token else { return nil }
        let stored = try TokenFile.read(path, world)
        guard try await service.accepts(stored) else {
            throw Explanation(
                "token", .authentication, "the key does not accept the token in \(path.printable)",
                hint: """
                    it belongs to another key, or the PIN was changed; ykit fido2 info --save-token FILE requests a \
                    new one
                    """)
        }
        await service.use(stored)
        return stored
    }
}

/// The file of a persistent token: one line with the number of its PIN/UV auth protocol and its bytes in hexadecimal.
enum TokenFile {
    private static let mark = "ykit-fido2-token"

    static func bytes(of token: FIDOToken) -> [UInt8] {
        token.secret.value.withBytes { Array("\(mark) \(token.version.rawValue) \(Hex.encode(Array($0)))\n".utf8) }
    }

    static func read(_ path: String, _ world: World) throws(Explanation) -> FIDOToken {
        if Files.isOpenToOthers(path) {
            world.terminal.warn("other users can read \(path.printable), which holds a token of a key")
        }
        var bytes = try Files.read(path)
        defer { Secret.wipe(&bytes) }
        let words = String(decoding: bytes.prefix(256), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 3, words[0] == mark, let version = UInt64(words[1]).flatMap(PINProtocol.init(rawValue:)),
            let secret = try? Hex.decode(words[2]),
            let token = FIDOToken(
                SharedSecret(Secret(secret)), version: version, permissions: .persistentCredentialManagementReadOnly)
        else { throw Explain.malformed("\(path.printable) is not a token stored by ykit") }
        return token
    }
}

extension World {
    /// Opens the FIDO application of a key that can list its credentials and has a PIN.
    func openCredentials(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let service = try await openFIDO(pin, for: reason)
        let info = try await service.info()
        guard info.hasCredentialManagement else { throw FIDOError.unsupported("credMgmt") }
        guard info.hasPIN || info.givesTokenForUV else { throw FIDOError.pinNotSet }
        return service
    }
}
