// SPDX-License-Identifier: Apache-2.0

import Applications
package import TerminalIO
import Verbs
package import YKPIV
import YKTransport
import YKUse
import YKWire
package import YKX509

/// The content of a PIV application, for programs.
struct PIVContents: Report {
    let report: PIVReport
    /// The URIs of the keys, with --uris.
    let advice: PKCS11Advice?
    static let members: [Member<PIVContents>] = [
        Member("firmware") { $0.report.identity.version?.description },
        Member("serial") { $0.report.serial.map { String($0) } },
        Member("pin") { $0.report.pin },
        Member("puk") { $0.report.puk },
        Member("managementKey") { ManagementKeyState(report: $0.report) },
        Member("pukBlocked") { $0.isPUKBlocked },
        Member("chuid", "its GUID") { $0.report.chuid?.guidText },
        Member("ccc", "whether there is one; null if the recording does not say") { $0.hasCapability },
        Member("slots") { $0.report.slots },
        Member("notLookedAt", "slots, without --all") { $0.report.notLookedAt.map(\.description) },
        Member("advisories") { $0.report.identity.warnings },
        Member(
            "brokenFIPSRules",
            "ownPIN, ownPUK, ownManagementKey, aesManagementKey, noShortRSA, noX25519 or pinForEveryKey"
        ) { $0.report.brokenFIPSRules.map(\.rawValue) },
        Member("uris", "with --uris") { $0.advice?.entries },
    ]

    private var isPUKBlocked: Bool {
        report.administration.flags.contains(.pukBlocked) || report.puk?.isBlocked == true
    }

    private var hasCapability: Bool? { report.unrecorded.contains(.capability) ? nil : report.capability != nil }
}

/// The management key of a report.
private struct ManagementKeyState: Report {
    let report: PIVReport
    static let members: [Member<ManagementKeyState>] = [
        Member("algorithm") { $0.report.managementKey?.type.description },
        Member("default") { $0.report.managementKey?.isDefault },
        Member("touchPolicy") { $0.report.managementKey?.touch.description },
        Member("protected", "whether the PIN gives access to it") { $0.report.administration.isKeyProtected },
    ]
}

extension PINMetadata: Report {
    package static let members: [Member<PINMetadata>] = [
        Member("retries", "how many are left") { $0.triesLeft },
        Member("maxRetries") { $0.triesTotal },
        Member("default") { $0.isDefault },
    ]
}

extension FirmwareWarning: Report {
    package static let members: [Member<FirmwareWarning>] = [
        Member("id") { $0.advisory },
        Member("meaning") { $0.meaning },
    ]
}

extension PIVReport.Slot: Report {
    package static let members: [Member<PIVReport.Slot>] = [
        Member("slot") { $0.slot.description },
        Member("name") { $0.slot.name },
        Member("key") { $0.metadata },
        Member("certificate") { try? $0.certificate?.get() },
        Member("error", "why the certificate cannot be read") { $0.problem },
    ]

    private var problem: Explanation? {
        if case .failure(let error) = certificate { Explanation(error) } else { nil }
    }
}

extension SlotMetadata: Report {
    package static let members: [Member<SlotMetadata>] = [
        Member("algorithm") { $0.algorithm.description },
        Member("origin") { $0.origin?.description },
        Member("pinPolicy") { $0.policies.pin.description },
        Member("touchPolicy") { $0.policies.touch.description },
        Member("publicKey", "PEM") { $0.publicKey?.pem },
    ]
}

extension X509Certificate: Report {
    package static let members: [Member<X509Certificate>] =
        names + time("notBefore") { $0.notBefore } + time("notAfter") { $0.notAfter } + contents

    private static let names: [Member<X509Certificate>] = [
        Member("subject") { $0.subject.description },
        Member("issuer") { $0.issuer.description },
        Member("serialNumber", "in hexadecimal") { Hex.encode($0.serial) },
    ]

    private static let contents: [Member<X509Certificate>] = [
        Member("alternativeNames") { $0.alternativeNameTexts },
        Member("algorithm", "null for an algorithm that PIV does not have") {
            $0.publicKey.flatMap { PIVAlgorithm($0) }?.description
        },
        Member("fingerprint", "SHA-256, in hexadecimal") { Hex.encode($0.fingerprint) },
    ]
}
