// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKHTTP
import YKRelyingParty
import YKTestSupport
import YKTransport
import YKWire
import YKX509

/// The lists of `Tests/Fixtures/metadata`, one JSON object a line.
struct SignedList: CustomTestStringConvertible, Sendable {
    let what: String
    let verdict: String
    let jwt: [UInt8]
    let anchors: [[UInt8]]

    var testDescription: String { what }

    static func all() throws -> [SignedList] {
        try lines("metadata/lists.jsonl").map { line in
            SignedList(
                what: line["what"]?.string ?? "", verdict: line["verdict"]?.string ?? "",
                jwt: Array((line["jwt"]?.string ?? "").utf8),
                anchors: try (line["anchors"]?.array ?? []).map { try Base64.decode($0.string ?? "") })
        }
    }

    static func named(_ what: String) throws -> SignedList { try #require(all().first { $0.what == what }) }

    static func lines(_ name: String) throws -> [JSONValue] {
        try Recordings.lines(name)
    }
}

/// The metadata: signed lists, their download, and the policy made of them.
struct MetadataTests {
    @Test(arguments: try SignedList.all())
    func judges(_ list: SignedList) throws {
        let verdict: String
        do {
            _ = try MetadataBLOB(jwt: list.jwt, anchors: list.anchors, at: today)
            verdict = "ok"
        } catch {
            verdict =
                switch error {
                case .malformed: "malformed"
                case .algorithm: "algorithm"
                case .signer: "signer"
                case .certificate: "certificate"
                case .signature: "signature"
                default: "\(error)"
                }
        }
        expect(verdict, is: list.verdict)
    }

    @Test(
        "the numbers of an ECDSA signature have exactly the length of the field (RFC 7518 §3.4)", arguments: [33, 64])
    func refusesLongerNumbers(_ length: Int) throws {
        let list = try SignedList.named("ES256")
        let parts = list.jwt.split(separator: UInt8(ascii: "."))
        let signature = try Base64.decode(String(decoding: parts[2], as: UTF8.self))
        let zeros = [UInt8](repeating: 0, count: length - 32)
        let longer = zeros + signature.prefix(32) + zeros + signature.suffix(32)
        let text = Array(parts[0]) + [UInt8(ascii: ".")] + parts[1] + [UInt8(ascii: ".")]
        #expect(throws: MetadataError.signature) {
            try MetadataBLOB(
                jwt: text + Base64.encodeURL(longer).utf8, anchors: list.anchors, at: today)
        }
    }

    @Test func findsModels() throws {
        let list = try SignedList.named("ES256")
        let blob = try MetadataBLOB(jwt: list.jwt, anchors: list.anchors, at: today)
        #expect(blob.number == 7 && blob.nextUpdate == UTCDate(2026, 2, 1) && blob.entries.count == 2)
        let model = try #require(blob.entry(aaguid: (0..<16).map { UInt8($0) }))
        #expect(model.description == "Test key" && model.roots == list.anchors && model.reports.count == 1)
        expect(blob.entry(aaguid: [UInt8](repeating: 9, count: 16)), is: nil)
        let zero = [UInt8](repeating: 0, count: 16)
        let packed = try #require(SignedList.lines("attestation/attestation.jsonl").first { $0["what"] == "packed" })
        let object = try AttestationObject(decoding: Base64.decode(packed["object"]?.string ?? ""))
        let chain = object.statement["x5c"]?.array?.compactMap(\.bytes) ?? []
        expect(blob.entry(aaguid: zero, chain: chain)?.reports.first?.status, is: .revoked)
        expect(blob.entry(aaguid: zero, chain: [[1]] + list.anchors), is: nil)
    }

