// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKRelyingParty
import YKWire

/// What the FIDO Alliance's list says about a model.
package struct ModelReport: Report {
    private let aaguid: [UInt8]
    private let entry: MetadataEntry?
    private let time: Int64
    private let list: (number: Int64, nextUpdate: UTCDate)

    package static let members: [Member<ModelReport>] = [
        Member("aaguid") { Hex.encode($0.aaguid) },
        Member("listed") { $0.entry != nil },
        Member(
            "name", title: "model",
            line: { report in
                guard let entry = report.entry else { return "not in the metadata list" }
                return entry.description?.printable ?? Hex.encode(report.aaguid)
            }
        ) { $0.entry?.description },
        Member(
            "certification", "FIDO_CERTIFIED_L1 and others, NOT_FIDO_CERTIFIED", title: "certification",
            line: { $0.entry == nil ? nil : $0.certification?.words ?? "not in the metadata list" }
        ) { $0.certification?.status.rawValue },
        Member("certificateNumber") { $0.certification?.certificateNumber },
        Member(
            "compromised", "whether a report of a compromise or revocation applies",
            rows: { report in
                if report.entry == nil { return [] }
                if report.problems.isEmpty { return [["status", "no compromise reported"]] }
                return report.problems.map { ["status", Style.red.around($0.words)] }
            }
        ) { !$0.problems.isEmpty },
        Member(
            "reports", "the reports on the whole model that apply now", title: "firmware",
            line: { $0.entry?.update(at: $0.time)?.words }
        ) { $0.reports },
        Member("listNumber") { $0.list.number },
        Member(
            "nextUpdate", "when the next list is due", title: "metadata",
            line: { $0.entry == nil ? nil : "list \($0.list.number), next one due \($0.list.nextUpdate)" }
        ) { $0.list.nextUpdate.description },
    ]

    /// - Parameters:
    ///   - aaguid: The AAGUID that identifies the model.
    ///   - entry: The entry of the model, if already found.
    ///   - time: Now, in seconds since 1970.
    package init(_ aaguid: [UInt8], in list: MetadataBLOB, entry: MetadataEntry? = nil, at time: Int64) {
        self.aaguid = aaguid
        self.entry = entry ?? list.entry(aaguid: aaguid)
        self.time = time
        self.list = (list.number, list.nextUpdate)
    }

    private var reports: [StatusReport] { entry?.reports(at: time) ?? [] }
    private var certification: StatusReport? { entry?.certification(at: time) }
    private var problems: [StatusReport] { entry?.warnings(at: time) ?? [] }

    /// A warning for each report of a compromise or revocation.
    package var warnings: [Warning] {
        problems.map { Warning("model-status", "the FIDO Alliance reports about this model: \($0.words)") }
    }
}

extension StatusReport: Report {
    package static let members: [Member<StatusReport>] = [
        Member("status") { $0.status.rawValue },
        Member("effectiveDate", "from when it applies") { $0.effectiveDate?.description },
        Member("authenticatorVersion", "the first firmware version it applies to") { $0.authenticatorVersion },
        Member("url") { $0.url },
    ]

    /// The status in words, with its date and page.
    fileprivate var words: String {
        var words = status.words
        if let certificateNumber { words += ", certificate \(certificateNumber.printable)" }
        if let effectiveDate { words += ", since \(effectiveDate)" }
        if let url { words += ", \(url.printable)" }
        return words
    }
}

extension AuthenticatorStatus {
    fileprivate var words: String {
        switch self {
        case .notCertified: return "not FIDO certified"
        case .certified: return "FIDO certified"
        case .userVerificationBypass: return "user verification can be bypassed"
        case .attestationKeyCompromise: return "the attestation key is compromised"
        case .userKeyRemoteCompromise: return "credentials can be extracted remotely"
        case .userKeyPhysicalCompromise: return "credentials can be extracted by anyone who has the key"
        case .updateAvailable: return "new firmware is available"
        case .revoked: return "revoked"
        default:
            guard rawValue.hasPrefix("FIDO_CERTIFIED_L") else { return rawValue.printable }
            let level = rawValue.dropFirst("FIDO_CERTIFIED_L".count)
            return "FIDO certified, level " + (level.hasSuffix("plus") ? level.dropLast(4) + "+" : level)
        }
    }
}
