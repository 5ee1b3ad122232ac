// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A firmware flaw that users should know about.
public struct FirmwareWarning: Hashable, Sendable {
    /// The advisory's number.
    public let advisory: String
    /// What it means, in a sentence.
    public let meaning: String
    private let from: FirmwareVersion
    private let before: FirmwareVersion

    /// The flaws of a firmware that affect PIV, the worst first.
    static func all(_ version: FirmwareVersion?) -> [FirmwareWarning] {
        guard let version else { return [] }
        return known.filter { ($0.from..<$0.before).contains(version) }
    }

    private static let known = [
        FirmwareWarning(
            advisory: "YSA-2017-01",
            meaning:
                "RSA keys generated on this firmware can be broken (ROCA, CVE-2017-15361); generate them elsewhere"
                + " and import them, or use an elliptic curve key",
            from: FirmwareVersion(4, 2, 0), before: FirmwareVersion(4, 3, 5)),
        FirmwareWarning(
            advisory: "YSA-2019-02",
            meaning:
                "the first random numbers after power-up are weak on the FIPS series with this firmware; RSA keys and"
                + " ECDSA signatures may have been weakened",
            from: FirmwareVersion(4, 4, 2), before: FirmwareVersion(4, 4, 5)),
        FirmwareWarning(
            advisory: "YSA-2024-03",
            meaning:
                "anyone who has the key for a while, and expensive equipment, can extract ECDSA private keys from it"
                + " (EUCLEAK); RSA keys are not affected",
            from: FirmwareVersion(5, 0, 0), before: FirmwareVersion(5, 7, 0)),
    ]
}
