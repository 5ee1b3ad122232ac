// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FIDOService {
    /// Reads the key's U2F version, `U2F_V2` (VERSION).
    public func u2fVersion() throws(FIDOError) -> String {
        try session.u2f { u2f throws(CTAPError) in try u2f.version() }
    }

    /// Creates a U2F key pair after a touch (REGISTER). Both hashes have 32 bytes.
    public func u2fRegister(challengeHash: [UInt8], applicationHash: [UInt8]) throws(FIDOError) -> U2FRegistration {
        try session.u2f { u2f throws(CTAPError) in
            try u2f.register(challengeHash: challengeHash, applicationHash: applicationHash)
        }
    }

    /// Signs with a U2F key pair (AUTHENTICATE), by default after a touch.
    ///
    /// - Throws: `noCredentials` for a key handle of another key.
    public func u2fAuthenticate(
        challengeHash: [UInt8], applicationHash: [UInt8], keyHandle: [UInt8],
        control: U2F.Control = .enforcePresence
    ) throws(FIDOError) -> U2FSignature {
        guard keyHandle.count <= 255 else { throw .noCredentials }
        do {
            return try session.u2f { u2f throws(CTAPError) in
                try u2f.authenticate(
                    control, challengeHash: challengeHash, applicationHash: applicationHash, keyHandle: keyHandle)
            }
        } catch .ctap(.u2fStatus(let word, _)) where U2FSession.foreignHandle.contains(word) {
            throw .noCredentials
        }
    }

    /// Returns whether a key handle belongs to this key (AUTHENTICATE, check only); nothing is signed.
    public func u2fKnows(keyHandle: [UInt8], applicationHash: [UInt8]) throws(FIDOError) -> Bool {
        try session.u2f { u2f throws(CTAPError) in
            try u2f.knows(
                keyHandle, challengeHash: [UInt8](repeating: 0, count: 32), applicationHash: applicationHash)
        }
    }
}
