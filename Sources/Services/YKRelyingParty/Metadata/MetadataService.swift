// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKHTTP
public import YKTransport
import YKWire

/// Where a downloaded list of models is kept between runs.
public protocol MetadataStore: Sendable {
    /// The list that was saved last.
    func load() async throws -> [UInt8]?
    /// Saves a list.
    func save(_ jwt: [UInt8]) async throws
}

/// The FIDO Metadata Service: the current list of models, downloaded when it is due (FIDO Metadata Service 3.0 §3.2).
public actor MetadataService {
    /// The address of the FIDO Alliance's list.
    public static let address = "https://mds3.fidoalliance.org/"
    /// The most bytes that are read of a list.
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

    /// Creates a service; nothing is downloaded yet.
    ///
    /// - Parameters:
    ///   - url: Where the list is.
    ///   - client: What downloads it.
    ///   - store: Where it is kept.
    ///   - anchors: The trusted certificates, DER.
    ///   - signer: The domain name that the signing certificate has to have.
    ///   - grace: The days for which a list is used after its next one was due, if that cannot be had.
    ///   - clock: Time of day.
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

    /// The list: the stored one until the next one is due, then a new one. After a failed download the old one is used
    /// for the days of grace, and an hour passes before the next attempt.
    ///
    /// - Throws: What is wrong with the download, once there is no list that can still be used.
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

    /// Downloads the list whether or not it is due.
    ///
    /// - Returns: The new list.
    /// - Throws: What is wrong; `rollback` for a list older than one that was seen.
    @discardableResult
    public func update() async throws(MetadataError) -> MetadataBLOB {
        await load()
        var request = HTTPRequest(get: url)
        request.limit = Self.limit
        request.timeout = .seconds(120)
        let response: HTTPResponse
        do { response = try await client.send(request) } catch { throw .http(error) }
        guard response.status == 200 else { throw .status(response.status) }
        let new = try MetadataBLOB(jwt: response.body, anchors: anchors, signer: signer, at: clock.now)
        guard new.number >= floor else { throw .rollback(from: floor, to: new.number) }
        floor = new.number
        current = new
        do { try await store.save(response.body) } catch { throw .store("\(error)") }
        return new
    }

    /// Reads the stored list. One that no longer verifies still sets the least serial number.
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

/// Why a list of models is not used.
public enum MetadataError: Error, Hashable, Sendable {
    /// The list cannot be read.
    case malformed(String)
    /// The algorithm of the signature is not one that is allowed.
    case algorithm(String)
    /// The signing certificate has other names.
    case signer([String])
    /// The certificates do not lead to an anchor.
    case certificate(VerificationProblem)
    /// The signature is not valid.
    case signature
    /// The list is older than one that was seen.
    case rollback(from: Int64, to: Int64)
    /// The download failed.
    case http(HTTPError)
    /// The server answered with another status than 200.
    case status(Int)
    /// The program's own store failed.
    case store(String)
}
