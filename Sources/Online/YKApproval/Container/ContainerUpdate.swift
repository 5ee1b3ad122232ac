// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// A server's answer to a synchronization: links with new secrets, and the state of the tokens that the device holds.
///
/// The links are the only copy of the secrets, so store the update before using it.
public struct ContainerUpdate: Sendable {
    /// The decrypted answer, JSON.
    public let plaintext: SharedSecret
    /// Maximum number of tokens in a container.
    static let limit = 1000
    private static let sizeLimit = 1 << 20

    /// Creates an update from a decrypted answer.
    ///
    /// - Throws: `malformed` if the answer is invalid.
    public init(_ plaintext: SharedSecret) throws(ApprovalError) {
        self.plaintext = plaintext
        _ = try content()
    }

    /// Creates the remainder of an update after some of its links were used.
    public init(links: [String]) throws(ApprovalError) {
        let json: JSONValue = ["tokens": ["add": .array(links.map(JSONValue.string))]]
        try self.init(SharedSecret(Secret(utf8: json.text)))
    }

    /// Returns the links of tokens with a new secret: `otpauth://…` and `pia://…`.
    public func links() throws(ApprovalError) -> [String] { try content().links }

    /// Returns the tokens that the device reported and the server still has.
    public func confirmed() throws(ApprovalError) -> [ContainerAccount.Token] { try content().confirmed }

    private func content() throws(ApprovalError) -> (links: [String], confirmed: [ContainerAccount.Token]) {
        var bytes = plaintext.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        guard bytes.count <= Self.sizeLimit, let json = try? JSONValue(parsing: bytes), let tokens = json["tokens"],
            let added = tokens["add"]?.array, added.count <= Self.limit
        else { throw .malformed("the container's content") }
        var links: [String] = []
        for link in added {
            guard let text = link.string, text.utf8.count <= 4096 else { throw .malformed("a token of the container") }
            links.append(text)
        }
        var confirmed: [ContainerAccount.Token] = []
        for token in tokens["update"]?.array ?? [] {
            guard let serial = token["serial"]?.string, PushLink.isSerial(serial), confirmed.count < Self.limit else {
                throw .malformed("a token of the container")
            }
            confirmed.append(ContainerAccount.Token(serial: serial, type: token["tokentype"]?.string ?? ""))
        }
        return (links, confirmed)
    }
}

/// The key agreement of one synchronization: X25519, with the shared secret used directly as the AES-256-GCM key.
struct ContainerExchange {
    private let key: PrivateKey

    /// - Parameter number: 32 random bytes.
    init(_ number: borrowing Secret) throws(ApprovalError) {
        do { key = try PrivateKey(x25519: number) } catch { throw .crypto(error) }
    }

    /// The device's public key in base64url, padded.
    var publicKey: String {
        guard case .x25519(let bytes) = key.publicKey else { return "" }
        return Base64.encodeURL(bytes, padded: true)
    }

    /// Decrypts an answer: `public_server_key`, `container_dict_server` and `encryption_params`.
    func open(_ value: JSONValue) throws(ApprovalError) -> ContainerUpdate {
        func bytes(_ json: JSONValue?) throws(ApprovalError) -> [UInt8] {
            guard let text = json?.string, let bytes = try? Base64.decode(text) else {
                throw .malformed("the encrypted content of the container")
            }
            return bytes
        }
        let parameters = value["encryption_params"]
        guard parameters?["mode"]?.string == "GCM", value["encryption_algorithm"]?.string ?? "AES" == "AES" else {
            throw .malformed("the container's content is not encrypted with AES-GCM")
        }
        let server = try bytes(value["public_server_key"])
        let nonce = try bytes(parameters?["init_vector"])
        let tag = try bytes(parameters?["tag"])
        guard server.count == 32, (12...64).contains(nonce.count), tag.count == AESGCM.tagSize else {
            throw .malformed("the parameters of the container's encryption")
        }
        let sealed = try bytes(value["container_dict_server"]) + tag
        do {
            let shared = try key.shared(with: .x25519(server))
            var plain = try AESGCM.decrypt(sealed, key: shared.value, nonce: nonce, context: [])
            defer { Secret.wipe(&plain) }
            return try ContainerUpdate(SharedSecret(Secret(plain)))
        } catch let error as ApprovalError { throw error } catch {
            throw .malformed("the container's content cannot be decrypted")
        }
    }
}

extension Base64 {
    /// Encodes bytes in the URL-safe alphabet, optionally padded with `=` to a multiple of four.
    static func encodeURL(_ bytes: [UInt8], padded: Bool) -> String {
        let text = encodeURL(bytes)
        return padded ? text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4) : text
    }
}
