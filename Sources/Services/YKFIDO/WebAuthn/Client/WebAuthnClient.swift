// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A browser's `navigator.credentials` for one key: takes a relying party's options and returns the key's response
/// (WebAuthn Level 3 §5.1).
///
/// Keys without CTAP2 are used with U2F. The origin and the extension inputs are validated before anything is sent to
/// the key.
public struct WebAuthnClient: Sendable {
    /// The key.
    public let service: FIDOService
    /// The caller's origin.
    public var origin: Origin
    /// The outermost page's origin, if the caller is embedded in a page of another origin.
    public var topOrigin: Origin?
    /// The extensions that the client supports.
    public var extensions: [any ClientExtension] = StandardExtensions.all
    /// Whether to use U2F although the key supports CTAP2.
    public var usesU2F = false
    /// The relying parties that get platform-managed enterprise attestation; others get the vendor-facilitated kind.
    public var managedRelyingParties: Set<String> = []

    /// Maximum timeout of a ceremony, whatever the options say.
    public static let longestTimeout = Duration.seconds(600)

    /// Creates a client for a key and an origin.
    public init(service: FIDOService, origin: Origin) {
        self.service = service
        self.origin = origin
    }

    /// Sends the messages of a ceremony, and lifts the error.
    func asking<Value: Sendable>(
        _ body: () async throws(FIDOError) -> Value
    ) async throws(WebAuthnError) -> Value {
        do { return try await body() } catch { throw WebAuthnError(error) }
    }

    /// The key's capabilities; `nil` with U2F.
    func info() async throws(WebAuthnError) -> AuthenticatorInfo? {
        guard !usesU2F, await service.hasCTAP2 else { return nil }
        return try await asking { () async throws(FIDOError) in try await service.info() }
    }

    func clientData(
        _ type: ClientData.Kind, _ challenge: [UInt8], hash: [UInt8]?
    ) throws(WebAuthnError) -> ClientDataSource {
        guard let hash else {
            return .text(
                ClientData(
                    type, challenge: challenge, origin: origin.description, crossOrigin: topOrigin != nil,
                    topOrigin: topOrigin?.description))
        }
        guard hash.count == 32 else { throw .member("clientDataHash", problem: "\(hash.count) bytes, expected 32") }
        return .hash(hash)
    }

    /// The timeout of a ceremony with these options.
    static func timeout(_ wanted: Duration?) -> Duration? { wanted.map { min($0, longestTimeout) } }

    /// Whether the key is built into the computer.
    static func attachment(_ info: AuthenticatorInfo?) -> AuthenticatorAttachment {
        info?.option(.plat) == true ? .platform : .crossPlatform
    }

    /// The key's transports: those it reports, otherwise the one in use.
    func transports(_ info: AuthenticatorInfo?) async -> [AuthenticatorTransport] {
        let said = info?.transports.map(AuthenticatorTransport.init(rawValue:)) ?? []
        guard said.isEmpty else { return said }
        return await service.profile.carrier == .hid ? [.usb] : []
    }
}

extension AuthenticatorData {
    /// Refuses a response that lacks required user presence or verification.
    func check(_ verification: UserVerification, _ requiresPresence: Bool) throws(WebAuthnError) {
        if requiresPresence, !flags.contains(.userPresent) { throw .key(.verification(.noPresence)) }
        if verification == .required, !flags.contains(.userVerified) {
            throw .key(.verification(.noUserVerification))
        }
    }
}
