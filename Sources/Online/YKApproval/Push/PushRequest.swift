// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKHTTP
public import YKWire

/// The reason for not showing an entry of a poll or a delivered message.
public enum PushRequestFault: Error, Hashable, Sendable {
    /// A member is missing or has the wrong type.
    case malformed(String)
    /// The enrolled server did not sign it.
    case signature
    /// It is for another account of the server.
    case otherSerial(String)
    /// It names an address other than the enrolled one: it was forwarded, or the server has moved.
    case otherServer(String)
}

/// A request to approve a login, signed by the enrolled server.
///
/// The signature covers the members joined with bars. Since the question and the title may themselves contain bars, the
/// boundary between these two is not authenticated; all others are.
public struct PushRequest: Hashable, Sendable {
    /// Its identifier, which is signed in the answer.
    public let nonce: String
    /// The server's question as received: up to 512 characters, not safe to print to a terminal.
    public let question: String
    /// The server's title as received: up to 128 characters, not safe to print to a terminal.
    public let title: String
    /// The serial number of the server's token.
    public let serial: String
    /// The numbers from which the user must choose the one on the login page; `nil` if none is required.
    public let numbers: [String]?
    /// Whether the server's signed capabilities for this request allow a reason for declining.
    public let takesReason: Bool
    /// The whole object as received.
    public let challenge: JSONValue
    /// The text that the server signed.
    public let signedText: String
    /// The server's signature in base 32, as received.
    public let signature: String

    /// Maximum number of entries in a poll.
    static let limit = 100

    /// Checks an entry of a poll or a delivered message; the signature is verified before anything else is read.
    ///
    /// - Parameters:
    ///   - challenge: The object as received.
    ///   - serial: The account's serial number.
    ///   - url: The account's enrolled URL, as `HTTPURL` writes it.
    ///   - key: The server's key for that account.
    /// - Throws: ``PushRequestFault``.
    public init(
        _ challenge: JSONValue, serial: String, url: String, key: PublicKey
    ) throws(PushRequestFault) {
        func text(_ name: String, _ limit: Int) throws(PushRequestFault) -> String {
            guard let value = challenge[name]?.string, value.utf8.count <= limit else { throw .malformed(name) }
            return value
        }
        let signature = try text("signature", 2048)
        let parts = [
            try text("nonce", 128), try text("url", 2048), try text("serial", 64), try text("question", 4096),
            try text("title", 2048), try text("sslverify", 1),
        ]
        var signed = parts.joined(separator: "|")
        let presence = challenge["require_presence"]
        if let presence {
            guard let list = presence.string, list.utf8.count <= 1024 else { throw .malformed("require_presence") }
            signed += "|" + list
        }
        guard Self.isSigned(signed, signature, by: key) else { throw .signature }
        let nonce = parts[0]
        guard !nonce.isEmpty, nonce.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }) else {
            throw .malformed("nonce")
        }
        guard parts[2] == serial else { throw .otherSerial(parts[2]) }
        guard parts[1] == url || (try? HTTPURL(parts[1]))?.description == url else { throw .otherServer(parts[1]) }
        guard ["0", "1"].contains(parts[5]) else { throw .malformed("sslverify") }
        if let list = presence?.string {
            let numbers = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard (2...32).contains(numbers.count), numbers.allSatisfy(Self.isNumber),
                Set(numbers).count == numbers.count
            else { throw .malformed("require_presence") }
            self.numbers = numbers
        } else {
            numbers = nil
        }
        (self.nonce, self.question, self.title, self.serial) = (nonce, parts[3], parts[4], serial)
        (self.challenge, signedText, self.signature) = (challenge, signed, signature)
        takesReason = Self.capabilities(challenge, nonce, key)?["decline_reason"]?.bool ?? false
    }

    /// The short identifier for display: the nonce's first eight characters.
    public var id: String { String(nonce.prefix(8)) }

    /// Returns a text of the server as one line that is safe to show: without control characters and bidirectional
    /// marks, truncated with an ellipsis.
    ///
    /// - Parameter limit: The maximum number of characters.
    public static func shown(_ text: String, limit: Int) -> String {
        var safe = ""
        safe.unicodeScalars = text.unicodeScalars.reduce(into: safe.unicodeScalars) { result, scalar in
            if scalar == "\n" || scalar == "\t" {
                result.append(" ")
            } else if !scalar.isHazardous {
                result.append(scalar)
            }
        }
        // Combining marks can be stacked on one character without limit, so the length counts scalars.
        guard safe.unicodeScalars.count > limit else { return safe }
        var cut = ""
        cut.unicodeScalars.append(contentsOf: safe.unicodeScalars.prefix(max(0, limit - 1)))
        return cut + "…"
    }

    private static func isNumber(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && !text.unicodeScalars.contains { $0.isHazardous || $0 == "|" }
    }

    /// Returns the optional capabilities that the server signed for this request; `nil` if there are none.
    private static func capabilities(_ challenge: JSONValue, _ nonce: String, _ key: PublicKey) -> JSONValue? {
        guard let text = challenge["capabilities"]?.string, text.utf8.count <= 4096,
            let signature = challenge["capabilities_signature"]?.string, signature.utf8.count <= 2048,
            let capabilities = try? JSONValue(parsing: Array(text.utf8)), capabilities.object != nil,
            let signed = CanonicalJSON.text(["capabilities": capabilities, "nonce": .string(nonce)]),
            isSigned(signed, signature, by: key)
        else { return nil }
        return capabilities
    }

    private static func isSigned(_ text: String, _ signature: String, by key: PublicKey) -> Bool {
        guard let bytes = try? Base32.decode(signature) else { return false }
        return key.isValid(bytes, for: Array(text.utf8), .sha256)
    }
}
