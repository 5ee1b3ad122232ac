// SPDX-License-Identifier: Apache-2.0

/// Host names of the domain name system (RFC 1123 §2.1, RFC 5891).
package enum DomainName {
    /// Returns whether the string is a name in lower case: labels of 1 to 63 letters, digits, hyphens and underscores,
    /// 253 in all, the last one not a number.
    package static func isValid(_ text: String) -> Bool {
        guard (1...253).contains(text.utf8.count) else { return false }
        let labels = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard labels.allSatisfy(isLabel), let last = labels.last else { return false }
        return !last.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isLabel(_ label: some Collection<UInt8>) -> Bool {
        (1...63).contains(label.count)
            && label.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
            }
    }
}
