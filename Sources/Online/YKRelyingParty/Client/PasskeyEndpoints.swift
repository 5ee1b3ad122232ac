// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKHTTP
import YKTransport
import YKWire

/// Where a site manages passkeys: the document at `/.well-known/passkey-endpoints` of its relying party's domain (A
/// Well-Known URL for Relying Party Passkey Endpoints, W3C Working Draft of 14 January 2026). All links are optional,
/// and may lead to another host, which the user should see before following one.
public struct PasskeyEndpoints: Hashable, Sendable {
    /// The path of the document.
    public static let path = "/.well-known/passkey-endpoints"
    /// Maximum size of the document in bytes.
    static let sizeLimit = 64 << 10

    /// The page to create a passkey.
    public let enroll: HTTPURL?
    /// The page to manage passkeys.
    public let manage: HTTPURL?

    /// Reads a document. Unknown members are ignored, and so are links that are not https.
    ///
    /// - Throws: `json`, or `member` for a link that is not a string.
    public init(parsing text: [UInt8]) throws(WebAuthnError) {
        let json: JSONValue
        do { json = try JSONValue(parsing: text) } catch { throw .json(error) }
        let members = try JSONMembers(json)
        enroll = try Self.link(members, "enroll")
        manage = try Self.link(members, "manage")
    }

    private static func link(_ members: JSONMembers, _ name: String) throws(WebAuthnError) -> HTTPURL? {
        guard let text = try members.optional(name, .string), let url = try? HTTPURL(text) else { return nil }
        return url.usesTLS ? url : nil
    }

    /// Downloads the document of a relying party, so the site's server learns that someone is asking. A redirect is not
    /// followed, even if the client would follow one.
    ///
    /// - Parameters:
    ///   - rpID: The identifier of the relying party, a domain name.
    ///   - client: The HTTP client.
    ///   - trust: How the server is authenticated.
    /// - Returns: `nil` if the site has no such document.
    /// - Throws: `http`, or `document` for a malformed one.
    public static func fetch(
        _ rpID: String, _ client: any HTTPClient, trust: HTTPTrust = HTTPTrust()
    ) async throws(RelatedOriginsError) -> PasskeyEndpoints? {
        let response: HTTPResponse
        do throws(HTTPError) {
            var request = HTTPRequest(get: try HTTPURL(site: rpID, path))
            request.limit = sizeLimit
            request.trust = trust
            response = try await client.send(request)
        } catch { throw .http(error) }
        guard response.status == 200, response.type == "application/json" else { return nil }
        do { return try PasskeyEndpoints(parsing: response.body) } catch { throw .document(error) }
    }
}

extension HTTPURL {
    /// The URL of a document at the domain of a relying party, which may come from a file or a key.
    ///
    /// - Throws: `malformed` for anything that no site could have as its identifier: an address, a port, a path.
    init(site rpID: String, _ path: String) throws(HTTPError) {
        guard let origin = try? Origin("https://" + rpID), origin.host == rpID, origin.port == nil else {
            throw .malformed("'\(rpID)' is not the domain of a site")
        }
        try self.init(origin.description + path)
    }
}
