// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKFIDO
public import YKWire
import YKX509

/// The list of authenticator models signed by the FIDO Alliance (FIDO Metadata Service 3.0 §3.1).
public struct MetadataBLOB: Sendable {
    /// The serial number, which increases with each list.
    public let number: Int64
    /// The day by which the next list will be published.
    public let nextUpdate: UTCDate
    /// The models.
    public let entries: [MetadataEntry]
    /// What is wrong with entries that cannot be read, whose models count as unknown, and with the certificates of reports,
    /// which then apply to the whole model. The other entries are not affected.
    public let faults: [String]

    /// The name in the certificate of the FIDO Alliance's service.
    public static let signer = "mds.fidoalliance.org"

    private let models: [[UInt8]: Int]
    private let keys: [[UInt8]: Int]

    /// Reads a signed list (§3.1.7) and checks its signature, the certificate's name and its path to an anchor.
    ///
    /// - Parameters:
    ///   - jwt: The list as downloaded, a JSON Web Token.
    ///   - anchors: The trusted certificates, DER: for the FIDO Alliance's list, ``fidoAllianceAnchors``. Of the
    ///     certificates they issue, only one for `signer` is accepted.
    ///   - signer: The required domain name of the signing certificate.
    ///   - time: The time at which certificates must be valid, in seconds since 1970-01-01 00:00 UTC.
    /// - Throws: `malformed`, `algorithm`, `signer`, `certificate` or `signature`.
    public init(
        jwt: [UInt8], anchors: [[UInt8]], signer: String = MetadataBLOB.signer, at time: Int64
    ) throws(MetadataError) {
        let token = try SignedToken(jwt)
        try token.verify(anchors: anchors, signer: signer, at: time)
        try self.init(payload: token.payload)
    }

    /// Reads the content of a list (§3.1.6) without verifying a signature, for a program that has already verified it.
    ///
    /// - Throws: `malformed`.
    public init(payload: JSONValue) throws(MetadataError) {
        do throws(WebAuthnError) {
            let members = try JSONMembers(payload)
            number = try members.required("no", .int)
            guard let day = UTCDate(try members.required("nextUpdate", .string)) else {
                throw .member("nextUpdate", problem: "not a date")
            }
            nextUpdate = day
            var entries: [MetadataEntry] = []
            var faults: [String] = []
            for (index, json) in (try members.optional("entries", .array) ?? []).enumerated() {
                do throws(WebAuthnError) {
                    let entry = try MetadataEntry(try JSONMembers(json, at: "entries[\(index)]"))
                    faults += entry.faults
                    entries.append(entry)
                } catch { faults.append("\(error)") }
            }
            (self.entries, self.faults) = (entries, faults)
        } catch { throw .malformed("\(error)") }
        var models: [[UInt8]: Int] = [:]
        var keys: [[UInt8]: Int] = [:]
        for (index, entry) in entries.enumerated() {
            if let aaguid = entry.aaguid { models[aaguid] = models[aaguid] ?? index }
            for key in entry.keyIdentifiers { keys[key] = keys[key] ?? index }
        }
        self.models = models
        self.keys = keys
    }

    /// Returns the entry of a model, found by its AAGUID or, for U2F, by its certificates' keys (§3.1.1).
    ///
    /// - Parameters:
    ///   - aaguid: The AAGUID of the credential, zero for U2F.
    ///   - chain: The certificates of the attestation, DER.
    public func entry(aaguid: [UInt8], chain: [[UInt8]] = []) -> MetadataEntry? {
        if aaguid.contains(where: { $0 != 0 }) { return models[aaguid].map { entries[$0] } }
        for der in chain {
            guard let certificate = try? X509Certificate(der: der) else { continue }
            if let index = keys[certificate.keyIdentifier] { return entries[index] }
        }
        return nil
    }
}

/// A JSON Web Signature in compact form (RFC 7515 §7.1), with the certificates of its signer.
struct SignedToken {
    let payload: JSONValue
    private let algorithm: COSEAlgorithm
    private let certificates: [X509Certificate]
    private let message: [UInt8]
    private let signature: [UInt8]

    /// The signature algorithms for certificate keys (RFC 7518 §3.1).
    private static let algorithms: [String: COSEAlgorithm] = [
        "ES256": .es256, "ES384": .es384, "ES512": .es512, "RS256": .rs256, "RS384": .rs384, "RS512": .rs512,
        "PS256": .ps256, "EdDSA": .edDSA,
    ]

    private static let curves: [COSEAlgorithm: VerificationKey.Curve] = [.es256: .p256, .es384: .p384, .es512: .p521]

    /// Parses a token without verifying it.
    init(_ jwt: [UInt8]) throws(MetadataError) {
        let text = jwt.filter { $0 > 0x20 }
        let parts = text.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("not three parts") }
        let header: JSONValue
        do throws(WireError) {
            header = try JSONValue(parsing: Self.decode(parts[0]))
            payload = try JSONValue(parsing: Self.decode(parts[1]))
            signature = try Self.decode(parts[2])
        } catch { throw .malformed(error.description) }
        message = Array(text[..<parts[2].startIndex].dropLast())
        let name = header["alg"]?.string ?? ""
        guard let algorithm = Self.algorithms[name], header["crit"] == nil else { throw .algorithm(name) }
        self.algorithm = algorithm
        guard let chain = header["x5c"]?.array, (1...8).contains(chain.count) else {
            throw .malformed("the header has no certificates")
        }
        var certificates: [X509Certificate] = []
        for entry in chain {
            guard let der = entry.string.flatMap({ try? Base64.decode($0.filter { !$0.isWhitespace }) }) else {
                throw .malformed("a certificate that is not base64")
            }
            do { certificates.append(try X509Certificate(attesting: der)) } catch { throw .certificate(error) }
        }
        self.certificates = certificates
    }

    private static func decode(_ part: ArraySlice<UInt8>) throws(WireError) -> [UInt8] {
        try Base64.decode(String(decoding: part, as: UTF8.self))
    }

    func verify(anchors: [[UInt8]], signer: String, at time: Int64) throws(MetadataError) {
        let leaf = certificates[0]
        var names = ((try? leaf.alternativeNames) ?? []).compactMap { $0.domainName?.lowercased() }
        if names.isEmpty { names = leaf.subject.attributes.filter { $0.type == "2.5.4.3" }.compactMap(\.text) }
        guard names.contains(signer) else { throw .signer(names) }
        do throws(VerificationProblem) {
            try CertificatePath(certificates).verify(anchors: anchors, at: time)
        } catch { throw .certificate(error) }
        var form = signature
        if let curve = Self.curves[algorithm] {
            guard let der = VerificationKey.derSignature(concatenated: signature, curve) else { throw .signature }
            form = der
        }
        do { try leaf.publicKey(for: algorithm).verify(form, over: message) } catch { throw .signature }
    }
}
