// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKFIDO
import YKPIV
import YKSSH
import YKWire
public import YKX509

/// What files contain about attested keys; each file is recognized by its content.
public struct AttestationEvidence: Sendable {
    /// The certificates, in order, without duplicates.
    public internal(set) var certificates: [X509Certificate] = []
    /// The certificate requests.
    public internal(set) var requests: [CertificateRequest] = []
    /// The signatures over a challenge.
    public internal(set) var proofs: [AttestationProof] = []
    var ssh: [SSHAttestation] = []
    var registrations: [Registration] = []
    var steps: [StepStatement] = []

    /// A WebAuthn registration, and the key that previewSign made with it.
    struct Registration: Sendable {
        let file: ResponseFile
        let signingKey: PreviewSign.GeneratedKey?
    }

    /// Maximum size of a file in bytes, and maximum number of items in all files.
    public static let (limit, itemLimit) = (16 << 20, 64)

    /// Creates empty evidence.
    public init() {}

    /// Adds certificates, such as those that a card just returned.
    public init(certificates: [X509Certificate], proofs: [AttestationProof] = []) {
        self.certificates = certificates
        self.proofs = proofs
    }

    /// Whether nothing was found.
    public var isEmpty: Bool { itemCount == 0 }

    private var itemCount: Int {
        certificates.count + requests.count + proofs.count + ssh.count + registrations.count + steps.count
    }

    /// Adds the content of a file: PEM, DER, base64 of either, an attestation of ssh-keygen, a WebAuthn registration in
    /// JSON or as `fido2-cred -M` writes it, an ACME statement, or a recording of a card.
    ///
    /// - Throws: ``AttestationError``.
    public mutating func add(_ bytes: [UInt8]) throws(AttestationError) {
        guard bytes.count <= Self.limit else { throw .malformed("a file of \(bytes.count) bytes") }
        let before = itemCount
        try add(content: bytes)
        guard itemCount > before else {
            // A file with only certificates that are known already is fine.
            guard
                PEM.blocks(bytes).contains(where: { Self.certificateLabels.contains($0.label) }) || bytes.first == 0x30
            else { throw .unrecognized }
            return
        }
        guard itemCount <= Self.itemLimit else { throw .malformed("more than \(Self.itemLimit) items") }
    }

    private mutating func add(content bytes: [UInt8]) throws(AttestationError) {
        if SSHAttestation.isRecognized(in: bytes) { return try addSSH(bytes) }
        let blocks = PEM.blocks(bytes)
        if !blocks.isEmpty { return try add(blocks) }
        switch bytes.first {
        case 0x30: return try addDER(bytes)
        case .some(0xA1...0xBF): return try addCBOR(bytes)
        default: break
        }
        // A byte order mark, UTF-16 and blank lines precede JSON and base64 in files of some editors.
        let text = TextFile.utf8(bytes).map { Array($0.drop(while: Self.blanks.contains)) } ?? bytes
        if text.first == UInt8(ascii: "{") { return try addJSON(text) }
        if let file = try? ResponseFile(libFIDO2Registration: bytes) {
            registrations.append(Registration(file: file, signingKey: nil))
            return
        }
        let digits = String(decoding: text.filter { !Self.blanks.contains($0) }, as: UTF8.self)
        guard let inner = try? Base64.decode(digits), inner.first == 0x30 || SSHAttestation.isRecognized(in: inner)
        else {
            throw .unrecognized
        }
        try add(content: inner)
    }

