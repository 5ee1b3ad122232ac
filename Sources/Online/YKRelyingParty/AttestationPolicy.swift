// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
import YKTransport
public import YKWire

/// A relying party's requirements for attestation (WebAuthn Level 3 §5.4.7, §7.1 steps 21 to 24). Every statement
/// received must be valid in its format.
public enum AttestationPolicy: Sendable {
    /// Attestation is neither requested nor required.
    case none
    /// Attestation in any form is requested, but not required.
    case indirect
    /// One of these certificates must vouch for the authenticator.
    case direct(TrustAnchors)
    /// The FIDO metadata must vouch for the model and allow it.
    case metadata(MetadataPolicy)

    /// The attestation conveyance in the options.
    public var conveyance: AttestationConveyance {
        switch self {
        case .none: .none
        case .indirect: .indirect
        case .direct, .metadata: .direct
        }
    }

    /// Checks an attestation.
    func assess(
        _ object: AttestationObject, _ clientDataHash: [UInt8], _ check: AttestationVerification
    ) throws(CeremonyError) -> (AttestationVerification.Trust, MetadataEntry?) {
        var check = check
        do throws(VerificationProblem) {
            switch self {
            case .none, .indirect: return (try check.check(object, clientDataHash: clientDataHash), nil)
            case .direct(let anchors):
                check.anchors = anchors
                return (try check.check(object, clientDataHash: clientDataHash), nil)
            case .metadata: break
            }
        } catch { throw .attestation(error) }
        guard case .metadata(let policy) = self else { throw .attestation(.untrusted) }
        return try policy.assess(object, clientDataHash, check)
    }
}

/// The models that the FIDO metadata must allow.
public struct MetadataPolicy: Sendable {
    /// The metadata.
    public var metadata: MetadataBLOB
    /// The statuses that cause a model to be refused.
    public var refused: Set<AuthenticatorStatus> = AuthenticatorStatus.compromised
    /// Further conditions for a model; by default none.
    public var accepts: @Sendable (MetadataEntry) -> Bool = { _ in true }

    /// Creates a policy that refuses models known to be compromised or revoked.
    public init(_ metadata: MetadataBLOB) { self.metadata = metadata }

    /// Checks the attestation of a registration, and whether the metadata allow its model.
    ///
    /// - Parameters:
    ///   - object: The attestation.
    ///   - clientDataHash: SHA-256 of the client data.
    ///   - check: The other requirements.
    /// - Returns: Who vouches for the authenticator, and its model.
    /// - Throws: `attestation` or `model`.
    public func assess(
        _ object: AttestationObject, _ clientDataHash: [UInt8], _ check: AttestationVerification
    ) throws(CeremonyError) -> (AttestationVerification.Trust, MetadataEntry?) {
        let trust: AttestationVerification.Trust
        do { trust = try check.check(object, clientDataHash: clientDataHash) } catch { throw .attestation(error) }
        let chain: [[UInt8]]
        switch trust {
        case .none: throw .attestation(.untrusted)
        case .selfSigned: chain = []
        case .certificates(let certificates): chain = certificates
        }
        let aaguid = object.authenticatorData.credential?.aaguid ?? []
        guard let entry = metadata.entry(aaguid: aaguid, chain: chain) else {
            throw trust == .selfSigned ? .attestation(.untrusted) : .model(.unknown(aaguid: aaguid))
        }
        let now = check.clock.now
        if let report = entry.reports.first(where: { refused.contains($0.status) && $0.applies(to: chain, at: now) }) {
            throw .model(.status(report.status))
        }
        guard accepts(entry) else { throw .model(.notAccepted) }
        let isSelfSigned = trust == .selfSigned
        // Self attestation is what the model gives only if the statement says so.
        let isListed = isSelfSigned ? entry.attestationTypes.contains("basic_surrogate") : entry.mayHaveCertificates
        guard isListed else { throw isSelfSigned ? .attestation(.untrusted) : .model(.attestationType) }
        if isSelfSigned { return (trust, entry) }
        var anchored = check
        anchored.anchors = TrustAnchors(entry.roots)
        do { return (try anchored.check(object, clientDataHash: clientDataHash), entry) } catch {
            throw .attestation(error)
        }
    }
}

extension MetadataEntry {
    /// Whether the model gives an attestation other than by the credential's own key.
    fileprivate var mayHaveCertificates: Bool {
        attestationTypes.isEmpty || attestationTypes.contains { $0 != "basic_surrogate" && $0 != "none" }
    }
}
