// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// The lines that libfido2's tools read and write (fido2-cred(1), fido2-assert(1)): base64 or text, one per line.
struct LibFIDO2Lines {
    private var lines: ArraySlice<String>

    init(_ bytes: [UInt8]) {
        lines =
            String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0).trimmed }[...]
        while lines.last?.isEmpty == true { lines.removeLast() }
    }

    var isAtEnd: Bool { lines.isEmpty }

    /// Reads the next line as text.
    mutating func text(_ name: String) throws(FormatError) -> String {
        guard let line = lines.popFirst() else {
            throw FormatError(line: lines.startIndex + 1, .endsBefore(name))
        }
        return line
    }

    /// Reads the next line as base64.
    mutating func bytes(_ name: String, count: Int? = nil) throws(FormatError) -> [UInt8] {
        let line = try text(name)
        guard let bytes = try? Base64.decode(line) else { throw malformed("\(name) is not base64") }
        guard count == nil || bytes.count == count else { throw malformed("\(name) has \(bytes.count) bytes") }
        return bytes
    }

    /// Reads the next line as a CBOR byte string in base64.
    mutating func wrapped(_ name: String) throws(FormatError) -> [UInt8] {
        let bytes = try bytes(name)
        guard let inner = (try? CBOR(decoding: bytes))?.bytes else {
            throw malformed("\(name) is not a CBOR byte string")
        }
        return inner
    }

    /// Skips what may follow an assertion: the user of a resident credential, and the secrets of hmac-secret.
    ///
    /// - Returns: Whether another assertion follows.
    mutating func skipToAssertion(of rpID: String) throws(FormatError) -> Bool {
        for _ in 0..<3 {
            if lines.isEmpty { return false }
            if lines.dropFirst().first == rpID { return true }
            _ = try bytes("the user or the secret of the assertion")
        }
        throw malformed("this line belongs to no assertion")
    }

    /// An error in the line that was read last.
    func malformed(_ problem: String) -> FormatError { FormatError(line: lines.startIndex, .malformed(problem)) }

    /// Encodes bytes as a line with a CBOR byte string in base64.
    static func wrapped(_ bytes: [UInt8]) -> String { Base64.encode(CBOR.bytes(bytes).encoded) }
}

// What fido2-cred reads and writes.

extension RegistrationRequest {
    /// Reads the input of `fido2-cred -M`: the hash of client data, the relying party, and the user's name and identifier.
    ///
    /// - Throws: The first line that is missing or malformed.
    public init(libFIDO2 bytes: [UInt8]) throws(FormatError) {
        var lines = LibFIDO2Lines(bytes)
        let hash = try lines.bytes("the hash of the client data", count: 32)
        let party = RelyingParty(id: try lines.text("the relying party"))
        let name = try lines.text("the user's name")
        let user = FIDOUser(id: try lines.bytes("the user's identifier"), name: name)
        self.init(clientDataHash: hash, relyingParty: party, user: user)
    }
}

extension Registration {
    /// The output of `fido2-cred -M`: client data hash, relying party, and the parts of the attestation object.
    public func libFIDO2Lines(for request: RegistrationRequest) -> [String] {
        var lines = [
            Base64.encode(request.clientDataHash), request.relyingParty.id, response.format.rawValue,
            LibFIDO2Lines.wrapped(response.authenticatorData.bytes),
            Base64.encode(response.authenticatorData.credential?.id ?? []),
            Base64.encode(response.statement["sig"]?.bytes ?? []),
        ]
        if let certificate = response.statement["x5c"]?.array?.first?.bytes { lines.append(Base64.encode(certificate)) }
        if let key = response.largeBlobKey { lines.append(Base64.encode(key)) }
        return lines
    }
}

extension AuthenticatorData.AttestedCredential {
    /// The output of `fido2-cred -V`: the identifier and the public key.
    public var libFIDO2Lines: [String] { [Base64.encode(id), (publicKey.pem ?? "").trimmed] }
}

// What fido2-assert reads and writes.

extension AssertionRequest {
    /// Reads the input of `fido2-assert -G`: the hash of client data, the relying party, the credential, and optionally
    /// a salt.
    ///
    /// - Parameter isResident: Whether the credential is omitted (option `-r`).
    /// - Throws: The first line that is missing or malformed.
    public init(libFIDO2 bytes: [UInt8], isResident: Bool) throws(FormatError) {
        var lines = LibFIDO2Lines(bytes)
        let hash = try lines.bytes("the hash of the client data", count: 32)
        self.init(rpID: try lines.text("the relying party"), clientDataHash: hash)
        if !isResident { allowList = [CredentialDescriptor(id: try lines.bytes("the credential's identifier"))] }
        guard !lines.isAtEnd else { return }
        let salt = try lines.bytes("the salt")
        guard let salts = HMACSecretSalts(Array(salt.prefix(32)), salt.count > 32 ? Array(salt.dropFirst(32)) : nil)
        else { throw lines.malformed("a salt has 32 bytes, two have 64") }
        extensions.salts = salts
    }
}

extension Assertion {
    /// The output of `fido2-assert -G`: client data hash, relying party, authenticator data, signature, the user of a
    /// resident credential, and secrets.
    ///
    /// - Important: The secrets of hmac-secret are among the lines, as libfido2 writes them.
    public func libFIDO2Lines(for request: AssertionRequest) -> [String] {
        var lines = [
            Base64.encode(request.clientDataHash), request.rpID,
            LibFIDO2Lines.wrapped(response.authenticatorData.bytes), Base64.encode(response.signature),
        ]
        if request.allowList.isEmpty, let user = response.user { lines.append(Base64.encode(user.id)) }
        if let secrets = extensions.secrets {
            lines.append(Base64.encode(secrets.first.value.copyBytes() + (secrets.second?.value.copyBytes() ?? [])))
        }
        return lines
    }
}
