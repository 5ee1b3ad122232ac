// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKLUKS
import YKWire

extension FuzzTarget {
    static let luks: [FuzzTarget] = [
        FuzzTarget(name: "luks-header") { bytes in
            _ = try? LUKS2Header(bytes)
            for header in [header(bytes.prefix(512), bytes.dropFirst(512)), header([], bytes[...])] {
                guard let found = try? LUKS2Header(header) else { continue }
                require(found.backupSize >= 2 * found.size, "a backup has both copies")
                for slot in found.metadata.keyslots { try? found.metadata.checkRemovable(slot.number) }
            }
        }
    ]
}

/// A header of the smallest size with these first bytes, this JSON and a valid checksum.
private func header(_ binary: ArraySlice<UInt8>, _ json: ArraySlice<UInt8>) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: 16384)
    header.replaceSubrange(0..<8, with: Array("LUKS".utf8) + [0xBA, 0xBE, 0, 2])
    header[14] = 0x40
    header.replaceSubrange(72..<78, with: Array("sha256".utf8))
    header.replaceSubrange(0..<binary.count, with: binary)
    header.replaceSubrange(4096..<4096 + min(json.count, 12288), with: json.prefix(12288))
    for index in 448..<512 { header[index] = 0 }
    header.replaceSubrange(448..<480, with: HashAlgorithm.sha256.hash(header))
    return header
}
