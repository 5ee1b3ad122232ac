// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// What a new discoverable credential would replace: a key keeps one for each relying party and account (CTAP 2.2
/// §6.1.2, makeCredential).
public enum Replacement: Hashable, Sendable {
    /// Nothing.
    case none
    /// The credential with this identifier.
    case credential(CredentialDescriptor)
    /// The key cannot report it: it has no PIN or fingerprint that would unlock its list, or refuses to search without
    /// a touch.
    case unknown
}

extension FIDOService {
    /// Returns what a new discoverable credential for this relying party and account would replace. Changes nothing and
    /// requires no touch.
    ///
    /// Asks credential management if the key has it, which requires the PIN or a fingerprint. Otherwise requests an
    /// assertion without user presence from all credentials of the relying party.
    ///
    /// - Parameters:
    ///   - rpID: The relying party's identifier.
    ///   - userID: The account's identifier.
    /// - Throws: `pinNeeded`, `wrongPIN` and others.
    public func replacement(for rpID: String, userID: [UInt8]) throws(FIDOError) -> Replacement {
        guard session.isCTAP2, try session.info().option(.rk) == true else { return .none }
        return try session.withAccess { () throws(FIDOError) in try session.replacement(for: rpID, userID: userID) }
    }
}

extension FIDOSession {
    fileprivate func replacement(for rpID: String, userID: [UInt8]) throws(FIDOError) -> Replacement {
        let info = try info()
        if info.hasCredentialManagement, info.hasPIN || info.givesTokenForUV {
            let hash = HashAlgorithm.sha256.hash(rpID.utf8)
            let stored: [StoredCredential] = try list(
                first: .firstCredential(rpIDHash: hash), next: .nextCredential, total: \.total)
            return stored.first { $0.user.id == userID }.map { .credential($0.id) } ?? .none
        }
        let isVerified = info.hasPIN || info.hasBuiltInUV
        var request = AssertionRequest(rpID: rpID, clientDataHash: [UInt8](repeating: 0, count: 32))
        request.requiresPresence = false
        request.userVerification = isVerified ? .required : .discouraged
        let found: [Assertion]
        do { found = try assert(request) } catch {
            switch error {
            case .noCredentials: return isVerified ? .none : .unknown
            case .ctap(.status), .unsupported: return .unknown
            default: throw error
            }
        }
        let same = found.first { $0.response.user?.id == userID }
        if let same { return .credential(same.credential) }
        // Without user verification a key does not reveal credentials of protection levels 2 and 3.
        return isVerified ? .none : .unknown
    }
}
