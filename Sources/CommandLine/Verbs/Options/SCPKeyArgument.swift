// SPDX-License-Identifier: Apache-2.0

import Arguments
package import YKTransport
import YKUse

/// A key of the Security Domain on the command line, by purpose and version: `03,1`, `11b,0x05`, `ca,3` or `0x21,3`.
package struct SCPKeyArgument: ExpressibleByArgument, Hashable {
    /// Parses an option's value.
    @Sendable static func parse(_ word: String) throws -> SCPKeyArgument {
        guard let key = SCPKeyArgument(argument: word) else { throw UsageError("expected a key, as in ca,3") }
        return key
    }

    package let reference: SCPKeyReference

    package init(_ reference: SCPKeyReference) { self.reference = reference }

    package init?(argument: String) {
        let parts = argument.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let id = Self.identifier(String(parts[0])), let version = Self.number(parts[1]) else {
            return nil
        }
        reference = SCPKeyReference(id: id, version: version)
    }

    private static let names: [(String, UInt8)] = [
        ("03", 0x01), ("ca", 0x10), ("11a", 0x11), ("11b", 0x13), ("11c", 0x15),
    ]

    private static func identifier(_ text: String) -> UInt8? {
        let name = text.lowercased()
        if let known = names.first(where: { $0.0 == name || "scp" + $0.0 == name }) { return known.1 }
        return name.hasPrefix("0x") ? number(name) : nil
    }

    /// Parses one byte in decimal, or in hexadecimal after 0x.
    package static func number(_ text: some StringProtocol) -> UInt8? {
        guard text.first.map({ $0.isASCII && $0.isNumber }) ?? false else { return nil }
        return text.lowercased().hasPrefix("0x") ? UInt8(text.dropFirst(2), radix: 16) : UInt8(text)
    }
}

extension SCPKeyReference {
    /// The purpose of the key.
    package var purpose: String {
        switch id {
        case 0x01...0x03: version == 0xFF ? "SCP03 factory set, which is public" : "SCP03 set"
        case 0x10, 0x20...0x2F: "CA of host certificates"
        case 0x11: "SCP11a private key"
        case 0x13: "SCP11b private key"
        case 0x15: "SCP11c private key"
        default: "unknown"
        }
    }
}

extension ChannelChoice {
    /// Parses an option's value: `03`, `11b`, `11a,3`.
    @Sendable static func parse(_ word: String) throws -> ChannelChoice {
        let parts = word.lowercased().split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? "")
        let version = parts.count == 2 ? SCPKeyArgument.number(parts[1]) : 0
        guard let kind = Kind(rawValue: name.hasPrefix("scp") ? String(name.dropFirst(3)) : name), let version else {
            throw UsageError("expected 03, 11a, 11b or 11c, optionally with a version, as in 03,1")
        }
        return ChannelChoice(kind, version: version)
    }
}
