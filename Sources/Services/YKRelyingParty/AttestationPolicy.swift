// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
import YKTransport
import YKWire

/// What a relying party requires of attestation (WebAuthn Level 3 §5.4.7, §7.1 steps 21 to 24). Whatever statement
/// arrives has to be valid in its format.
public enum AttestationPolicy: Sendable {
    /// Attestation is not asked for, and not required.
    case none
    /// Attestation is asked for in any form, and not required.
    case indirect
    /// One of these certificates vouches for the authenticator.
    case direct(TrustAnchors)
    /// The FIDO metadata vouch for the model, and allow it.
    case metadata(MetadataPolicy)

    /// What the options ask the client for.
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

/// Which models the FIDO metadata have to allow.
public struct MetadataPolicy: Sendable {
    /// The metadata.
    public var metadata: MetadataBLOB
    /// The statuses that refuse a model.
    public var refused: Set<AuthenticatorStatus> = AuthenticatorStatus.compromised
    /// What else a model has to be; by default nothing.
    public var accepts: @Sendable (MetadataEntry) -> Bool = { _ in true }

    /// Creates a policy that refuses models known to be compromised or revoked.
    public init(_ metadata: MetadataBLOB) { self.metadata = metadata }

    func assess(
        _ object: AttestationObject, _ clientDataHash: [UInt8], _ check: AttestationVerification
    ) throws(CeremonyError) -> (AttestationVerification.Trust, MetadataEntry?) {
        let trust: AttestationVerification.Trust
        do { trust = try check.check(object, clientDataHash: clientDataHash) } catch { throw .attestation(error) }
        guard case .certificates(let chain) = trust else { throw .attestation(.untrusted) }
        let aaguid = object.authenticatorData.credential?.aaguid ?? []
        guard let entry = metadata.entry(aaguid: aaguid, chain: chain) else { throw .model(.unknown(aaguid: aaguid)) }
        let now = check.clock.now
        if let report = entry.reports.first(where: { refused.contains($0.status) && $0.concerns(chain, at: now) }) {
            throw .model(.status(report.status))
        }
        guard accepts(entry) else { throw .model(.notAccepted) }
        var anchored = check
        anchored.anchors = TrustAnchors(entry.roots)
        do { return (try anchored.check(object, clientDataHash: clientDataHash), entry) } catch {
            throw .attestation(error)
        }
    }
}
