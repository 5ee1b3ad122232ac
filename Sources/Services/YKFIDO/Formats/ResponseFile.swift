// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A registration or an assertion that was stored to be verified later.
public struct ResponseFile: Sendable {
    /// A registration, or an assertion.
    public enum Content: Sendable {
        /// A new credential.
        case registration(AttestationObject)
        /// The use of a credential.
        case assertion(AuthenticatorData, signature: [UInt8])
    }

    /// The registration or assertion.
    public let content: Content
    /// SHA-256 of the client data.
    public let clientDataHash: [UInt8]
    /// The client data, if the file has them.
    public private(set) var clientData: ClientData?
    /// The relying party, if the file names it.
    public private(set) var rpID: String?
    /// The credential, if the file names it.
    public private(set) var credentialID: [UInt8]?
    /// The identifier of the account, if an assertion names it.
    public private(set) var userHandle: [UInt8]?

    /// The identifier of the account, if the file has it beside a registration, as ykit writes it.
    public private(set) var user: [UInt8]?

    /// The authenticator data of the registration or assertion.
    public var authenticatorData: AuthenticatorData {
        switch content {
        case .registration(let object): object.authenticatorData
        case .assertion(let data, _): data
        }
    }

    /// Whether it is a registration.
    public var isRegistration: Bool { if case .registration = content { true } else { false } }

    /// Reads RegistrationResponseJSON or AuthenticationResponseJSON (WebAuthn Level 3 §5.1.8), at the top level or as the
    /// member `credential`.
    ///
    /// - Throws: `malformed` with the member.
    public init(json text: [UInt8]) throws(FormatError) {
        do throws(WebAuthnError) {
            try self.init(response: text)
        } catch .json(let error) {
            throw FormatError(.malformed("not JSON: \(error)"))
        } catch {
            throw FormatError(.malformed("\(error)"))
        }
    }

    private init(response text: [UInt8]) throws(WebAuthnError) {
        let whole: JSONValue
        do { whole = try JSONValue(parsing: TextFile.utf8(text) ?? text) } catch { throw .json(error) }
        let json = whole["credential"].flatMap { $0 == .null ? nil : $0 } ?? whole
        user = whole["user"]?["id"]?.string.flatMap { try? Base64.decode($0) }
        let bytes: [UInt8]?
        if json["response"]?["attestationObject"] != nil {
            let response = try RegistrationResponse(json: json)
            (content, bytes, credentialID) = (
                .registration(response.attestationObject), response.clientDataJSON, response.id
            )
        } else {
            let response = try AuthenticationResponse(json: json)
            content = .assertion(response.authenticatorData, signature: response.signature)
            (bytes, credentialID, userHandle) = (response.clientDataJSON, response.id, response.userHandle)
        }
        guard let bytes else { throw .member("response.clientDataJSON", problem: "it is missing") }
        let data = try ClientData(parsing: bytes)
        (clientData, clientDataHash) = (data, data.hash)
    }

    /// Reads the output of `fido2-cred -M`.
    ///
    /// - Throws: The first line that is missing or malformed.
    public init(libFIDO2Registration bytes: [UInt8]) throws(FormatError) {
        var lines = LibFIDO2Lines(bytes)
        clientDataHash = try lines.bytes("the hash of the client data", count: 32)
        rpID = try lines.text("the relying party")
        let format = AttestationFormat(rawValue: try lines.text("the format"))
        let data = try Self.data(&lines)
        let id = try lines.bytes("the credential's identifier")
        guard let credential = data.credential, credential.id == id else {
            throw lines.malformed("the identifier is not that of the credential")
        }
        credentialID = id
        let signature = try lines.bytes("the signature")
        let certificate = lines.isAtEnd ? nil : try lines.bytes("the certificate")
        // A line of 32 bytes is a large-blob key.
        guard format != .none || signature.isEmpty && (certificate?.count ?? 32) == 32 else {
            throw lines.malformed("the format is none, but there is a signature or a certificate")
        }
        content = .registration(
            AttestationObject(
                format: format, authenticatorData: data,
                statement: Self.statement(format, credential.publicKey, signature, certificate)))
    }

