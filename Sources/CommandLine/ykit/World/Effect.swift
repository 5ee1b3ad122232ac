// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Whether a command only reads, or changes the key.
enum Effect: Hashable {
    /// Nothing on the key changes.
    case read
    /// Something changes; the reply to assume, where one can be assumed.
    case write(reply: [UInt8]?)

    /// Looks a command up; what is not known to read counts as a change.
    init(of bytes: [UInt8], in applet: AID?) {
        guard let command = try? APDU(decoding: bytes) else {
            self = .write(reply: nil)
            return
        }
        if command.ins == 0xA4, command.p1 == 0x04 || applet.isNDEF {
            self = .read
        } else if command.ins == 0xC0 {
            self = .read
        } else if applet.map({ AID.oath.matches($0.rawValue) }) ?? false {
            self = Self.oath(command)
        } else if applet.map({ AID.piv.matches($0.rawValue) }) ?? false {
            self = Self.piv(command)
        } else if applet.map({ AID.management.matches($0.rawValue) }) ?? false {
            self = command.ins == 0x1D ? .read : .write(reply: [0x90, 0x00])
        } else if applet.map({ AID.otp.matches($0.rawValue) }) ?? false {
            let isQuery = command.ins == 0x01 && [0x10, 0x13, 0x14].contains(command.p1)
            self = command.ins == 0x03 || isQuery ? .read : .write(reply: nil)
        } else {
            self = Self.reads(applet).contains(command.ins) ? .read : .write(reply: nil)
        }
    }

    /// OATH (YKOATH protocol): a calculation without challenge moves a counter.
    private static func oath(_ command: APDU) -> Effect {
        switch command.ins {
        case 0xA1, 0xA3, 0xA4, 0xA5: return .read
        case 0xA2:
            let challenge = (try? TLV.list(command.data))?.value(0x74)
            return challenge?.isEmpty ?? true ? .write(reply: nil) : .read
        default: return .write(reply: [0x90, 0x00])
        }
    }

    /// PIV (NIST SP 800-73-4): what has no data of its own in the reply is assumed to be done. The management key can
    /// be shown, because the card counts no tries of it; a PIN cannot.
    private static func piv(_ command: APDU) -> Effect {
        switch command.ins {
        case 0xCB, 0xF7, 0xF8, 0xF9, 0xFD: return .read
        case 0x20 where command.data.isEmpty && command.p1 == 0: return .read
        case 0x87 where command.p2 == 0x9B: return .read
        case 0x47, 0x87: return .write(reply: nil)
        default: return .write(reply: [0x90, 0x00])
        }
    }

    private static func reads(_ applet: AID?) -> Set<UInt8> {
        guard let applet else { return [] }
        if AID.canokeyAdmin.matches(applet.rawValue) { return [0x31, 0x32] }
        if AID.ndef.matches(applet.rawValue) { return [0xB0] }
        if AID.openPGP.matches(applet.rawValue) { return [0xCA] }
        return []
    }
}

extension AID? {
    fileprivate var isNDEF: Bool { map { AID.ndef.matches($0.rawValue) } ?? false }
}
