// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// The highest serial numbers of the lists that a program has seen, by anchor: an older list is refused, since it may hide
/// that a model was revoked (FIDO Metadata Service 3.0 §3.1.7, step 5).
public struct MetadataFloor: Hashable, Sendable {
    private static let format: Int64 = 1
    private var numbers: [String: Int64] = [:]

    /// Creates the record of a program that has seen no list.
    public init() {}

    /// Reads the record.
    ///
    /// - Throws: `malformed`. A program must then not continue with an empty record.
    public init(parsing bytes: [UInt8]) throws(MetadataError) {
        guard let json = try? JSONValue(parsing: bytes), json["version"]?.int == Self.format,
            let object = json["seen"]?.object
        else { throw .malformed("the record of lists") }
        for member in object.members {
            guard let number = member.value.int else { throw .malformed("the record of lists") }
            numbers[member.key] = number
        }
    }

    /// The record, to be saved.
    public var json: JSONValue {
        var seen = JSONValue.Object()
        for (anchor, number) in numbers.sorted(by: { $0.key < $1.key }) { seen[anchor] = .int(number) }
        return ["version": .int(Self.format), "seen": .object(seen)]
    }

    /// Accepts a verified list that is not older than the last one under these anchors.
    ///
    /// - Parameter anchors: The trusted certificates with which it was verified, DER.
    /// - Throws: `rollback`.
    public mutating func accept(_ list: MetadataBLOB, anchors: [[UInt8]]) throws(MetadataError) {
        let names = anchors.map { Hex.encode(HashAlgorithm.sha256.hash($0)) }
        if let last = names.compactMap({ numbers[$0] }).max(), list.number < last {
            throw .rollback(from: last, to: list.number)
        }
        for name in names { numbers[name] = list.number }
    }
}