    /// A registration by the virtual key, judged with a list that has this entry for its model.
    private func verdict(
        _ reports: JSONValue = [], roots: JSONValue? = nil, aaguid: String? = nil,
        _ change: (inout MetadataPolicy) -> Void = { _ in }
    ) async throws -> VerifiedRegistration {
        let client = try await VirtualClient.open()
        let server = try Server { $0.attestation = .direct(TrustAnchors { $0.chain.map(\.der) }) }
        let known = try await server.register { try await client.create($0) }
        guard case .certificates(let chain) = known.trust else { throw CeremonyError.attestation(.untrusted) }
        let entry: JSONValue = [
            "aaguid": .string(aaguid ?? Hex.encode(known.record.aaguid)), "statusReports": reports,
            "metadataStatement": [
                "description": "Virtual", "attestationRootCertificates": roots ?? [.string(Base64.encode(chain[0]))],
            ],
        ]
        var policy = MetadataPolicy(
            try MetadataBLOB(payload: ["no": 1, "nextUpdate": "2026-02-01", "entries": [entry]]))
        change(&policy)
        let strict = try Server { $0.attestation = .metadata(policy) }
        return try await strict.register { try await client.create($0) }
    }

    @Test func acceptsAModel() async throws {
        let made = try await verdict([
            ["status": "FIDO_CERTIFIED"], ["status": "REVOKED", "effectiveDate": "2026-01-02"],
            ["status": "ATTESTATION_KEY_COMPROMISE", "certificate": "AQID"],
        ])
        #expect(made.model?.description == "Virtual" && made.format == .packed)
    }

    @Test func refusesAModel() async throws {
        for status in AuthenticatorStatus.compromised {
            await refused(.model(.status(status))) {
                try await verdict([["status": .string(status.rawValue), "effectiveDate": "2026-01-01"]])
            }
        }
        _ = try await verdict([["status": "REVOKED"]]) { $0.refused = [] }
        await refused(.model(.notAccepted)) { try await verdict { $0.accepts = { $0.description != "Virtual" } } }
        await refused(.attestation(.untrusted)) { try await verdict(roots: []) }
        do {
            _ = try await verdict(aaguid: "00010203-0405-0607-0809-0a0b0c0d0e0f")
            Issue.record("accepted")
        } catch CeremonyError.model(.unknown) {}
        var own = try Authenticator()
        own.format = .packed
        let blob = try MetadataBLOB(payload: ["no": 1, "nextUpdate": "2026-02-01", "entries": []])
        let server = try Server { $0.attestation = .metadata(MetadataPolicy(blob)) }
        expect(server.party.attestation.conveyance, is: .direct)
        let answer = own
        await refused(.attestation(.untrusted)) { try await server.register(answer.create) }
        await refused(.attestation(.untrusted)) { try await server.register(Authenticator().create) }
        var broken = own
        broken.breaksSignature = true
        let bad = broken
        await refused(.attestation(.badSignature)) { try await server.register(bad.create) }
    }

    @Test("Self attestation counts if the list says that the model gives it")
    func selfAttestation() async throws {
        var own = try Authenticator()
        own.format = .packed
        let answer = own
        func server(_ types: [JSONValue]) throws -> Server {
            let blob = try MetadataBLOB(payload: [
                "no": 1, "nextUpdate": "2026-02-01",
                "entries": [
                    [
                        "aaguid": .string(String(repeating: "09", count: 16)), "statusReports": [],
                        "metadataStatement": ["attestationTypes": .array(types)],
                    ]
                ],
            ])
            return try Server { $0.attestation = .metadata(MetadataPolicy(blob)) }
        }
        let made = try await server(["basic_surrogate"]).register(answer.create)
        #expect(made.trust == .selfSigned && made.model?.attestationTypes == ["basic_surrogate"])
        for types: [JSONValue] in [["basic_full"], []] {
            await refused(.attestation(.untrusted)) { try await server(types).register(answer.create) }
        }
    }

    /// A server of lists, and a place to keep one.
    final class Web: HTTPClient, MetadataStore {
        struct State {
            var answers: [Result<HTTPResponse, HTTPError>] = []
            var requests = 0
            var saved: [UInt8]?
            var failsToSave = false
        }
        struct Full: Error {}
        let state = Mutex(State())

        func answer(_ what: String) throws {
            let list = try SignedList.named(what)
            state.withLock { $0.answers.append(.success(HTTPResponse(status: 200, body: list.jwt))) }
        }
        func answer(_ result: Result<HTTPResponse, HTTPError>) { state.withLock { $0.answers.append(result) } }
        var requests: Int { state.withLock { $0.requests } }

