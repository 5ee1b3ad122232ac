// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKHTTP
public import YKTransport
import YKWire

/// Persistent storage for the downloaded list of models.
public protocol MetadataStore: Sendable {
    /// Returns the last saved list.
    func load() async throws -> [UInt8]?
    /// Saves a list.
    func save(_ jwt: [UInt8]) async throws
}

/// The FIDO Metadata Service: the current list of models, downloaded when an update is due (FIDO Metadata Service 3.0
/// §3.2).
public actor MetadataService {
    /// The address of the FIDO Alliance's list.
    public static let address = "https://mds3.fidoalliance.org/"
    /// Maximum size of a list in bytes.
    static let limit = 64 << 20

    private let url: HTTPURL
    private let client: any HTTPClient
    private let store: any MetadataStore
    private let anchors: [[UInt8]]
    private let signer: String
    private let clock: any WallClock
    private let grace: Int
    private var current: MetadataBLOB?
    private var floor = Int64.min
    private var isLoaded = false
    private var nextAttempt = Int64.min

    /// Creates a service without downloading anything yet.
    ///
    /// - Parameters:
    ///   - url: The address of the list.
    ///   - client: The HTTP client that downloads it.
    ///   - store: The storage for the list.
    ///   - anchors: The trusted certificates, DER.
    ///   - signer: The required domain name of the signing certificate.
    ///   - grace: The number of days for which a list remains in use after its update was due, if the update is
    ///     unavailable.
    ///   - clock: The time of day.
    public init(
        url: HTTPURL, client: any HTTPClient, store: any MetadataStore, anchors: [[UInt8]],
        signer: String = MetadataBLOB.signer, grace: Int = 30, clock: any WallClock = SystemClock()
    ) {
        self.url = url
        self.client = client
        self.store = store
        self.anchors = anchors
        self.signer = signer
        self.grace = grace
        self.clock = clock
    }

    /// Returns the stored list until an update is due, then a new one. After a failed download, the old list remains in
    /// use for the grace period, and no new attempt is made for an hour.
    ///
    /// - Throws: The error of the download if no list is usable any longer.
    public func metadata() async throws(MetadataError) -> MetadataBLOB {
        await load()
        let now = clock.now
        if let current, UTCDate(seconds: now) < current.nextUpdate { return current }
        let isUsable = current.map { UTCDate(seconds: now).day < $0.nextUpdate.day + grace } ?? false
        if isUsable, now < nextAttempt, let current { return current }
        do { return try await update() } catch {
            nextAttempt = now + 3600
            guard isUsable, let current else { throw error }
            return current
        }
    }

    /// Downloads the list even if no update is due. A redirect is not followed, even if the client would follow one.
    ///
    /// - Returns: The new list.
    /// - Throws: The error of the download; `rollback` for a list older than one already seen.
    @discardableResult
    public func update() async throws(MetadataError) -> MetadataBLOB {
        await load()
        var request = HTTPRequest(get: url)
        request.limit = Self.limit
        request.timeout = .seconds(120)
        let response: HTTPResponse
        do { response = try await client.send(request) } catch { throw .http(error) }
        if let place = response.redirect { throw .http(.redirected(to: place, status: response.status)) }
        guard response.status == 200 else { throw .status(response.status) }
        let new = try MetadataBLOB(jwt: response.body, anchors: anchors, signer: signer, at: clock.now)
        guard new.number >= floor else { throw .rollback(from: floor, to: new.number) }
        floor = new.number
        current = new
        do { try await store.save(response.body) } catch { throw .store("\(error)") }
        return new
    }

    /// Reads the stored list. Even if it no longer verifies, it sets the minimum serial number.
    private func load() async {
        guard !isLoaded else { return }
        let saved = try? await store.load()
        guard !isLoaded else { return }
        isLoaded = true
        guard let saved, let token = try? SignedToken(saved), let number = token.payload["no"]?.int else { return }
        floor = max(floor, number)
        current = try? MetadataBLOB(jwt: saved, anchors: anchors, signer: signer, at: clock.now)
    }
}

/// The reason that a list of models is not used.
public enum MetadataError: Error, Hashable, Sendable {
    /// The list is malformed.
    case malformed(String)
    /// The signature algorithm is not allowed.
    case algorithm(String)
    /// The signing certificate has different names.
    case signer([String])
    /// The certificate chain does not lead to an anchor.
    case certificate(VerificationProblem)
    /// The signature is invalid.
    case signature
    /// The list is older than one already seen.
    case rollback(from: Int64, to: Int64)
    /// The download failed.
    case http(HTTPError)
    /// The server answered with an HTTP status other than 200.
    case status(Int)
    /// The program's own store failed.
    case store(String)
}
