// SPDX-License-Identifier: Apache-2.0

public import YKHTTP
import YKWire

/// An enrollment link: `tiqrenroll://` followed by the address of the metadata (TiQR protocol, "Enrollment"), or a web
/// address whose parameter `metadata` is that address.
public struct TiQREnrolmentLink: Hashable, Sendable {
    /// The address of the metadata.
    public let metadata: HTTPURL
    /// The serial number of the token, if the address contains it in privacyIDEA's form.
    public var serial: String? {
        let serial = (try? LinkQuery(metadata.description))?["serial"]
        return serial.flatMap { PushLink.isSerial($0) ? $0 : nil }
    }

    /// Reads a link.
    ///
    /// - Throws: `malformed` for another scheme, or an address that neither uses TLS nor is on this machine.
    public init(_ text: String) throws(ApprovalError) {
        let scheme = "tiqrenroll://"
        let isOwn = text.lowercased().hasPrefix(scheme)
        let address = isOwn ? String(text.dropFirst(scheme.utf8.count)) : try LinkQuery(text)["metadata"]
        guard let address else { throw .malformed("a link of TiQR begins with \(scheme)") }
        do { metadata = try HTTPURL(address) } catch {
            throw .malformed("the link of TiQR: \(error)")
        }
    }
}

/// A login link: `tiqrauth://IDENTITY@SERVICE/SESSION/CHALLENGE/NAME` (TiQR protocol, "Authentication"), or a web address
/// with the parameters `u`, `i`, `s` and `q` (version 2). It contains no address: the answer is sent to the address enrolled
/// for the service.
public struct TiQRLogin: Hashable, Sendable {
    /// The user's identifier; `nil` if the service does not include it.
    public let identity: String?
    /// The identifier of the service, compared with the enrolled one.
    public let service: String
    /// The session, which the answer names.
    public let session: String
    /// The challenge.
    public let challenge: String
    /// The service's name in the link, which is not authenticated.
    public let name: String

    /// Reads a link.
    ///
    /// - Throws: `malformed` if a part is missing or longer than 255 bytes.
    public init(_ text: String) throws(ApprovalError) {
        // Some servers do not escape the blanks in the service's name.
        let link = try LinkQuery(text.replacing(" ", with: "%20"))
        if link.scheme == "https" {
            let user = link["u"] ?? ""
            identity = user.isEmpty ? nil : user
            (service, name) = (try link.required("i"), "")
            (session, challenge) = (try link.required("s"), try link.required("q"))
            return
        }
        guard link.scheme == "tiqrauth" else { throw .malformed("a login of TiQR begins with tiqrauth://") }
        let halves = link.authority.split(separator: "@", omittingEmptySubsequences: false)
        guard (1...2).contains(halves.count), let host = halves.last else {
            throw .malformed("the link of TiQR has no single service")
        }
        identity = halves.count == 2 ? try Self.part(halves[0], "identity") : nil
        service = try Self.part(host, "service")
        let parts = link.path.split(separator: "/", omittingEmptySubsequences: false)
        guard (2...4).contains(parts.count) else { throw .malformed("the link of TiQR has no session and challenge") }
        session = try Self.part(parts[0], "session")
        challenge = try Self.part(parts[1], "challenge")
        name = parts.count > 2 ? PercentEncoding.decode(Self.spaced(parts[2])) ?? "" : ""
    }

    private static func part(_ text: Substring, _ what: String) throws(ApprovalError) -> String {
        guard let value = PercentEncoding.decode(spaced(text)), (1...255).contains(value.utf8.count) else {
            throw .malformed("the \(what) in the link of TiQR is missing or too long")
        }
        return value
    }

    /// Decodes a plus sign as a space, as in forms.
    private static func spaced(_ text: Substring) -> String {
        String(decoding: text.utf8.map { $0 == 0x2B ? 0x20 : $0 }, as: UTF8.self)
    }
}