        func send(_ request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
            let next = state.withLock { state in
                state.requests += 1
                return state.answers.isEmpty ? .failure(.timedOut) : state.answers.removeFirst()
            }
            return try next.get()
        }
        func load() -> [UInt8]? { state.withLock { $0.saved } }
        func save(_ jwt: [UInt8]) throws {
            try state.withLock { state in
                if state.failsToSave { throw Full() }
                state.saved = jwt
            }
        }
    }

    private func service(_ web: Web, _ clock: Clock) throws -> MetadataService {
        MetadataService(
            url: try HTTPURL(MetadataService.address), client: web, store: web,
            anchors: try SignedList.named("ES256").anchors, clock: clock)
    }

    @Test func downloadsWhenDue() async throws {
        let (web, clock) = (Web(), Clock())
        let service = try service(web, clock)
        try web.answer("ES256")
        try await expect(service.metadata().number, is: 7)
        #expect(try await service.metadata().number == 7 && web.requests == 1)
        let again = try self.service(web, clock)
        #expect(try await again.metadata().number == 7 && web.requests == 1)
        clock.advance(31 * 86_400)
        try web.answer("the next list")
        #expect(try await again.metadata().number == 8 && web.requests == 2)
    }

    @Test func usesAnOldListForAWhile() async throws {
        let (web, clock) = (Web(), Clock())
        let service = try service(web, clock)
        try web.answer("ES256")
        try await expect(service.metadata().number, is: 7)
        clock.advance(60 * 86_400)
        #expect(try await service.metadata().number == 7 && web.requests == 2)
        #expect(try await service.metadata().number == 7 && web.requests == 2)
        clock.advance(3600)
        #expect(try await service.metadata().number == 7 && web.requests == 3)
        clock.advance(86_400)
        await #expect(throws: MetadataError.http(.timedOut)) { try await service.metadata() }
    }

    @Test func refusesAnOlderList() async throws {
        let (web, clock) = (Web(), Clock())
        let service = try service(web, clock)
        try web.answer("ES256")
        try await service.update()
        try web.answer("the list before")
        await #expect(throws: MetadataError.rollback(from: 7, to: 6)) { try await service.update() }
        try web.answer("ES256")
        try await expect(service.update().number, is: 7)
        // A stored list whose certificate is over still counts.
        let over = try SignedList.named("a certificate that is over")
        web.state.withLock { $0.saved = over.jwt }
        try web.answer("the list before")
        let restarted = try self.service(web, clock)
        await #expect(throws: MetadataError.rollback(from: 7, to: 6)) { try await restarted.metadata() }
    }

    /// A redirect is refused even with a list that verifies as its body, and the list in use remains.
    @Test(arguments: [301, 302, 303, 307, 308]) func followsNoRedirect(status: Int) async throws {
        let (web, clock) = (Web(), Clock())
        let service = try service(web, clock)
        let elsewhere = MetadataError.http(.redirected(to: "https://evil.example/mds", status: status))
        let location = [HTTPField("Location", "https://evil.example/mds")]
        let next = try SignedList.named("the next list")
        web.answer(.success(HTTPResponse(status: status, fields: location, body: next.jwt)))
        await #expect(throws: elsewhere) { try await service.metadata() }
        web.answer(.failure(.redirected(to: "https://evil.example/mds", status: status)))
        await #expect(throws: elsewhere) { try await service.update() }
        #expect(web.requests == 2 && web.load() == nil)
        try web.answer("ES256")
        try await expect(service.update().number, is: 7)
        clock.advance(31 * 86_400)
        web.answer(.success(HTTPResponse(status: status, fields: location, body: next.jwt)))
        try await expect(service.metadata().number, is: 7)
    }

    @Test func reportsWhatIsWrong() async throws {
        let (web, clock) = (Web(), Clock())
        let service = try service(web, clock)
        await #expect(throws: MetadataError.http(.timedOut)) { try await service.metadata() }
        web.answer(.success(HTTPResponse(status: 404)))
        await #expect(throws: MetadataError.status(404)) { try await service.metadata() }
        try web.answer("another key signed")
        await #expect(throws: MetadataError.signature) { try await service.metadata() }
        web.state.withLock { $0.failsToSave = true }
        try web.answer("a list that is due")
        await #expect(throws: MetadataError.store("Full()")) { try await service.update() }
    }
}
