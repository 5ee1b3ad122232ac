// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKPIV
public import YKSSH
public import YKTransport
import YKWire
import YKX509

/// A condition that a verdict must meet, such as `touch=always`.
public enum AttestationRequirement: Hashable, Sendable, CustomStringConvertible {
    /// The touch policy is one of these.
    case touch([String])
    /// The PIN policy is one of these.
    case pin([String])
    /// The firmware is this one or later.
    case firmware(FirmwareVersion)
    /// The serial number is one of these.
    case serial([UInt64])
    /// The slot is one of these.
    case slot([String])
    /// The security key belongs to the FIPS series.
    case fips
    /// The security key generated the key.
    case generated

    /// The conditions in words, as errors list them.
    package static let forms = "touch=…, pin=…, slot=…, serial=…, firmware>=…, fips, generated"

    /// Parses a list of conditions, separated by commas; alternatives are separated by `|`, as in `touch=always|cached`.
    ///
    /// - Throws: ``AttestationError/requirement(_:)`` with the first one that is unknown.
    public static func list(_ text: String) throws(AttestationError) -> [AttestationRequirement] {
        var found: [AttestationRequirement] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let requirement = AttestationRequirement(String(part).trimmed) else {
                throw .requirement(String(part).trimmed)
            }
            found.append(requirement)
        }
        return found
    }

    private init?(_ text: String) {
        if text == "fips" || text == "generated" {
            self = text == "fips" ? .fips : .generated
            return
        }
        if text.hasPrefix("firmware>=") {
            let numbers = text.dropFirst("firmware>=".count)
            let dots = numbers.utf8.filter { $0 == UInt8(ascii: ".") }.count
            let whole = numbers + String(repeating: ".0", count: max(0, 2 - dots))
            guard let version = FirmwareVersion(whole) else { return nil }
            self = .firmware(version)
            return
        }
        guard let sign = text.firstIndex(of: "=") else { return nil }
        let values = text[text.index(after: sign)...].split(separator: "|", omittingEmptySubsequences: false)
            .map { String($0).lowercased() }
        guard !values.contains("") else { return nil }
        switch text[..<sign] {
        case "touch" where values.allSatisfy(["never", "always", "cached"].contains): self = .touch(values)
        case "pin" where values.allSatisfy(["never", "once", "always", "match-once", "match-always"].contains):
            self = .pin(values)
        case "slot": self = .slot(values)
        case "serial":
            let numbers = values.compactMap { UInt64($0) }
            guard numbers.count == values.count else { return nil }
            self = .serial(numbers)
        default: return nil
        }
    }

    /// The condition as it is written.
    public var description: String {
        switch self {
        case .touch(let values): "touch=" + values.joined(separator: "|")
        case .pin(let values): "pin=" + values.joined(separator: "|")
        case .slot(let values): "slot=" + values.joined(separator: "|")
        case .serial(let values): "serial=" + values.map { String($0) }.joined(separator: "|")
        case .firmware(let version): "firmware>=\(version)"
        case .fips: "fips"
        case .generated: "generated"
        }
    }

    /// Checks a verdict.
    ///
    /// - Returns: The finding if the condition is not met, which it also is not if the statement does not say.
    func finding(in verdict: AttestationVerdict) -> AttestationFinding? {
        let (isMet, found): (Bool, String?) =
            switch self {
            case .touch(let values): (verdict.touchPolicy.map(values.contains) ?? false, verdict.touchPolicy)
            case .pin(let values): (verdict.pinPolicy.map(values.contains) ?? false, verdict.pinPolicy)
            case .slot(let values): (verdict.slot.map(values.contains) ?? false, verdict.slot)
            case .serial(let values):
                (verdict.serial.map(values.contains) ?? false, verdict.serial.map { String($0) })
            case .firmware(let version):
                (verdict.firmware.map { $0 >= version } ?? false, verdict.firmware?.description)
            case .fips: (verdict.isFIPS == true, verdict.isFIPS.map { $0 ? "yes" : "no" })
            case .generated: (verdict.isGenerated == true, verdict.isGenerated.map { $0 ? "yes" : "no" })
            }
        return isMet ? nil : .unmet(self, found: found)
    }
}

/// The key that an attestation should be for.
public struct AttestedSubject: Hashable, Sendable {
    /// The key's SubjectPublicKeyInfo, DER.
    public let key: [UInt8]
    /// The application of an SSH credential.
    public let application: String?

    /// Expects a key.
    public init(_ key: PublicKey) { (self.key, application) = (key.subjectPublicKeyInfo, nil) }

    /// Expects the key and the application of an SSH credential.
    public init(_ key: SSHPublicKey) { (self.key, application) = (key.key.subjectPublicKeyInfo, key.application) }

    /// Reads a public key, a certificate or a certificate request, PEM or DER, or a line of an SSH public key. In a chain it
    /// is the certificate that issued no other.
    ///
    /// - Throws: ``AttestationError``, ``AttestationError/severalKeys`` for those of more than one key, and for several
    ///   certificates of which none issued another.
    public init(parsing bytes: [UInt8]) throws(AttestationError) {
        let text = String(decoding: bytes.prefix(1 << 16), as: UTF8.self)
        do {
            let key = try SSHPublicKey.parse(line: text).key
            (self.key, application) = (key.key.subjectPublicKeyInfo, key.application)
            return
        } catch { if error == .severalKeys { throw .severalKeys } }
        application = nil
        var keys: [[UInt8]] = []
        do throws(PIVError) {
            if let key = try KeyFile(bytes).publicKey { keys.append(key.subjectPublicKeyInfo) }
        } catch { if error == .invalidFile(.severalKeys) { throw .severalKeys } }
        var evidence = AttestationEvidence()
        do { try evidence.add(bytes) } catch { if keys.isEmpty { throw error } }
        keys += evidence.requests.map(\.subjectPublicKeyInfo.encoded)
        if let certificate = try Self.certificate(evidence.certificates, of: keys.first) {
            keys.append(certificate.subjectPublicKeyInfo.encoded)
        }
        guard let key = keys.first else { throw .unrecognized }
        guard keys.allSatisfy({ $0 == key }) else { throw .severalKeys }
        self.key = key
    }

    /// Returns the certificate that names the key: the one of a key that is known, else the one that issued no other. Several of
    /// one key are one.
    private static func certificate(
        _ certificates: [X509Certificate], of known: [UInt8]?
    ) throws(AttestationError) -> X509Certificate? {
        let keys = Set(certificates.map(\.subjectPublicKeyInfo))
        if keys.count == 1 { return certificates.first }
        let key = known.flatMap { try? PublicKey(subjectPublicKeyInfo: $0) }
        do { return try KeyFile(certificates: certificates).certificate(for: key) } catch { throw .severalKeys }
    }

    /// Whether this is a key in whatever encoding.
    func matches(_ other: SubjectPublicKeyInfo) -> Bool {
        if key == other.encoded { return true }
        guard let own = try? PublicKey(subjectPublicKeyInfo: key) else { return false }
        return own == (try? PublicKey(subjectPublicKeyInfo: other.encoded))
    }
}