    /// Reads the output of `fido2-assert -G`, which has several assertions if a resident credential was not named.
    ///
    /// - Throws: The first line that is missing or malformed.
    public static func assertions(libFIDO2 bytes: [UInt8]) throws(FormatError) -> [ResponseFile] {
        var lines = LibFIDO2Lines(bytes)
        var all = [try ResponseFile(assertion: &lines)]
        while try lines.skipToAssertion(of: all[0].rpID ?? "") { all.append(try ResponseFile(assertion: &lines)) }
        return all
    }

    private init(assertion lines: inout LibFIDO2Lines) throws(FormatError) {
        clientDataHash = try lines.bytes("the hash of the client data", count: 32)
        rpID = try lines.text("the relying party")
        let data = try Self.data(&lines)
        content = .assertion(data, signature: try lines.bytes("the signature"))
    }

    /// Returns the attestation statement that the lines contain. They do not name the attestation's algorithm: without
    /// a certificate it is the credential's own, with one it is ES256, as in libfido2.
    private static func statement(
        _ format: AttestationFormat, _ key: COSEKey, _ signature: [UInt8], _ certificate: [UInt8]?
    ) -> CBOR.Map {
        if format == .none { return CBOR.Map() }
        var map = CBOR.Map()
        if format == .packed {
            let algorithm = certificate == nil || certificate?.count == 32 ? key.algorithm ?? .es256 : .es256
            map["alg"] = .int(algorithm.rawValue)
        }
        map["sig"] = .bytes(signature)
        // A line of 32 bytes is a large-blob key, not a certificate.
        if let certificate, certificate.count > 32 { map["x5c"] = [.bytes(certificate)] }
        return map
    }

    private static func data(_ lines: inout LibFIDO2Lines) throws(FormatError) -> AuthenticatorData {
        let bytes = try lines.wrapped("the authenticator data")
        do { return try AuthenticatorData(decoding: bytes) } catch {
            throw lines.malformed("the authenticator data: \(error)")
        }
    }
}

extension COSEKey {
    /// Reads the first public key of a PEM file; text before it is skipped.
    ///
    /// - Throws: `malformed` if there is none, or none of a type that WebAuthn uses.
    public init(pem text: [UInt8]) throws(FormatError) {
        guard let der = PEM.contents("PUBLIC KEY", in: text).first else {
            throw FormatError(.malformed("it has no PEM public key"))
        }
        do { try self.init(subjectPublicKeyInfo: der) } catch { throw FormatError(.malformed("\(error)")) }
    }

    /// The key in PEM, if its type has such a form.
    public var pem: String? { subjectPublicKeyInfo.map { PEM.encode("PUBLIC KEY", $0) } }
}

/// Why text in another program's format cannot be read.
public struct FormatError: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Problem: Hashable, Sendable {
        /// The text ends before the named part.
        case endsBefore(String)
        /// It violates its format, as described.
        case malformed(String)
    }

    /// The line, counted from 1; `nil` in a format without lines.
    public let line: Int?
    /// What is wrong.
    public let problem: Problem

    init(line: Int? = nil, _ problem: Problem) { (self.line, self.problem) = (line, problem) }

    /// The error in a named text, such as a file.
    package func description(of name: String) -> String {
        switch problem {
        case .endsBefore(let what): "\(name) ends before \(what)"
        case .malformed(let text): "\(name): \(text)"
        }
    }
}

extension FormatError: CustomStringConvertible {
    /// What is wrong, in a few words.
    public var description: String {
        switch problem {
        case .endsBefore: description(of: "the text")
        case .malformed(let text): text
        }
    }
}
