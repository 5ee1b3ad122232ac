// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKHTTP
public import YKTransport
public import YKWire

/// The origins of other domains that may use a relying party's identifier (WebAuthn Level 3 §5.11): the document at
/// `/.well-known/webauthn` of the identifier's own domain.
public struct RelatedOrigins: Hashable, Sendable {
    /// The path of the document.
    public static let path = "/.well-known/webauthn"
    /// The number of registrable domain labels that every client reads.
    public static let labelLimit = 5
    /// Maximum size of the document in bytes.
    static let sizeLimit = 256 << 10

    /// The listed origins.
    public let origins: [String]

    /// Creates a list of origins.
    public init(_ origins: [String]) { self.origins = origins }

    /// Reads a document.
    ///
    /// - Throws: `json`, or `member` with the path of the invalid member.
    public init(parsing text: [UInt8]) throws(WebAuthnError) {
        let json: JSONValue
        do { json = try JSONValue(parsing: text) } catch { throw .json(error) }
        guard let origins = try JSONMembers(json).list("origins", of: .string) else {
            throw .member("origins", problem: "expected array, got nothing")
        }
        self.origins = origins
    }

    /// Downloads the document of a relying party.
    ///
    /// - Parameters:
    ///   - rpID: The identifier.
    ///   - client: The HTTP client. Redirects are not followed.
    /// - Throws: `http` or `document`.
    public static func fetch(
        _ rpID: String, _ client: any HTTPClient
    ) async throws(RelatedOriginsError) -> RelatedOrigins {
        let response: HTTPResponse
        do throws(HTTPError) {
            var request = HTTPRequest(get: try HTTPURL(site: rpID, path))
            request.limit = sizeLimit
            response = try await client.send(request)
        } catch { throw .http(error) }
        guard response.status == 200, response.type == "application/json" else {
            throw .unavailable(status: response.status, type: response.type)
        }
        do { return try RelatedOrigins(parsing: response.body) } catch { throw .document(error) }
    }

    /// The document, to be served as `application/json`.
    public var json: JSONValue { ["origins": .array(origins.map(JSONValue.string))] }

    /// Whether the document permits an origin under the client's rules (§5.11.1): invalid entries are skipped, and so
    /// are those with a new label once there are five labels.
    public func permits(_ origin: Origin) -> Bool { readable.contains(origin) }

    /// The entries that clients skip: not an origin, or with a sixth label. Empty for a correct document.
    public var ignored: [String] {
        let readable = readable
        return origins.filter { text in (try? Origin(text)).map { !readable.contains($0) } ?? true }
    }

    private var readable: Set<Origin> {
        var labels: Set<String> = []
        var found: Set<Origin> = []
        for text in origins {
            guard let origin = try? Origin(text), let label = Self.label(of: origin.host) else { continue }
            guard labels.contains(label) || labels.count < Self.labelLimit else { continue }
            labels.insert(label)
            found.insert(origin)
        }
        return found
    }

    /// Returns the first label of the registrable domain; `nil` for a public suffix.
    private static func label(of host: String) -> String? {
        let domain = PublicSuffixList.newest.registrableDomain(of: host)
        guard domain != PublicSuffixList.newest.publicSuffix(of: host) else { return nil }
        return domain.split(separator: ".").first.map(String.init)
    }
}

/// The reason that no document of related origins is available.
public enum RelatedOriginsError: Error, Hashable, Sendable {
    /// The download failed.
    case http(HTTPError)
    /// The answer is not a document.
    case unavailable(status: Int, type: String?)
    /// The document is malformed.
    case document(WebAuthnError)
}
