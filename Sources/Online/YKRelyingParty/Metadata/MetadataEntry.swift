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
    /// The metadata statement (FIDO Metadata Statement 3.0).
    public let statement: JSONValue

    init(_ members: JSONMembers) throws(WebAuthnError) {
        aaguid = try members.optional("aaguid", .string).map { text throws(WebAuthnError) in
            guard let bytes = try? Hex.decode(text.filter { $0 != "-" }), bytes.count == 16 else {
                throw .member(members.path(of: "aaguid"), problem: "not an AAGUID")
            }
            return bytes
        }
        keyIdentifiers = (try members.list("attestationCertificateKeyIdentifiers", of: .string) ?? []).compactMap {
            try? Hex.decode($0)
        }
        var reports: [StatusReport] = []
        for report in try members.membersList("statusReports") ?? [] { reports.append(try StatusReport(report)) }
        self.reports = reports
        statement = members["metadataStatement"] ?? .null
        description = statement["description"]?.string
        roots = (statement["attestationRootCertificates"]?.array ?? []).compactMap { entry in
            entry.string.flatMap { text in try? Base64.decode(text.filter { !$0.isWhitespace }) }
        }
    }
}

extension MetadataEntry {
    /// The reports that apply to the whole model at a time, in seconds since 1970; reports on individual attestation
    /// certificates are omitted, since a key does not show which it has.
    public func reports(at time: Int64) -> [StatusReport] { reports.filter { $0.applies(to: [], at: time) } }

    /// The certification of the model at a time: the latest report on certification. The list need not be in order of time.
    ///
    /// - Returns: `nil` if the list does not say.
    public func certification(at time: Int64) -> StatusReport? {
        let reports = reports(at: time).enumerated().filter { $0.element.status.isCertification }
        return reports.max { left, right in
            let (first, second) = (left.element.effectiveDate?.day ?? .min, right.element.effectiveDate?.day ?? .min)
            return first == second ? left.offset < right.offset : first < second
        }?.element
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

    init(_ members: JSONMembers) throws(WebAuthnError) {
        status = AuthenticatorStatus(rawValue: try members.required("status", .string))
        effectiveDate = try members.optional("effectiveDate", .string).flatMap { UTCDate($0) }
        let batch = try members.optional("batchCertificate", .bytes)
        certificate = try members.optional("certificate", .bytes) ?? batch
        authenticatorVersion = try members.optional("authenticatorVersion", .int)
        url = try members.optional("url", .string)
        certificateNumber = try members.optional("certificateNumber", .string)
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
}

/// The reason for refusing a model.
public enum MetadataRefusal: Hashable, Sendable, CustomStringConvertible {
    /// The metadata does not list the model.
    case unknown(aaguid: [UInt8])
    /// The model has a refused status.
    case status(AuthenticatorStatus)
    /// The program does not accept the model.
    case notAccepted

    /// A short description of the reason.
    public var description: String {
        switch self {
        case .unknown(let aaguid): "\(Hex.encode(aaguid)) is not in the metadata"
        case .status(let status): "its status is \(status)"
        case .notAccepted: "it is not one of those accepted"
        }
    }
}
