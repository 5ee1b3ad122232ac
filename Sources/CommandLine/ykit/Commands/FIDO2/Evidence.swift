// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// A registration or assertion to verify, read from a file.
struct Evidence {
    /// A registration, or an assertion.
    enum Content {
        case registration(AttestationObject)
        case assertion(AuthenticatorData, signature: [UInt8])
    }

    let content: Content
    /// SHA-256 of the relying party's identifier, as signed by the key.
    var rpIDHash: [UInt8] {
        switch content {
        case .registration(let object): object.authenticatorData.rpIDHash
        case .assertion(let data, _): data.rpIDHash
        }
    }

    /// SHA-256 of the client data.
    let clientDataHash: [UInt8]
    /// The client data, if the file has them.
    var clientData: ClientData?
    /// The relying party, if the file names it.
    var rpID: String?
    /// The credential, if the file names it.
    var credentialID: [UInt8]?

    /// Reads WebAuthn JSON, at the top level or as the member `credential` of an answer.
    init(json file: String) throws(Explanation) {
        do { try self.init(reading: file) } catch let error as WebAuthnError {
            throw Explain.malformed(
                "\(file): \(error)", hint: "it has to be a registration or an assertion, as --json prints it")
        } catch let error as Explanation {
            throw error
        } catch {
            throw Explain.explain(error)
        }
    }

    private init(reading file: String) throws {
        let text = try Files.read(file)
        let whole: JSONValue
        do { whole = try JSONValue(parsing: text) } catch { throw Explain.malformed("\(file) is not JSON: \(error)") }
        let json = whole["credential"].flatMap { $0 == .null ? nil : $0 } ?? whole
        let bytes: [UInt8]?
        if json["response"]?["attestationObject"] != nil {
            let response = try RegistrationResponse(json: json)
            content = .registration(response.attestationObject)
            bytes = response.clientDataJSON
            credentialID = response.id
        } else {
            let response = try AuthenticationResponse(json: json)
            content = .assertion(response.authenticatorData, signature: response.signature)
            bytes = response.clientDataJSON
            credentialID = response.id
        }
        guard let bytes else { throw Explain.malformed("\(file) has no client data") }
        let data = try ClientData(parsing: bytes)
        clientData = data
        clientDataHash = data.hash
    }

    /// Reads the output of fido2-cred -M or, with a key to check it, of fido2-assert -G.
    init(libfido2 file: String, hasKey: Bool) throws(Explanation) {
        var lines = try LibFIDO2Lines(file: file)
        clientDataHash = try lines.bytes("the hash of the client data", count: 32)
        rpID = try lines.text("the relying party")
        if hasKey {
            let data = try Self.data(try lines.wrapped("the authenticator data"), file)
            content = .assertion(data, signature: try lines.bytes("the signature"))
            return
        }
        let format = AttestationFormat(rawValue: try lines.text("the format"))
        let data = try Self.data(try lines.wrapped("the authenticator data"), file)
        let id = try lines.bytes("the credential's identifier")
        guard let credential = data.credential, credential.id == id else {
            throw Explain.malformed("\(file): the identifier is not that of the credential")
        }
        credentialID = id
        let signature = try lines.bytes("the signature")
        let certificate = lines.isAtEnd ? nil : try lines.bytes("the certificate")
        content = .registration(
            AttestationObject(
                format: format, authenticatorData: data,
                statement: Self.statement(format, credential.publicKey, signature, certificate)))
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

    private static func data(_ bytes: [UInt8], _ file: String) throws(Explanation) -> AuthenticatorData {
        do { return try AuthenticatorData(decoding: bytes) } catch {
            throw Explain.malformed("\(file): the authenticator data: \(error)")
        }
    }

    /// Reads a public key from a PEM file; text before it is skipped.
    static func publicKey(_ file: String) throws(Explanation) -> COSEKey {
        guard let der = PEM.contents("PUBLIC KEY", in: try Files.read(file)).first else {
            throw Explain.malformed("\(file) has no PEM public key")
        }
        do { return try COSEKey(subjectPublicKeyInfo: der) } catch {
            throw Explain.malformed("\(file): \(error)")
        }
    }
}

extension COSEKey {
    /// The key in PEM, if its type has such a form.
    var pem: String? { subjectPublicKeyInfo.map { PEM.encode("PUBLIC KEY", $0) } }
}
