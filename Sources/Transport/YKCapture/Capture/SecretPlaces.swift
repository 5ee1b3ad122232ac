// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Where the secrets are in the data of a card's commands, application by application.
///
/// Every rule works on the part of a message that is known so far: what is cut off counts as far as it goes, and what
/// cannot be read is a secret from there on.
enum SecretPlaces {
    /// The secret runs of a command's data, which may be the first parts of a chain.
    static func inCommand(_ applet: AID?, _ hasSelected: Bool, _ command: APDU, data: [UInt8]) -> [Range<Int>] {
        if [0x20, 0x24, 0x2C].contains(command.ins) { return all(data) }
        switch applet {
        case .oath?: return oath(command.ins, data)
        case .piv?: return piv(command.ins, data)
        case .fido?: return fido(command, data)
        case .otp?: return otp(command, data)
        case .management?: return command.ins == 0x1C ? configuration(data) : []
        case .openPGP?: return openPGP(command, data)
        case .hsmAuth?: return hsmAuth(command.ins, data)
        case .securityDomain?: return command.ins == 0xD8 ? all(data) : []
        case .canokeyAdmin?: return command.ins == 0x21 ? all(data) : []
        default: return hasSelected ? [] : unknown(command, data)
        }
    }

    /// Whether the reply to a command holds a secret.
    static func isReplySecret(_ applet: AID?, _ hasSelected: Bool, _ command: APDU, data: [UInt8]) -> Bool {
        let isPrinted = command.ins == 0xCB && data.starts(with: printedObject)
        if applet == .piv || !hasSelected, isPrinted || isPIVSecret(command, data) { return true }
        if applet == .otp || !hasSelected, command.ins == 0x01, command.cla == 0, [0x30, 0x38].contains(command.p1) {
            return true
        }
        return applet == .hsmAuth && command.ins == 0x03
    }

    /// PIV's printed information: ykman keeps a management key there.
    private static let printedObject: [UInt8] = [0x5C, 0x03, 0x5F, 0xC1, 0x09]

    /// Whether a private key of PIV agrees on a secret or, as far as that can be told, decrypts: an RSA operation on
    /// what is not padded as a PKCS#1 v1.5 signature can be either.
    private static func isPIVSecret(_ command: APDU, _ data: [UInt8]) -> Bool {
        guard command.ins == 0x87, command.cla & 0x10 == 0, command.p2 != 0x9B else { return false }
        guard let template = (try? TLV.list(data))?.value(0x7C), let fields = try? TLV.list(template) else {
            return true
        }
        if fields.value(0x85) != nil { return true }
        let isRSA = [0x05, 0x06, 0x07, 0x16].contains(command.p1)
        return isRSA && fields.value(0x81).map { !$0.starts(with: [0x00, 0x01, 0xFF]) } ?? false
    }

    /// Where the secret of a reply begins: behind the headers of its data objects, so that a replay can read them.
    static func replyStart(_ applet: AID?, _ command: APDU, _ reply: [UInt8]) -> Int {
        guard applet == .piv, command.ins == 0x87 else { return 0 }
        var reader = ByteReader(reply)
        for tag in [0x7C, 0x82] as [TLV.Tag] {
            guard (try? reader.tlvTag()) == tag, (try? reader.tlvLength()) != nil else { return 0 }
        }
        return reader.offset
    }

    private static func all(_ data: [UInt8]) -> [Range<Int>] { data.isEmpty ? [] : [0..<data.count] }

    private static func from(_ start: Int, _ data: [UInt8]) -> [Range<Int>] {
        data.count > start ? [start..<data.count] : []
    }

    private static func oath(_ ins: UInt8, _ data: [UInt8]) -> [Range<Int>] {
        switch ins {
        case 0x01: values(of: [0x73], in: data, skipping: 2)
        case 0x03: values(of: [0x73], in: data, skipping: 1)
        default: []
        }
    }

