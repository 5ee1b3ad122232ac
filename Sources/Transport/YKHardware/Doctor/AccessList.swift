// SPDX-License-Identifier: Apache-2.0

import CHidraw
import YKWire

/// The access control list of a file, with which logind grants a node to the user at the machine (acl(5)).
struct AccessList: Sendable, Hashable {
    /// The subject of an entry.
    enum Subject: Sendable, Hashable {
        case owner
        case user(UInt32)
        case group
        case namedGroup(UInt32)
        case mask
        case others
    }

    /// The permissions of a subject: 4 to read, 2 to write.
    struct Entry: Sendable, Hashable {
        var subject: Subject
        var permissions: UInt16

        init(_ subject: Subject, _ permissions: UInt16) {
            self.subject = subject
            self.permissions = permissions
        }
    }

    var entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    /// The maximum number of bytes to read.
    private static let sizeLimit = 4096

    /// Reads the list of a file; `nil` when it has none.
    init?(of path: String) {
        var bytes = [UInt8](repeating: 0, count: Self.sizeLimit)
        let count = ykit_access_list(path, &bytes, bytes.count)
        guard count > 0, let list = try? AccessList(decoding: Array(bytes.prefix(count))) else { return nil }
        self = list
    }

    /// Decodes the kernel's format: a version, then for each entry kind, permissions and number, least significant byte
    /// first (linux/posix_acl_xattr.h).
    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        guard try reader.littleEndian(4) == 2 else { throw WireError(.malformed, at: 0, "no access list of version 2") }
        entries = []
        while reader.remaining > 0 {
            let kind = try reader.littleEndian(2)
            let permissions = UInt16(truncatingIfNeeded: try reader.littleEndian(2))
            let number = UInt32(truncatingIfNeeded: try reader.littleEndian(4))
            guard let subject = Self.subject(kind, number) else { continue }
            entries.append(Entry(subject, permissions))
        }
    }

    private static func subject(_ kind: UInt64, _ number: UInt32) -> Subject? {
        switch kind {
        case 0x01: .owner
        case 0x02: .user(number)
        case 0x04: .group
        case 0x08: .namedGroup(number)
        case 0x10: .mask
        case 0x20: .others
        default: nil
        }
    }

    /// The list in the kernel's format, whose entries are in the order of their kinds.
    var encoded: [UInt8] {
        entries.reduce(into: [2, 0, 0, 0]) { bytes, entry in
            let (kind, number) = entry.subject.code
            bytes += [UInt8(kind), 0, UInt8(truncatingIfNeeded: entry.permissions), 0]
            bytes += [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
    }

    /// The numbers of the listed users who may read and write.
    var users: [UInt32] {
        let mask = entries.first { $0.subject == .mask }?.permissions ?? 6
        return entries.compactMap { entry in
            guard case .user(let number) = entry.subject, entry.permissions & mask & 6 == 6 else { return nil }
            return number
        }
    }
}

extension AccessList.Subject {
    /// The kind and the number of an entry, which is all ones where there is none.
    fileprivate var code: (kind: UInt8, number: UInt32) {
        switch self {
        case .owner: (0x01, .max)
        case .user(let number): (0x02, number)
        case .group: (0x04, .max)
        case .namedGroup(let number): (0x08, number)
        case .mask: (0x10, .max)
        case .others: (0x20, .max)
        }
    }
}
