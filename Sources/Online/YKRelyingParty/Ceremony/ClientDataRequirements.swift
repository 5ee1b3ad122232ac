// SPDX-License-Identifier: Apache-2.0

public import YKFIDO

/// What the client data of an answer must state (WebAuthn Level 3 §7.1 steps 7 to 11, §7.2 steps 10 to 14).
public struct ClientDataRequirements: Hashable, Sendable {
    /// The operation.
    public var type: ClientData.Kind
    /// The challenge; `nil` if it is unknown and not checked.
    public var challenge: [UInt8]?
    /// The origins that may run ceremonies; `nil` if they are unknown and not checked.
    public var origins: Set<String>?
    /// The origins of pages that may embed the relying party's pages; empty for none.
    public var topOrigins: Set<String> = []
    /// The page of whoever is paid, in which a payment is confirmed.
    var shop: String?

    /// Requires the operation, and that the page is not embedded in one of another origin.
    public init(_ type: ClientData.Kind) { self.type = type }

    /// Checks client data.
    ///
    /// - Throws: `type`, `challenge`, `origin`, `crossOrigin` or `topOrigin`.
    public func check(_ data: ClientData) throws(CeremonyError) {
        guard data.type == type else { throw .type(data.type) }
        if let challenge, data.challenge != challenge { throw .challenge }
        if let origins, !origins.contains(data.origin), data.origin != shop { throw .origin(data.origin) }
        if data.crossOrigin == true, topOrigins.isEmpty, shop == nil { throw .crossOrigin }
        if let top = data.topOrigin, !topOrigins.contains(top), top != shop { throw .topOrigin(top) }
    }
}