    private static func piv(_ ins: UInt8, _ data: [UInt8]) -> [Range<Int>] {
        switch ins {
        case 0xFE: all(data)
        case 0xFF: from(3, data)
        case 0xDB: printedObject.starts(with: data.prefix(5)) ? from(5, data) : []
        default: []
        }
    }

    private static func fido(_ command: APDU, _ data: [UInt8]) -> [Range<Int>] {
        switch command.ins {
        case 0x10: ctap(data)
        case 0x43, 0x44: all(data)
        default: []
        }
    }

    private static func otp(_ command: APDU, _ data: [UInt8]) -> [Range<Int>] {
        guard command.ins == 0x01 else { return [] }
        switch command.p1 {
        case 0x01, 0x03, 0x04, 0x05: return all(data)
        case 0x08, 0x09: return from(56, data)
        case 0x11: return from(4, data)
        case 0x12: return from(45, data)
        case 0x15: return configuration(data)
        default: return []
        }
    }

    /// The lock codes (0A, 0B) of a management configuration: a length byte, then data objects.
    static func configuration(_ data: [UInt8]) -> [Range<Int>] {
        values(of: [0x0A, 0x0B], in: data, from: 1)
    }

    private static func openPGP(_ command: APDU, _ data: [UInt8]) -> [Range<Int>] {
        switch (command.ins, command.p1, command.p2) {
        case (0xDB, _, _), (0xDA, 0x00, 0xD3), (0xDA, 0x00, 0xD5), (0xDA, 0x00, 0xF9): all(data)
        default: []
        }
    }

    private static func hsmAuth(_ ins: UInt8, _ data: [UInt8]) -> [Range<Int>] {
        switch ins {
        case 0x01: values(of: [0x73, 0x75, 0x76, 0x7B, 0x7D], in: data)
        case 0x02, 0x03, 0x04, 0x08, 0x0B: values(of: [0x73, 0x7B], in: data)
        default: []
        }
    }

    /// Every instruction that has a rule here: what such a command holds is a secret when it cannot be read at all.
    static let carriers: Set<UInt8> = [
        0x01, 0x02, 0x03, 0x04, 0x08, 0x0B, 0x10, 0x1C, 0x20, 0x21, 0x24, 0x2C, 0x43, 0x44, 0xD8, 0xDA, 0xDB, 0xFE,
        0xFF,
    ]

    /// No SELECT was seen: whatever is a secret in any application.
    private static func unknown(_ command: APDU, _ data: [UInt8]) -> [Range<Int>] {
        switch command.ins {
        case 0x01, 0x03, 0x04, 0x08, 0x0B, 0x1C, 0x43, 0x44, 0xD8, 0xDA, 0xDB, 0xFE, 0xFF: all(data)
        case 0x10: ctap(data)
        default: []
        }
    }

    /// Where the values of some tags are, less their first `skip` bytes; from where the data cannot be read as data
    /// objects it is all taken.
    private static func values(
        of wanted: [UInt32], in data: [UInt8], skipping skip: Int = 0, from start: Int = 0
    ) -> [Range<Int>] {
        var reader = ByteReader(data)
        guard (try? reader.bytes(start)) != nil else { return [] }
        var found: [Range<Int>] = []
        while !reader.isAtEnd {
            let object = reader.offset
            guard let tag = try? reader.tlvTag() else { return found + from(object, data) }
            if tag == 0x78, wanted == [0x73] {  // OATH's property has no length byte.
                _ = try? reader.byte()
                continue
            }
            guard let length = try? reader.tlvLength() else { return found + from(object, data) }
            let value = reader.offset
            let isWhole = (try? reader.bytes(length)) != nil
            let end = isWhole ? reader.offset : data.count
            if wanted.contains(tag.rawValue), end > value + skip { found.append((value + skip)..<end) }
            if !isWhole { return found }
        }
        return found
    }
}
