// SPDX-License-Identifier: Apache-2.0

public import YKHTTP
import YKWire

/// The link that registers a device as a container: `pia://container/SERIAL?…` (privacyIDEA 3.12, "Container").
public struct ContainerLink: Hashable, Sendable {
    /// The container's serial number.
    public let serial: String
    /// The issuer of the link.
    public let issuer: String
    /// The server.
    public let server: HTTPURL
    /// The question that the passphrase answers; `nil` if none is required.
    public let passphrasePrompt: String?
    /// Whether the server requires the passphrase itself in addition to the signature over it.
    public let sendsPassphrase: Bool
    /// The validity period of the link, if it contains one.
    public let validity: Duration?
    /// Whether the link asks not to verify the server's certificate, which is ignored.
    public let asksForNoVerification: Bool
    let nonce: String
    let time: String
    /// The server's address as signed: exactly as it appears in the link.
    let address: String

    /// Reads a link.
    ///
    /// - Throws: `malformed` if a part is missing, or for a key other than P-384 with SHA-256.
    public init(_ text: String) throws(ApprovalError) {
        let link = try LinkQuery(text)
        guard link.scheme == "pia", link.authority == "container" else {
            throw .malformed("the link of a container begins with pia://container/")
        }
        serial = try link.required("serial")
        guard PushLink.isSerial(serial), link.path.isEmpty || link.path == serial else {
            throw .malformed("the serial number in the link of the container")
        }
        issuer = link["issuer"] ?? ""
        nonce = try link.required("nonce")
        time = try link.required("time")
        guard nonce.utf8.count <= 128, time.utf8.count <= 64, !(nonce + time).contains(bytesOf: "|") else {
            throw .malformed("the challenge in the link of the container")
        }
        let curve = try link.required("key_algorithm")
        let hash = try link.required("hash_algorithm")
        guard curve == "secp384r1", hash.uppercased() == "SHA256" else {
            throw .malformed("the link requires a key on \(curve) with \(hash), not P-384 with SHA-256")
        }
        address = try link.required("url")
        server = try Self.server(address)
        let prompt = link["passphrase"] ?? ""
        passphrasePrompt = prompt.isEmpty ? nil : prompt
        sendsPassphrase = try link.flag("send_passphrase") ?? false
        asksForNoVerification = try link.flag("ssl_verify") == false
        validity = link["ttl"].flatMap { Int32($0) }.map { .seconds(Int64($0) * 60) }
    }

    /// Returns the server at an address that appears between bars in signed texts.
    static func server(_ address: String) throws(ApprovalError) -> HTTPURL {
        guard !address.contains(bytesOf: "|"), !address.contains(bytesOf: "?") else {
            throw .malformed("the address of the container's server")
        }
        do { return try HTTPURL(address) } catch { throw .malformed("the container's server: \(error)") }
    }
}
