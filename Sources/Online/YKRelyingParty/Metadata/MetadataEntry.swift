// SPDX-License-Identifier: Apache-2.0

import YKFIDO
public import YKWire

/// An authenticator model in the metadata (FIDO Metadata Service 3.0 §3.1.1).
public struct MetadataEntry: Hashable, Sendable {
    /// The AAGUID, 16 bytes, for FIDO2.
    public let aaguid: [UInt8]?
    /// SHA-1 of the keys of attestation certificates, for U2F.
    public let keyIdentifiers: [[UInt8]]
    /// The status reports on the model, in listed order.
    public let reports: [StatusReport]
    /// The name of the model.
    public let description: String?
    /// The certificates that vouch for the model, DER.
    public let roots: [[UInt8]]
    /// The kinds of attestation that the model gives, such as `basic_full` and `basic_surrogate` (FIDO Registry of
    /// Predefined Values §3.6.3); empty if the statement does not say.
    public let attestationTypes: Set<String>
    /// The metadata statement (FIDO Metadata Statement 3.0).
    public let statement: JSONValue
    /// What is wrong with the reports.
    let faults: [String]

    init(_ members: JSONMembers) throws(WebAuthnError) {
        let text = try members.optional("aaguid", .string).flatMap { $0.isEmpty ? nil : $0 }
        aaguid = try text.map { text throws(WebAuthnError) in
            guard let bytes = try? Hex.decode(text.filter { $0 != "-" }), bytes.count == 16 else {
                throw .member(members.path(of: "aaguid"), problem: "not an AAGUID")
            }
            return bytes
        }
        keyIdentifiers = (try members.list("attestationCertificateKeyIdentifiers", of: .string) ?? []).compactMap {
            try? Hex.decode($0)
        }
        var reports: [StatusReport] = []
        var faults: [String] = []
        for (index, json) in (try members.optional("statusReports", .array) ?? []).enumerated() {
            let report = try JSONMembers(json, at: members.path(of: "statusReports[\(index)]"))
            reports.append(try StatusReport(report, &faults))
        }
        (self.reports, self.faults) = (reports, faults)
        statement = members["metadataStatement"] ?? .null
        description = statement["description"]?.string
        attestationTypes = Set((statement["attestationTypes"]?.array ?? []).compactMap(\.string))
        roots = (statement["attestationRootCertificates"]?.array ?? []).compactMap { entry in
            entry.string.flatMap { text in try? Base64.decode(text.filter { !$0.isWhitespace }) }
        }
    }

    /// The reports that apply to the whole model at a time, in seconds since 1970; reports on individual attestation
    /// certificates are omitted, since a key does not show which it has.
    public func reports(at time: Int64) -> [StatusReport] { reports.filter { $0.applies(to: [], at: time) } }

    /// The certification of the model at a time: the latest report on certification; of several with the same date, the
    /// highest level. FIDO_CERTIFIED, which levels replaced (§3.1.4), only counts without one. The list need not be in order
    /// of time.
    ///
    /// - Returns: `nil` if the list does not say.
    public func certification(at time: Int64) -> StatusReport? {
        let reports = reports(at: time).filter { $0.status.isCertification }
        func latest(_ reports: [StatusReport]) -> StatusReport? {
            reports.enumerated().max { left, right in
                let (first, second) = (left.element, right.element)
                let (day, next) = (first.effectiveDate?.day ?? .min, second.effectiveDate?.day ?? .min)
                return (day, first.status.rank, left.offset) < (next, second.status.rank, right.offset)
            }?.element
        }
        // A loss of the certification counts, whatever the level was.
        guard let last = latest(reports), last.status == .certified else { return latest(reports) }
        return latest(reports.filter { $0.status != .certified && $0.status != .notCertified }) ?? last
    }

    /// The reports of a compromise or a revocation that apply at a time.
    public func warnings(at time: Int64) -> [StatusReport] {
        reports(at: time).filter { AuthenticatorStatus.compromised.contains($0.status) }
    }

    /// Whether new firmware is available for the model, and from which version.
    public func update(at time: Int64) -> StatusReport? {
        reports(at: time).last { $0.status == .updateAvailable }
    }
}

/// A status report on a model (FIDO Metadata Service 3.0 §3.1.3).
public struct StatusReport: Hashable, Sendable {
    /// The reported status.
    public let status: AuthenticatorStatus
    /// The day from which it applies; `nil` if it always applies.
    public let effectiveDate: UTCDate?
    /// The affected certificate, of one authenticator or a batch, DER; `nil` for the whole model.
    public let certificate: [UInt8]?
    /// The first firmware version that it applies to; `nil` if it applies to all.
    public let authenticatorVersion: Int64?
    /// The page with the details, if there is one.
    public let url: String?
    /// The number of the FIDO Alliance's certificate, if the report is about one.
    public let certificateNumber: String?

