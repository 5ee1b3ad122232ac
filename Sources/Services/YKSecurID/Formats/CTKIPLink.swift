// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// A CT-KIP link: the address of a server, and the activation code.
public struct CTKIPLink: Sendable {
    /// The URL of the server's CT-KIP service, as given in the link.
    public let server: String
    /// The activation code; `nil` if the link does not contain it.
    public let code: ActivationCode?

    /// Recognizes a link, alone or within other text, also with `&` escaped as in HTML.
    ///
    /// - Throws: The errors of ``init(matching:)``.
    init?(in text: String) throws(SecurIDError) {
        let plain = text.replacing("&amp;", with: "&")
        if let link = try CTKIPLink(matching: plain) {
            self = link
            return
        }
        let words = plain.split { $0.isWhitespace || "<>\"'()".contains($0) }
        for word in words where word.contains("://") {
            guard let link = try CTKIPLink(matching: String(word)) else { continue }
            self = link
            return
        }
        return nil
    }

    /// Recognizes `SCHEME://ctkip?url=…&activationCode=…`, also with `scheme=https&url=HOST:PORT/PATH`, and
    /// `SCHEME://ctf?schema=https&url=HOST:PORT/PATH` of newer servers; `nil` for anything else.
    ///
    /// - Throws: `tooLong`, or `activationCode`.
    public init?(matching text: String) throws(SecurIDError) {
        guard let link = SecurIDLink(text), link.kind == .ctkip, let parts = URLText(text) else { return nil }
        guard text.utf8.count <= SecurIDLimits.url else { throw .tooLong("URL", limit: SecurIDLimits.url) }
        var server = parts.query["url"] ?? ""
        if !server.contains(bytesOf: "://") {
            server = (parts.query["scheme"] ?? parts.query["schema"] ?? "https") + "://" + server
        }
        self.server = server
        code = try parts.query["activationcode"].map { text throws(SecurIDError) in try ActivationCode(text) }
    }
}

/// The secret code that authorizes fetching one token.
public struct ActivationCode: Sendable {
    private let secret: SharedSecret

    /// Reads 1 to 40 letters and digits, ignoring dashes and spaces between them.
    ///
    /// - Throws: `activationCode`, or `tooLong`.
    public init(_ text: String) throws(SecurIDError) {
        let characters = text.trimmed.utf8.filter { $0 != 0x2D && $0 != 0x20 }
        guard !characters.isEmpty, characters.allSatisfy(\.isLetterOrDigit) else { throw .activationCode }
        guard characters.count <= SecurIDLimits.activationCode else {
            throw .tooLong("activation code", limit: SecurIDLimits.activationCode)
        }
        secret = SharedSecret(Secret(characters))
    }

    package var text: String { String(decoding: secret.value.copyBytes(), as: UTF8.self) }

    /// Returns a message with every occurrence of the code removed, in upper or lower case.
    package func removed(from message: String) -> String {
        [text, text.uppercased(), text.lowercased()].reduce(message) { $0.replacing($1, with: "…") }
    }
}
