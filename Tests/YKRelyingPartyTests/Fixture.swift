// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKHTTP
import YKRelyingParty
import YKTransport
import YKWire

/// The time of the tests, 2026-01-01.
let today: Int64 = 1_767_225_600

/// A clock that is put forward.
final class Clock: WallClock {
    private let time = Mutex(today)
    var now: Int64 { time.withLock { $0 } }
    func advance(_ seconds: Int64) { time.withLock { $0 += seconds } }
}

/// A relying party with the credentials of its accounts.
final class Server: Sendable {
    let clock = Clock()
    let memory: MemoryCeremonies
    let party: WebAuthnRelyingParty
    private let records = Mutex<[[UInt8]: CredentialRecord]>([:])

    static let session = "session"
    static let alice = FIDOUser(id: Array("alice's handle".utf8), name: "alice", displayName: "Alice")

    init(
        store: (any CeremonyStore)? = nil, _ change: (inout WebAuthnRelyingParty) -> Void = { _ in }
    ) throws {
        let environment = ServiceEnvironment(clock: clock)
        memory = MemoryCeremonies(limit: 3, environment: environment)
        var party = try WebAuthnRelyingParty(
            id: "example.com", name: "Example", origins: ["https://login.example.com"], ceremonies: store ?? memory,
            environment: environment)
        change(&party)
        self.party = party
    }

    func record(_ id: [UInt8]) -> CredentialRecord? { records.withLock { $0[id] } }
    func store(_ record: CredentialRecord) { records.withLock { $0[record.id] = record } }

    /// Begins, lets `answer` do what a client does, and ends.
    @discardableResult
    func register(
        _ answer: (PublicKeyCredentialCreationOptions) async throws -> RegistrationResponse,
        asking requirements: RegistrationRequirements = RegistrationRequirements()
    ) async throws -> VerifiedRegistration {
        let begun = try await party.beginRegistration(of: Self.alice, session: Self.session, requirements)
        let response = try await answer(begun.options)
        let verified = try await party.finishRegistration(
            Array(response.json.text.utf8), token: begun.token, session: Self.session
        ) { [self] in record($0) != nil }
        store(verified.record)
        return verified
    }

    @discardableResult
    func authenticate(
        _ answer: (PublicKeyCredentialRequestOptions) async throws -> AuthenticationResponse,
        user: [UInt8]? = alice.id, allowing: [CredentialRecord] = [],
        asking requirements: AuthenticationRequirements = AuthenticationRequirements()
    ) async throws -> VerifiedAuthentication {
        let begun = try await party.beginAuthentication(
            of: user, session: Self.session, allowing: allowing, requirements)
        let response = try await answer(begun.options)
        let verified = try await party.finishAuthentication(
            Array(response.json.text.utf8), token: begun.token, session: Self.session
        ) { [self] in record($0) }
        store(verified.record)
        return verified
    }
}

/// A client and an authenticator in one that answer whatever a test wants.
struct Authenticator {
    var id: [UInt8] = [1, 2, 3, 4]
    var rpID = "example.com"
    var origin = "https://login.example.com"
    var type: ClientData.Kind?
    var challenge: [UInt8]?
    var crossOrigin = false
    var topOrigin: String?
    var payment: JSONValue?
    var flags: AuthenticatorData.Flags = [.userPresent, .userVerified]
    var counter: UInt32 = 1
    var outputs: CBOR.Map?
    var results: JSONValue = [:]
    var userHandle: [UInt8]?
    var algorithm = COSEAlgorithm.es256
    var format = AttestationFormat.none
    var statement: CBOR.Map = [:]
    var breaksSignature = false
    let key: PrivateKey

    init() throws { key = try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 7, count: 32))) }

    private var publicKey: COSEKey {
        let point = Array(key.publicKey.subjectPublicKeyInfo.suffix(64))
        return COSEKey(ec2: .p256, algorithm: algorithm, x: Array(point.prefix(32)), y: Array(point.suffix(32)))
    }

    private func data(isNew: Bool) -> AuthenticatorData {
        let credential = AuthenticatorData.AttestedCredential(
            aaguid: [UInt8](repeating: 9, count: 16), id: id, publicKey: publicKey)
        return AuthenticatorData(
            rpIDHash: HashAlgorithm.sha256.hash(rpID.utf8), flags: flags, counter: counter,
            credential: isNew ? credential : nil, extensions: outputs)
    }

    private func client(_ usual: ClientData.Kind, _ given: [UInt8]) -> ClientData {
        ClientData(
            type ?? usual, challenge: challenge ?? given, origin: origin, crossOrigin: crossOrigin,
            topOrigin: topOrigin, others: JSONValue.Object([("payment", payment)]))
    }

    func create(_ options: PublicKeyCredentialCreationOptions) throws -> RegistrationResponse {
        let client = client(.create, options.challenge)
        let data = data(isNew: true)
        var statement = statement
        if format == .packed {
            let signature = try key.sign(data.bytes + client.hash)
            statement = ["alg": -7, "sig": .bytes(breaksSignature ? [0x30, 0x00] : signature)]
        }
        return RegistrationResponse(
            clientDataJSON: client.bytes,
            attestationObject: AttestationObject(format: format, authenticatorData: data, statement: statement),
            transports: [.usb], attachment: .crossPlatform, clientExtensionResults: results.object ?? JSONValue.Object()
        )
    }

    func get(_ options: PublicKeyCredentialRequestOptions) throws -> AuthenticationResponse {
        let client = client(.get, options.challenge)
        let data = data(isNew: false)
        return AuthenticationResponse(
            id: id, clientDataJSON: client.bytes, authenticatorData: data,
            signature: breaksSignature ? [1] : try key.sign(data.bytes + client.hash), userHandle: userHandle,
            clientExtensionResults: results.object ?? JSONValue.Object())
    }
}

/// Expects a ceremony to be refused for this reason.
func refused<Value>(
    _ error: CeremonyError, _ location: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async {
    await #expect(throws: error, sourceLocation: location) { _ = try await body() }
}
