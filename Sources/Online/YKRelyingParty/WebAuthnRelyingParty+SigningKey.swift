// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

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
