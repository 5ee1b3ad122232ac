// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire
public import YKX509

/// The statements of an attestation about a key and the device that generated it (Yubico, "PIV attestation").
public struct PIVAttestation: Hashable, Sendable {
    /// The firmware that generated the key.
    public let firmware: FirmwareVersion?
    /// The serial number of the device; absent if it is not visible.
    public let serial: UInt64?
    /// The PIN and touch policies of the key.
    public let policies: KeyPolicies?
    /// The form factor code; bit 80 marks a FIPS device.
    public let formFactor: UInt8?
    /// The slot of the key, according to the subject's name.
    public let slot: PIVSlot?

    /// Reads the extensions 1.3.6.1.4.1.41482.3.x of an attestation.
    ///
    /// - Throws: `notCertificate` if one of them is malformed.
    public init(_ certificate: X509Certificate) throws(PIVError) {
        do {
            firmware = try certificate.extensions[Self.firmware].map { field throws(WireError) in
                // Three bytes; what may follow in later firmware is ignored.
                try FirmwareVersion(bytes: Array(field.value.prefix(3)))
            }
            serial = try certificate.extensions[Self.serial].map { field throws(WireError) in
                var reader = ByteReader(field.value)
                var number = try reader.tlv(0x02, "the serial number")
                guard number.remaining <= 8 else { throw WireError(.tooLarge, at: 0, "the serial number") }
                return try number.bigEndian(number.remaining)
            }
            policies = try certificate.extensions[KeyPolicies.certificateField].map { field throws(WireError) in
                guard let policies = KeyPolicies(certificateField: field.value) else {
                    throw WireError(.malformed, at: 0, "policies of \(field.value.count) bytes")
                }
                return policies
            }
            formFactor = certificate.extensions[Self.formFactor]?.value.first
        } catch { throw .notCertificate("attestation: \(error.description)") }
        slot = certificate.subject.description.split(separator: " ").last.flatMap { PIVSlot(String($0.prefix(2))) }
    }

    private static let firmware: OID = "1.3.6.1.4.1.41482.3.3"
    private static let serial: OID = "1.3.6.1.4.1.41482.3.7"
    private static let formFactor: OID = "1.3.6.1.4.1.41482.3.9"

    /// Whether a certificate is an attestation: it has the key's policies or the device's serial number, which no
    /// device certificate (F9) has.
    package static func isStatement(_ certificate: X509Certificate) -> Bool {
        [serial, KeyPolicies.certificateField].contains { certificate.extensions[$0] != nil }
    }

    /// A difference between an attestation and the card that returned it: the attestation is another card's, or another
    /// key's.
    public enum Difference: Hashable, Sendable {
        /// It is for another slot than the one asked for.
        case slot(PIVSlot)
        /// It names another serial number than the card does.
        case serial(UInt64)
        /// It is for another key than the one in the slot.
        case key
    }

    /// Compares the attestation with what the card reports apart from it.
    ///
    /// - Parameters:
    ///   - certificate: The attestation itself.
    ///   - slot: The slot whose key was to be attested.
    ///   - serial: The serial number that the card reports; `nil` if it reports none.
    ///   - key: The key in the slot, from the card's metadata; `nil` if the card has none.
    public func differences(
        _ certificate: X509Certificate, slot: PIVSlot, serial: UInt32?, key: PublicKey?
    ) -> [Difference] {
        var found: [Difference] = []
        if let stated = self.slot, stated != slot { found.append(.slot(stated)) }
        if let stated = self.serial, let serial, stated != UInt64(serial) { found.append(.serial(stated)) }
        if let key, certificate.subjectPublicKeyInfo.encoded != key.subjectPublicKeyInfo, certificate.publicKey != key {
            found.append(.key)
        }
        return found
    }
}

/// Why a chain does not vouch for an attestation.
public enum AttestationProblem: Hashable, Sendable {
    /// The certificate in F9 did not sign the attestation.
    case notSignedByDevice
    /// None of the roots issued this certificate, directly or indirectly.
    case noIssuer(subject: String)
    /// A certificate in the chain is not a certificate authority, or exceeds its path length.
    case notAuthority(subject: String)
    /// A certificate in the chain is not valid at this time.
    case notValidNow(subject: String)
    /// The chain exceeds the length limit.
    case tooLong
    /// A certificate in the chain breaks another rule of RFC 5280, in OpenSSL's words.
    case refused(subject: String, reason: String)
}

/// Verifies that an attestation comes from a vendor's device.
public struct AttestationChain: Sendable {
    /// The trusted certificates.
    public let roots: [X509Certificate]
    /// Intermediate certificates.
    public let others: [X509Certificate]

    /// Trusts `roots`; `others` are intermediates between them and the device.
    public init(roots: [X509Certificate], others: [X509Certificate] = []) {
        self.roots = roots
        self.others = others
    }

