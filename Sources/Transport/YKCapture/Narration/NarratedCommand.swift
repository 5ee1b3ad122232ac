// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// A command to describe: its header and all of its data, with chained parts joined.
struct NarratedCommand: Sendable {
    let cla: UInt8
    let ins: UInt8
    let p1: UInt8
    let p2: UInt8
    let data: MaskedBytes
    let le: APDU.Le

    init(_ command: APDU, data: MaskedBytes) {
        cla = command.cla
        ins = command.ins
        p1 = command.p1
        p2 = command.p2
        le = command.le
        self.data = data
    }

    /// Creates a command with the same header and other data.
    init(_ command: NarratedCommand, data: MaskedBytes) {
        (cla, ins, p1, p2) = (command.cla, command.ins, command.p1, command.p2)
        le = command.le
        self.data = data
    }

    var parameters: UInt16 { UInt16(p1) << 8 | UInt16(p2) }

    /// The only application that has this command, for use when none was selected: programs that find PIV already
    /// selected, as OpenSC does, read its objects at once (3FFF and a tag list).
    var ownApplication: AID? {
        let isObject = ins == PIVProtocol.Instruction.getData || ins == PIVProtocol.Instruction.putData
        return isObject && parameters == 0x3FFF && data[0] == 0x5C ? .piv : nil
    }

    /// Whether data and reply are encrypted by a secure channel (ISO 7816-4 §5.4.1).
    var isProtected: Bool { cla & 0x04 != 0 }

    var header: String { Hex.encode([cla, ins, p1, p2]) }
}

/// Describes the commands and replies of an application.
protocol ApplicationNarration {
    /// A short description of the command, and the content of its data; `nil` for an unknown instruction.
    static func phrase(_ command: NarratedCommand) -> (String, [String])?
    /// The content of a complete reply.
    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]
    /// The meaning of a status word for this command, if more specific than its general meaning.
    static func meaning(_ status: StatusWord, of command: NarratedCommand) -> String?
    /// Describes as much of an incomplete reply as possible; returns the lines and the number of bytes they cover.
    static func partialReply(_ data: MaskedBytes, to command: NarratedCommand) -> ([String], Int)
    /// The content of the reply to SELECT.
    static func selected(_ data: MaskedBytes) -> [String]
}

extension ApplicationNarration {
    static func meaning(_ status: StatusWord, of command: NarratedCommand) -> String? { nil }
    static func partialReply(_ data: MaskedBytes, to command: NarratedCommand) -> ([String], Int) { ([], 0) }
    static func selected(_ data: MaskedBytes) -> [String] { data.isEmpty ? [] : ["reply \(data.hex)"] }
    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String] {
        data.isEmpty ? [] : ["reply \(data.hex)"]
    }
}

extension AID {
    /// The type that describes this application's commands.
    var narration: (any ApplicationNarration.Type)? {
        switch self {
        case .oath: OATHNarration.self
        case .piv: PIVNarration.self
        case .fido: FIDONarration.self
        case .otp: OTPNarration.self
        case .management: ManagementNarration.self
        case .openPGP: OpenPGPNarration.self
        case .hsmAuth: HSMAuthNarration.self
        case .securityDomain: SecurityDomainNarration.self
        case .ndef: NDEFNarration.self
        case .canokeyAdmin: CanoKeyNarration.self
        default: nil
        }
    }
}
