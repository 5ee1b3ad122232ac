// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A firmware version: three numbers of one byte each, compared from the left.
public struct FirmwareVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The first number.
    public let major: UInt8
    /// The second number.
    public let minor: UInt8
    /// The third number.
    public let patch: UInt8

    /// Creates a version.
    public init(_ major: UInt8, _ minor: UInt8, _ patch: UInt8) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    /// Decodes the three bytes of a version.
    ///
    /// - Throws: `WireError` for another number of bytes.
    public init(bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        self.init(try reader.byte("major"), try reader.byte("minor"), try reader.byte("patch"))
        try reader.finish("the version")
    }

    /// Parses `5.7.1`: three decimal numbers up to 255 separated by dots; `nil` for any other text.
    public init?(_ text: some StringProtocol) {
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.allSatisfy { 48...57 ~= $0 } ? UInt8(String(decoding: part, as: UTF8.self)) : nil
        }
        guard parts.count == 3, numbers.count == 3 else { return nil }
        self.init(numbers[0], numbers[1], numbers[2])
    }

    /// The first three numbers separated by dots in a string such as `Virtual mgr - FW version 5.7.1`.
    ///
    /// - Throws: `WireError` if there are none.
    package init(in text: [UInt8]) throws(WireError) {
        let isOfVersion: (UInt8) -> Bool = { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
        for word in text.split(whereSeparator: { !isOfVersion($0) }) {
            guard let version = FirmwareVersion(String(decoding: word, as: UTF8.self)) else { continue }
            self = version
            return
        }
        throw WireError(.missing, at: 0, "no version in the reply to SELECT")
    }

    /// The three bytes, major first.
    public var bytes: [UInt8] { [major, minor, patch] }

    /// The three numbers separated by dots.
    public var description: String { "\(major).\(minor).\(patch)" }

    /// Whether `left` is older than `right`.
    public static func < (left: FirmwareVersion, right: FirmwareVersion) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