    /// Only the status is required. A certificate that cannot be read is as if there were none: the report then applies to
    /// the whole model.
    init(_ members: JSONMembers, _ faults: inout [String]) throws(WebAuthnError) {
        status = AuthenticatorStatus(rawValue: try members.required("status", .string))
        effectiveDate = Self.text(members, "effectiveDate").flatMap { UTCDate($0) }
        let certificates = ["certificate", "batchCertificate"].compactMap { name -> [UInt8]? in
            guard let value = members[name] else { return nil }
            let bytes = value.string.flatMap { text in try? Base64.decode(text.filter { !$0.isWhitespace }) }
            if bytes == nil { faults.append("\(members.path(of: name)): not base64") }
            return bytes
        }
        certificate = certificates.first
        authenticatorVersion = Self.text(members, "authenticatorVersion").flatMap { Int64($0) }
        url = Self.text(members, "url")
        certificateNumber = Self.text(members, "certificateNumber")
    }

    /// A string, or a number as text; absent for anything else.
    private static func text(_ members: JSONMembers, _ name: String) -> String? {
        members[name]?.string ?? members[name]?.int.map { "\($0)" }
    }

    /// Whether the report applies to an authenticator with these certificates at a time, in seconds since 1970.
    func applies(to chain: [[UInt8]], at time: Int64) -> Bool {
        if let effectiveDate, UTCDate(seconds: time) < effectiveDate { return false }
        return certificate.map(chain.contains) ?? true
    }
}

/// The status of a model (FIDO Metadata Service 3.0 §3.1.4).
public struct AuthenticatorStatus: OpenSet {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The model is not certified.
    public static let notCertified = AuthenticatorStatus(rawValue: "NOT_FIDO_CERTIFIED")
    /// The model is certified.
    public static let certified = AuthenticatorStatus(rawValue: "FIDO_CERTIFIED")
    /// User verification can be bypassed.
    public static let userVerificationBypass = AuthenticatorStatus(rawValue: "USER_VERIFICATION_BYPASS")
    /// The attestation key has been compromised.
    public static let attestationKeyCompromise = AuthenticatorStatus(rawValue: "ATTESTATION_KEY_COMPROMISE")
    /// Credentials can be extracted remotely.
    public static let userKeyRemoteCompromise = AuthenticatorStatus(rawValue: "USER_KEY_REMOTE_COMPROMISE")
    /// Credentials can be extracted by anyone with physical access to the authenticator.
    public static let userKeyPhysicalCompromise = AuthenticatorStatus(rawValue: "USER_KEY_PHYSICAL_COMPROMISE")
    /// New firmware is available.
    public static let updateAvailable = AuthenticatorStatus(rawValue: "UPDATE_AVAILABLE")
    /// The model must not be trusted.
    public static let revoked = AuthenticatorStatus(rawValue: "REVOKED")

    /// The statuses of models known to be compromised or revoked.
    public static let compromised: Set<AuthenticatorStatus> = [
        .userVerificationBypass, .attestationKeyCompromise, .userKeyRemoteCompromise, .userKeyPhysicalCompromise,
        .revoked,
    ]

    /// Whether it states the model's certification, or that it has none.
    public var isCertification: Bool { self == .notCertified || rawValue.hasPrefix("FIDO_CERTIFIED") }

    /// The order of certifications: none, the one without a level, then levels as L1, L1plus, L2.
    fileprivate var rank: Int {
        let level = rawValue.hasPrefix("FIDO_CERTIFIED_L") ? rawValue.dropFirst("FIDO_CERTIFIED_L".count) : ""
        let number = Int(level.prefix { $0.isNumber }) ?? 0
        return self == .notCertified ? -1 : 2 * number + (level.hasSuffix("plus") ? 1 : 0)
    }
}

/// The reason for refusing a model.
public enum MetadataRefusal: Hashable, Sendable, CustomStringConvertible {
    /// The metadata does not list the model.
    case unknown(aaguid: [UInt8])
    /// The model has a refused status.
    case status(AuthenticatorStatus)
    /// The program does not accept the model.
    case notAccepted
    /// The metadata list other kinds of attestation for the model.
    case attestationType

    /// A short description of the reason.
    public var description: String {
        switch self {
        case .unknown(let aaguid): "\(Hex.encode(aaguid)) is not in the metadata"
        case .status(let status): "its status is \(status)"
        case .notAccepted: "it is not one of those accepted"
        case .attestationType: "the metadata list other kinds of attestation for it"
        }
    }
}
