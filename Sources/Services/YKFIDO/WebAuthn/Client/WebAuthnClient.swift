// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// What a browser's `navigator.credentials` does, for one key: options of a relying party in, its answer out
/// (WebAuthn Level 3 §5.1).
///
/// Keys without CTAP2 are spoken to in U2F. Who may ask is checked, and the inputs of extensions, before anything is
/// sent to the key.
public struct WebAuthnClient: Sendable {
    /// The key.
    public let service: FIDOService
    /// Who asks.
    public var origin: Origin
    /// The outermost page's origin, when the one that asks is inside one of another origin.
    public var topOrigin: Origin?
    /// The extensions that the client knows.
    public var extensions: [any ClientExtension] = StandardExtensions.all
    /// Whether U2F is spoken although the key knows CTAP2.
    public var usesU2F = false
    /// The relying parties that get the platform's kind of enterprise attestation; others get the vendor's.
    public var managedRelyingParties: Set<String> = []

    /// The longest that a ceremony may take, whatever the options say.
    public static let longestTimeout = Duration.seconds(600)

    /// Creates a client of a key for an origin.
    public init(service: FIDOService, origin: Origin) {
        self.service = service
        self.origin = origin
    }

    /// Sends what a ceremony needs, and lifts the error.
    func asking<Value: Sendable>(
        _ body: () async throws(FIDOError) -> Value
    ) async throws(WebAuthnError) -> Value {
        do { return try await body() } catch { throw WebAuthnError(error) }
    }

    /// What the key can do; `nil` when U2F is spoken.
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
        guard hash.count == 32 else { throw .member("clientDataHash", problem: "\(hash.count) bytes, 32 are right") }
        return .hash(hash)
    }

    /// The time for a ceremony, from the milliseconds of the options.
    static func timeout(_ milliseconds: UInt64?) -> Duration? {
        milliseconds.map { min(.milliseconds(Int64(clamping: min($0, 1 << 40))), longestTimeout) }
    }

    /// Whether the key is part of the machine.
    static func attachment(_ info: AuthenticatorInfo?) -> AuthenticatorAttachment {
        info?.option(.plat) == true ? .platform : .crossPlatform
    }

    /// How the key can be reached: as it says, else as it is reached now.
    func transports(_ info: AuthenticatorInfo?) async -> [AuthenticatorTransport] {
        let said = info?.transports.map(AuthenticatorTransport.init(rawValue:)) ?? []
        guard said.isEmpty else { return said }
        return await service.profile.carrier == .hid ? [.usb] : []
    }
}

extension AuthenticatorData {
    /// Refuses an answer that says less than was required.
    func check(_ verification: UserVerification, _ requiresPresence: Bool) throws(WebAuthnError) {
        if requiresPresence, !flags.contains(.userPresent) { throw .key(.verification(.noPresence)) }
        if verification == .required, !flags.contains(.userVerified) {
            throw .key(.verification(.noUserVerification))
        }
    }
}
