// SPDX-License-Identifier: Apache-2.0

extension AuthenticatorData {
    /// The maximum length of a credential identifier, in bytes (WebAuthn Level 3 §6.5.1).
    public static let credentialIDLimit = 1023

    /// Decodes authenticator data; trailing bytes are an error.
    ///
    /// - Throws: `WireError`; `malformed` also for a backup state without eligibility (WebAuthn Level 3 §6.1.3).
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        rpIDHash = try reader.bytes(32, "the hash of the relying party")
        let place = reader.offset
        flags = Flags(rawValue: try reader.byte("the flags"))
        counter = try reader.uint32("the counter")
        credential = flags.contains(.attestedCredential) ? try AttestedCredential(&reader) : nil
        extensions = flags.contains(.extensions) ? try reader.cborFields("the extensions").map : nil
        try reader.finish("the authenticator data")
        guard !flags.contains(.backedUp) || flags.contains(.backupEligible) else {
            throw WireError(.malformed, at: place, "a credential that is backed up without being eligible for it")
        }
        self.bytes = bytes
    }
}

extension AuthenticatorData.AttestedCredential {
    init(_ reader: inout ByteReader) throws(WireError) {
        aaguid = try reader.bytes(16, "the AAGUID")
        let place = reader.offset
        let length = Int(try reader.uint16("the length of the credential's identifier"))
        guard (1...AuthenticatorData.credentialIDLimit).contains(length) else {
            throw WireError(.tooLarge, at: place, "a credential identifier of \(length) bytes, expected 1 to 1023")
        }
        id = try reader.bytes(length, "the credential's identifier")
        publicKey = try COSEKey(reader.cborFields("the public key"))
    }
}
