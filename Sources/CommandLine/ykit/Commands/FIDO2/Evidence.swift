// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// What is to be verified, read from a file.
struct Evidence {
    /// A registration, or an assertion.
    enum Content {
        case registration(AttestationObject)
        case assertion(AuthenticatorData, signature: [UInt8])
    }

    let content: Content
    /// SHA-256 of the relying party's identifier, as the key signed it.
    var rpIDHash: [UInt8] {
        switch content {
        case .registration(let object): object.authenticatorData.rpIDHash
        case .assertion(let data, _): data.rpIDHash
        }
    }

    /// SHA-256 of the client data.
    let clientDataHash: [UInt8]
    /// The client data, where the file has them.
    var clientData: ClientData?
    /// The relying party, where the file names it.
    var rpID: String?
    /// The credential, where the file names it.
    var credentialID: [UInt8]?

    /// Reads WebAuthn's JSON, bare or as `credential` of an answer.
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
        let whole: JSON
        do { whole = try JSON(parsing: text) } catch { throw Explain.malformed("\(file) is not JSON: \(error)") }
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

    /// Reads what fido2-cred -M wrote or, when there is a key to check it with, what fido2-assert -G wrote.
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

    /// The statement whose parts the lines are. They do not say the algorithm of the attestation, so it is the
    /// credential's own without a certificate, and ES256 with one, as libfido2 takes it.
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
        // A line of 32 bytes is the key of a large blob, no certificate.
        if let certificate, certificate.count > 32 { map["x5c"] = [.bytes(certificate)] }
        return map
    }

    private static func data(_ bytes: [UInt8], _ file: String) throws(Explanation) -> AuthenticatorData {
        do { return try AuthenticatorData(decoding: bytes) } catch {
            throw Explain.malformed("\(file): the authenticator data: \(error)")
        }
    }

    /// A public key in a PEM file; text before it is passed over.
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
    /// The key as a PEM text, where there is such a form.
    var pem: String? { subjectPublicKeyInfo.map { PEM.encode("PUBLIC KEY", $0) } }
}
