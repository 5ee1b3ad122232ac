// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKOATH
import YKOTP
import YKTransport
import YKWire

/// Slot secrets as text: hexadecimal digits, or base32 as services print it.
enum OTPSecret {
    /// Returns a secret, given or asked for.
    static func read(
        _ source: SecretInput.Source, _ question: String, _ world: World, base32: Bool = false
    ) throws -> Secret {
        switch try SecretInput.given(source, world.terminal) {
        case .secret(let text): return try decode(text, question, base32: base32)
        case .none:
            let form = base32 ? "base 32" : "hexadecimal"
            return try decode(try Prompt(orElse: source.hint).secret("\(question) (\(form))"), question, base32: base32)
        }
    }

    /// Accepts the other encoding if the text cannot be in the expected one.
    private static func decode(_ text: borrowing Secret, _ what: String, base32: Bool) throws -> Secret {
        if base32 {
            if let secret = unbase(text) { return secret }
        } else {
            if let secret = try? hex(text, what) { return secret }
            if let secret = unbase(text) { return secret }
        }
        throw Explanation.usage("\(what) is not \(base32 ? "base 32" : "hexadecimal")")
    }

    /// Decodes pairs of hexadecimal digits.
    static func hex(_ text: borrowing Secret, _ what: String) throws -> Secret {
        var characters = text.copyBytes()
        defer { Secret.wipe(&characters) }
        guard var bytes = try? Hex.decode(String(decoding: characters, as: UTF8.self)), !bytes.isEmpty else {
            throw Explanation.usage("\(what) is not hexadecimal")
        }
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }

    private static func unbase(_ text: borrowing Secret) -> Secret? {
        var characters = text.copyBytes()
        defer { Secret.wipe(&characters) }
        guard var bytes = try? Base32.decode(String(decoding: characters, as: UTF8.self)), !bytes.isEmpty else {
            return nil
        }
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }

    /// Generates a secret.
    static func random(_ count: Int, _ world: World) throws -> SharedSecret {
        var bytes = try world.environment.random.draw(count, secret: true)
        defer { Secret.wipe(&bytes) }
        return SharedSecret(Secret(bytes))
    }

    /// The hint for showing a secret without a terminal.
    static let whereTo = "write it into a file with --output"
}
