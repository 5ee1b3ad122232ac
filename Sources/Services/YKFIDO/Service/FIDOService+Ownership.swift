// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

extension FIDOService {
    /// Returns whether the key reports, without touch and user verification, that a credential is its own (getAssertion
    /// with up:false, CTAP 2.2 §6.1.1, or U2F AUTHENTICATE, check only). Nothing is signed for use.
    ///
    /// A key does not report credentials of protection level 3 (`userVerificationRequired`) in this way.
    ///
    /// - Parameters:
    ///   - credential: The credential's identifier.
    ///   - rpID: The relying party, or the application of U2F.
    /// - Throws: `FIDOError` when the key cannot be asked.
    public func owns(_ credential: [UInt8], rpID: String) throws(FIDOError) -> Bool {
        if session.isCTAP2 { return try session.has([CredentialDescriptor(id: credential)], for: rpID) }
        guard credential.count <= 255 else { return false }
        return try u2fKnows(keyHandle: credential, applicationHash: HashAlgorithm.sha256.hash(rpID.utf8))
    }

    /// Makes the key blink (CTAPHID_WINK).
    ///
    /// - Throws: `unsupported` if the key cannot, `notCarried` if it is reached as a card.
    public func wink() throws(FIDOError) {
        let profile = session.ctap.link.profile
        guard profile.carrier != .hid || profile.canWink else { throw .unsupported("wink") }
        do { _ = try session.ctap.call(.wink, []) } catch { throw .ctap(error) }
    }
}
