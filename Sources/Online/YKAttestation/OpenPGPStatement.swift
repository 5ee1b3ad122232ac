// SPDX-License-Identifier: Apache-2.0

public import YKOpenPGP
public import YKTransport
import YKWire
public import YKX509

/// What an attestation of an OpenPGP key states (Yubico, "PGP attestation": 1.3.6.1.4.1.41482.5.x). Each field holds a DER
/// object.
public struct OpenPGPStatement: Hashable, Sendable {
    /// Whether the card generated the key, rather than importing it.
    public let isGenerated: Bool
    /// The slot, according to the subject's name.
    public let slot: OpenPGPSlot?
    /// The firmware that made the statement.
    public let firmware: FirmwareVersion?
    /// The fingerprint of the key, 20 bytes.
    public let fingerprint: [UInt8]?
    /// When the key was generated, in seconds since 1970.
    public let generationTime: Int64?
    /// The serial number of the device.
    public let serial: UInt64?
    /// When the key requires a touch.
    public let touch: OpenPGPTouchPolicy?
    /// The code of the form factor.
    public let formFactor: UInt8?

    /// Whether a certificate is such an attestation: it names the source of the key.
    public static func isStatement(_ certificate: X509Certificate) -> Bool {
        certificate.extensions[origin] != nil
    }

    private static let origin: OID = "1.3.6.1.4.1.41482.5.2"

    /// Reads the fields.
    ///
    /// - Throws: ``AttestationError/malformed(_:)`` for a malformed field, or one that has another type.
    public init(_ certificate: X509Certificate) throws(AttestationError) {
        let fields = Fields(certificate)
        do throws(WireError) {
            guard let origin = try fields.number(Self.origin) else {
                throw WireError(.missing, at: 0, "the source of the key")
            }
            isGenerated = origin == 1
            firmware = try fields.bytes("1.3.6.1.4.1.41482.5.3").map { bytes throws(WireError) in
                try FirmwareVersion(bytes: Array(bytes.prefix(3)))
            }
            fingerprint = try fields.bytes("1.3.6.1.4.1.41482.5.4")
            generationTime = try fields.bytes("1.3.6.1.4.1.41482.5.5").map {
                $0.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
            }
            serial = try fields.number("1.3.6.1.4.1.41482.5.7")
            touch = try fields.bytes("1.3.6.1.4.1.41482.5.8")?.first.map { OpenPGPTouchPolicy(rawValue: $0) }
            formFactor = try fields.bytes("1.3.6.1.4.1.41482.5.9")?.first
        } catch { throw .malformed("an OpenPGP attestation: \(error)") }
        let names: [(String, OpenPGPSlot)] = [("SIG", .signature), ("DEC", .decryption), ("AUT", .authentication)]
        let word = certificate.subject.description.split(separator: " ").last ?? ""
        slot = names.first { word.hasPrefix($0.0) }?.1
    }

    /// The fields of a certificate.
    private struct Fields {
        let certificate: X509Certificate

        init(_ certificate: X509Certificate) { self.certificate = certificate }

        func bytes(_ field: OID) throws(WireError) -> [UInt8]? {
            guard let value = certificate.extensions[field]?.value else { return nil }
            var reader = ByteReader(value)
            let bytes = try reader.derOctets("the field \(field)")
            try reader.finish("the field \(field)")
            return bytes
        }

        func number(_ field: OID) throws(WireError) -> UInt64? {
            guard let value = certificate.extensions[field]?.value else { return nil }
            var reader = ByteReader(value)
            let digits = try reader.derInteger("the field \(field)")
            try reader.finish("the field \(field)")
            guard digits[0] < 0x80, digits.count <= 8 || digits.count == 9 && digits[0] == 0 else {
                throw WireError(.tooLarge, at: 0, "the field \(field)")
            }
            return digits.reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}