    /// Verifies the path from an attestation through the device's certificate (F9) to a root (RFC 5280 §6.1).
    ///
    /// The dates of the attestation and of the device's certificate are ignored: a device has no clock (as Yubico's own
    /// instructions say). The device's certificate may have no basic constraints, like those of YubiKey 4 and of some
    /// early YubiKey 5, unless it is a statement about a key: its place in the chain determines its role. OpenSSL
    /// refuses a path with a key that it cannot read, such as Curve25519 as YubiKey 5.2 writes it, so an attestation of
    /// such a key is not part of it.
    ///
    /// - Parameters:
    ///   - attestation: the certificate of the attested key.
    ///   - device: the certificate in F9.
    ///   - time: the time at which issuers must be valid, in seconds since 1970.
    /// - Returns: the path, the attestation first, the root last.
    /// - Throws: `chain`.
    public func verify(
        _ attestation: X509Certificate, device: X509Certificate, at time: Int64
    ) throws(PIVError) -> [X509Certificate] {
        guard let key = device.publicKey, attestation.isSigned(by: key), attestation.issuer == device.subject
        else { throw .chain(.notSignedByDevice) }
        // The attestation itself is never an anchor, even if it is among the roots.
        var check = CertificatePathCheck(anchors: roots.filter { $0 != attestation }.map(\.der), at: time)
        // Where the path begins with the device's certificate, its signature on the attestation has been verified above.
        let beginsWithDevice =
            try device.isSilentAuthority() || attestation.publicKey == nil && device.isDeclaredAuthority
        check.timelessCount = beginsWithDevice ? 1 : 2
        let path: [X509Certificate]
        do throws(CertificatePathCheck.Fault) {
            let others = others.map(\.der)
            let found =
                try beginsWithDevice
                ? [attestation.der] + check.path(from: device.der, others: others)
                : check.path(from: attestation.der, others: [device.der] + others)
            path = try found.map { der throws(CertificatePathCheck.Fault) in
                do { return try X509Certificate(reading: der) } catch { throw .malformed }
            }
        } catch {
            throw .chain(AttestationProblem(error))
        }
        guard path.count > 1, path[1] == device else { throw .chain(.notSignedByDevice) }
        return path
    }
}

extension AttestationProblem {
    package init(_ fault: CertificatePathCheck.Fault) {
        func subject(_ der: [UInt8]?) -> String {
            der.flatMap { try? X509Certificate(der: $0).subject.description } ?? ""
        }
        self =
            switch fault {
            case .malformed: .refused(subject: "", reason: "a certificate cannot be read")
            case .noIssuer(let der): .noIssuer(subject: subject(der))
            case .expired(let der, _): .notValidNow(subject: subject(der))
            case .notAuthority(let der, _): .notAuthority(subject: subject(der))
            case .tooLong: .tooLong
            case .refused(let der, let reason): .refused(subject: subject(der), reason: reason)
            }
    }
}

extension X509Certificate {
    /// Whether only its place in the chain makes this device certificate an authority, since the certificate does not
    /// say whether it is one; the path to a root begins with it.
    ///
    /// - Throws: `chain` if it says that it is one but may not sign certificates, or if it is a statement about a
    ///   user's key, with which the user could sign anything.
    fileprivate func isSilentAuthority() throws(PIVError) -> Bool {
        do {
            guard try basicConstraints == nil else { return false }
            guard !isStatement, try keyUsage?.contains(.certificateSigning) ?? true else {
                throw PIVError.chain(.notAuthority(subject: subject.description))
            }
            return true
        } catch let error as PIVError {
            throw error
        } catch {
            throw .chain(.refused(subject: subject.description, reason: "an extension is malformed"))
        }
    }

    /// Whether it says that it is an authority, and may sign certificates.
    fileprivate var isDeclaredAuthority: Bool {
        guard (try? basicConstraints)?.isAuthority == true else { return false }
        return (try? keyUsage?.contains(.certificateSigning) ?? true) ?? false
    }

    /// Whether it has the fields that only statements have: serial number and policies of PIV, and those of OpenPGP from
    /// 1.3.6.1.4.1.41482.5.2.
    private var isStatement: Bool {
        let fields: [OID] =
            ["1.3.6.1.4.1.41482.3.7", KeyPolicies.certificateField]
            + (2...9).compactMap { OID("1.3.6.1.4.1.41482.5.\($0)") }
        return fields.contains { extensions[$0] != nil }
    }

    /// Reads a certificate, DER.
    ///
    /// - Throws: `notCertificate`.
    package init(reading der: [UInt8]) throws(PIVError) {
        do { try self.init(der: der) } catch { throw .notCertificate(error.description) }
    }
}
