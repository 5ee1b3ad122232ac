// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// What an attestation says of a key and of the device that made it (Yubico, "PIV attestation").
public struct PIVAttestation: Hashable, Sendable {
    /// The firmware that made the key.
    public let firmware: Version?
    /// The serial number of the device; absent where it is not to be told.
    public let serial: UInt64?
    /// When the key may be used.
    public let policies: KeyPolicies?
    /// The form factor code; bit 80 marks a FIPS device.
    public let formFactor: UInt8?
    /// The slot that the key was in, as the subject's name says.
    public let slot: PIVSlot?

    /// Reads the extensions 1.3.6.1.4.1.41482.3.x of an attestation. Throws `notCertificate` when one of them is not
    /// what it should be.
    public init(_ certificate: PIVCertificate) throws(PIVError) {
        do {
            firmware = try certificate.extensions[Self.arc + "3"].map { value throws(WireError) in
                try Version(bytes: value)
            }
            serial = try certificate.extensions[Self.arc + "7"].map { value throws(WireError) in
                var reader = ByteReader(value)
                var number = try reader.tlv(0x02, "the serial number")
                guard number.remaining <= 8 else { throw WireError(.tooLarge, at: 0, "the serial number") }
                return try number.bigEndian(number.remaining)
            }
            policies = try certificate.extensions[Self.arc + "8"].map { value throws(WireError) in
                guard value.count == 2 else { throw WireError(.malformed, at: 0, "policies of \(value.count) bytes") }
                return KeyPolicies(pin: PINPolicy(rawValue: value[0]), touch: TouchPolicy(rawValue: value[1]))
            }
            formFactor = certificate.extensions[Self.arc + "9"]?.first
        } catch { throw .notCertificate("attestation: \(error.description)") }
        slot = certificate.subject.split(separator: " ").last.flatMap { PIVSlot(String($0.prefix(2))) }
    }

    private static let arc = "1.3.6.1.4.1.41482.3."
}

/// Why a chain does not vouch for an attestation.
public enum AttestationProblem: Hashable, Sendable {
    /// The certificate of F9 did not sign the attestation.
    case notSignedByDevice
    /// None of the roots leads to this certificate.
    case noIssuer(subject: String)
    /// A certificate in the chain may not sign others.
    case notAuthority(subject: String)
    /// A certificate in the chain is not valid at this time.
    case notValidNow(subject: String)
    /// The chain is longer than any that makers use.
    case tooLong
}

/// Checks that an attestation comes from a device of a maker.
public struct AttestationChain: Sendable {
    /// The certificates at the head of chains.
    public let roots: [PIVCertificate]
    /// Certificates between them and devices.
    public let others: [PIVCertificate]

    /// Trusts `roots`; `others` may stand between them and the device.
    public init(roots: [PIVCertificate], others: [PIVCertificate] = []) {
        self.roots = roots
        self.others = others
    }

    /// Checks the signatures from the attestation over the device's certificate (F9) up to a root, at a time in
    /// seconds since 1970, and gives the path, the attestation first.
    ///
    /// The attestation itself and the device's certificate are taken whatever their times are: a device has no clock
    /// (the makers' own instructions say so). Throws `chain`.
    public func verify(
        _ attestation: PIVCertificate, device: PIVCertificate, at time: Int64
    ) throws(PIVError) -> [PIVCertificate] {
        guard let key = device.publicKey, attestation.isSigned(by: key), attestation.issuerDER == device.subjectDER
        else { throw .chain(.notSignedByDevice) }
        var path = [attestation, device]
        while let last = path.last {
            if roots.contains(last) { return path }
            guard path.count < 8 else { throw .chain(.tooLong) }
            let candidates = (roots + others).filter { $0.subjectDER == last.issuerDER && !path.contains($0) }
            guard let issuer = candidates.first(where: { $0.publicKey.map(last.isSigned) ?? false }) else {
                throw .chain(.noIssuer(subject: last.subject))
            }
            guard issuer.isAuthority else { throw .chain(.notAuthority(subject: issuer.subject)) }
            guard (issuer.notBefore...max(issuer.notBefore, issuer.notAfter)).contains(time) else {
                throw .chain(.notValidNow(subject: issuer.subject))
            }
            path.append(issuer)
        }
        throw .chain(.tooLong)
    }
}
