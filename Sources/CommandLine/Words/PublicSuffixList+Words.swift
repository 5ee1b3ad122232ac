// SPDX-License-Identifier: Apache-2.0

package import YKFIDO

extension PublicSuffixList {
    /// The date of the list, and whose it is.
    package var source: String {
        "the Public Suffix List of \(date) (\(isOfSystem ? "the system's" : "built into ykit"))"
    }

    /// How to get a newer list; `nil` if the list is not older than a year.
    ///
    /// - Parameter now: Seconds since 1970-01-01 00:00 UTC.
    package func advice(at now: Int64) -> String? {
        isOld(at: now) ? "\(source) is older than a year; \(Self.remedy)" : nil
    }

    /// The newest list of the system and the program is used.
    package static let remedy = "update ykit, or: sudo apt install libpsl5 publicsuffix"
}