    private static let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
    private static let certificateLabels = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]

    private mutating func add(_ blocks: [PEM]) throws(AttestationError) {
        for block in blocks {
            switch block.label {
            case let label where Self.certificateLabels.contains(label): try addCertificate(block.content)
            case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": try addRequest(block.content)
            case AttestationProof.label: proofs.append(try AttestationProof(decoding: block.content))
            default: continue
            }
        }
    }

    mutating func addCertificate(_ der: [UInt8]) throws(AttestationError) {
        do {
            let certificate = try X509Certificate(der: der)
            if !certificates.contains(certificate) { certificates.append(certificate) }
        } catch { throw .malformed("a certificate: \(error)") }
    }

    private mutating func addRequest(_ der: [UInt8]) throws(AttestationError) {
        do { requests.append(try CertificateRequest(der: der)) } catch { throw .malformed("a request: \(error)") }
    }

    private mutating func addDER(_ bytes: [UInt8]) throws(AttestationError) {
        if let request = try? CertificateRequest(der: bytes) { return requests.append(request) }
        let parts: [[UInt8]]
        do { parts = try X509Certificate.split(bytes) } catch { throw .malformed("certificates: \(error)") }
        for part in parts { try addCertificate(part) }
    }

    private mutating func addSSH(_ bytes: [UInt8]) throws(AttestationError) {
        do { ssh.append(try SSHAttestation(decoding: bytes)) } catch {
            if case .unsupportedKey(let name) = error { throw .unsupported(name) }
            throw .malformed("\(error)")
        }
    }

    private mutating func addJSON(_ bytes: [UInt8]) throws(AttestationError) {
        let firstLine = bytes.prefix { $0 != 0x0A }
        if let header = try? JSONValue(parsing: Array(firstLine)), header["capture"] != nil {
            return try addCapture(bytes)
        }
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch { throw .malformed("JSON: \(error)") }
        if let text = json["attObj"]?.string {
            guard let object = try? Base64.decode(text) else { throw .malformed("attObj is not base64url") }
            return try addCBOR(object)
        }
        let file: ResponseFile
        do { file = try ResponseFile(json: bytes) } catch {
            throw .malformed(error.description(of: "the registration"))
        }
        guard file.isRegistration else { throw .unsupported("assertion") }
        let whole = json["credential"].flatMap { $0 == .null ? nil : $0 } ?? json
        registrations.append(Registration(file: file, signingKey: Self.signingKey(whole)))
    }

    private static func signingKey(_ json: JSONValue) -> PreviewSign.GeneratedKey? {
        guard let response = try? RegistrationResponse(json: json) else { return nil }
        return try? PreviewSign.GeneratedKey(results: response.clientExtensionResults)
    }

    private mutating func addCBOR(_ bytes: [UInt8]) throws(AttestationError) {
        let format: String?
        do { format = try CBOR(decoding: bytes).map?["fmt"]?.text } catch { throw .malformed("CBOR: \(error)") }
        guard let format else { throw .unrecognized }
        guard format == StepStatement.format else { throw .unsupported(format) }
        steps.append(try StepStatement(decoding: bytes))
    }

    /// Adds every certificate that a card returned in a recording.
    private mutating func addCapture(_ bytes: [UInt8]) throws(AttestationError) {
        let capture: Capture
        do { capture = try Capture(parsing: bytes) } catch { throw .malformed("a recording: \(error)") }
        for transaction in CardTransaction.all(in: capture) where transaction.reply.status == .ok {
            guard let certificate = Self.certificate(in: transaction.reply.data) else { continue }
            if !certificates.contains(certificate) { certificates.append(certificate) }
        }
    }

    /// A certificate by itself, as ATTEST and OpenPGP return it, or in a PIV data object.
    private static func certificate(in data: [UInt8]) -> X509Certificate? {
        if let certificate = try? X509Certificate(der: data) { return certificate }
        guard let content = try? TLV.list(data).value(0x53), let object = try? CertificateObject(decoding: content),
            let der = try? object.certificate()
        else { return nil }
        return try? X509Certificate(der: der)
    }
}

/// Why a file is not evidence.
public enum AttestationError: Error, Hashable, Sendable {
    /// The content is none of the known forms.
    case unrecognized
    /// The form is known, but not supported.
    case unsupported(String)
    /// The content violates its form.
    case malformed(String)
    /// It names several keys where one is expected.
    case severalKeys
    /// A requirement that cannot be parsed.
    case requirement(String)
}
