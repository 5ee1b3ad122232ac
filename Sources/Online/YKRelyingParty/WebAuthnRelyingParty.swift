// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKTransport
import YKWire

/// A WebAuthn Relying Party (WebAuthn Level 3 §4, §7): the server's side of passkeys.
///
/// It creates the options of a ceremony, keeps the ceremony's state in a ``CeremonyStore``, and verifies the client's
/// answer in the order of the specification's steps. It contains no web server and no database: the program passes JSON
/// between client and relying party, and stores each ``CredentialRecord``.
public struct WebAuthnRelyingParty: Sendable {
    /// The identifier, a domain name.
    public let id: String
    /// The display name.
    public var name: String
    /// The origins that may run ceremonies, as browsers write them.
    public let origins: Set<String>
    /// The origins of pages that may embed the relying party's pages; empty for none.
    public var topOrigins: Set<String> = []
    /// The requirements for attestation.
    public var attestation = AttestationPolicy.none
    /// Whether to accept attestations with SHA-1, as TPMs of many Windows computers make (RS1).
    public var allowsSHA1 = false
    /// Whether credentials that can be backed up are refused.
    public var requiresDeviceBound = false
    /// Whether an assertion whose signature counter did not increase is refused. If not, it is accepted and reported.
    public var refusesOldCounters = true
    /// Timeout for a ceremony.
    public var timeout = Duration.seconds(300)
    /// The store of ceremonies in progress.
    public let ceremonies: any CeremonyStore
    /// The source of randomness and the time of day.
    public var environment: ServiceEnvironment

    /// Maximum timeout for a ceremony, one day.
    static let longestTimeout = Duration.seconds(86_400)

    /// Creates a relying party.
    ///
    /// - Parameters:
    ///   - id: The identifier, a domain name.
    ///   - name: The display name.
    ///   - origins: The origins that run ceremonies: `https://…`, `http://localhost…`, or an application's, such as
    ///     `android:apk-key-hash:…`, or an extension's.
    ///   - relatedOrigins: Origins of other domains that may use the identifier (§5.11). They must be listed in
    ///     ``RelatedOrigins`` at the identifier's own domain.
    ///   - ceremonies: The store of ceremonies in progress.
    ///   - environment: The source of randomness and the time of day.
    /// - Throws: `origin` for a string that is not an origin, `relyingParty` for an origin that may not use the
    ///   identifier.
    public init(
        id: String, name: String, origins: [String], relatedOrigins: [String] = [], ceremonies: any CeremonyStore,
        environment: ServiceEnvironment = ServiceEnvironment()
    ) throws(WebAuthnError) {
        var allowed: Set<String> = []
        for text in origins {
            if !Origin.isOfApplication(text) { _ = try Origin(text).relyingPartyID(id) }
            allowed.insert(try Origin.comparable(text))
        }
        for text in relatedOrigins { allowed.insert(try Origin(text).description) }
        self.id = id
        self.name = name
        self.origins = allowed
        self.ceremonies = ceremonies
        self.environment = environment
    }

    /// Checks the client data of an answer (§7.1 steps 5 to 11, §7.2 steps 8 to 14).
    func check(_ json: [UInt8]?, _ type: ClientData.Kind, _ ceremony: Ceremony) throws(CeremonyError) -> ClientData {
        guard let json else { throw .malformed(.member("response.clientDataJSON", problem: "it is missing")) }
        let data: ClientData
        do { data = try ClientData(parsing: json) } catch { throw .malformed(error) }
        var required = ClientDataRequirements(type)
        (required.challenge, required.origins, required.topOrigins) = (ceremony.challenge, origins, topOrigins)
        required.shop = ceremony.payment?["topOrigin"]?.string
        try required.check(data)
        return data
    }

    /// Starts a ceremony: generates the challenge and records the time.
    func ceremony(_ kind: Ceremony.Kind, session: String) throws(CeremonyError) -> Ceremony {
        let challenge: [UInt8]
        do { challenge = try environment.random.draw(32, secret: false) } catch { throw .store("\(error)") }
        let expires = environment.clock.now + limitedTimeout.components.seconds
        return Ceremony(kind, challenge: challenge, session: session, expires: expires)
    }

    /// The timeout for the client: from one second to the longest, in whole seconds.
    var limitedTimeout: Duration {
        .seconds(min(max(timeout, .seconds(1)), Self.longestTimeout).components.seconds)
    }

    /// Removes a ceremony from the store, so that it cannot be used again, and returns it.
    func take(_ token: String, _ kind: Ceremony.Kind, session: String) async throws(CeremonyError) -> Ceremony {
        let found: Ceremony?
        do { found = try await ceremonies.take(token, session: session) } catch { throw CeremonyError(error) }
        guard let ceremony = found, ceremony.kind == kind, ceremony.session == session else { throw .unknownCeremony }
        guard environment.clock.now < ceremony.expires else { throw .expired }
        return ceremony
    }

    func keep(_ ceremony: Ceremony) async throws(CeremonyError) -> String {
        do { return try await ceremonies.keep(ceremony) } catch { throw CeremonyError(error) }
    }
}

/// A started ceremony: the client's options, and the token that identifies the ceremony in the answer.
public struct BegunCeremony<Options: Sendable>: Sendable {
    /// The options for the client.
    public let options: Options
    /// The token of the ceremony, sent back in the answer or in a cookie.
    public let token: String
}

extension WebAuthnRelyingParty {
    /// Verifies the key that previewSign made with a credential: that its algorithm was requested and is confirmed by
    /// the credential's authenticator data, and that its attestation meets the policy's requirements for the
    /// credential.
    ///
    /// - Returns: The key; `nil` if none was requested, or the client reports none.
    func signingKey(
        _ response: RegistrationResponse, _ ceremony: Ceremony, _ clientDataHash: [UInt8],
        _ check: AttestationVerification, _ model: MetadataEntry?
    ) throws(CeremonyError) -> PreviewSign.GeneratedKey? {
        let wanted = ceremony.extensions["previewSign"]?["generateKey"]?["algorithms"]?.array?.compactMap(\.int) ?? []
        guard !wanted.isEmpty else { return nil }
        let found: PreviewSign.GeneratedKey?
        do { found = try PreviewSign.GeneratedKey(results: response.clientExtensionResults) } catch {
            throw .malformed(error)
        }
        guard let key = found else { return nil }
        let data = response.attestationObject.authenticatorData
        guard wanted.contains(key.algorithm.rawValue), data.previewSignAlgorithm == key.algorithm else {
            throw .algorithm(key.algorithm)
        }
        guard key.attestationObject.authenticatorData.credential?.aaguid == data.credential?.aaguid else {
            throw .extension("previewSign")
        }
        var check = check
        switch attestation {
        case .none, .indirect: break
        case .direct(let anchors): check.anchors = anchors
        case .metadata: check.anchors = TrustAnchors(model?.roots ?? [])
        }
        do { _ = try check.check(key, clientDataHash: clientDataHash) } catch { throw .attestation(error) }
        return key
    }
}
