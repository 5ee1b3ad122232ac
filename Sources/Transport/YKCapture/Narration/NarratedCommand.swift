// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// A command on its way to be put into words: its header and all of its data, chained parts put together.
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

    /// The same header with other data.
    init(_ command: NarratedCommand, data: MaskedBytes) {
        (cla, ins, p1, p2) = (command.cla, command.ins, command.p1, command.p2)
        le = command.le
        self.data = data
    }

    var parameters: UInt16 { UInt16(p1) << 8 | UInt16(p2) }

    /// The application whose command this can only be, where none was selected: programs that find PIV selected
    /// already, as OpenSC does, read its objects at once (3FFF and a tag list).
    var ownApplication: AID? {
        let isObject = ins == PIVProtocol.Instruction.getData || ins == PIVProtocol.Instruction.putData
        return isObject && parameters == 0x3FFF && data[0] == 0x5C ? .piv : nil
    }

    /// Whether data and reply are encrypted for a secure channel (ISO 7816-4 §5.4.1).
    var isProtected: Bool { cla & 0x04 != 0 }

    var header: String { Hex.encode([cla, ins, p1, p2]) }
}

/// What an application's commands and replies mean.
protocol ApplicationNarration {
    /// The command in a few words, and what is in its data; `nil` for an instruction that the application does not have.
    static func phrase(_ command: NarratedCommand) -> (String, [String])?
    /// What is in the whole data of a reply.
    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]
    /// What a status word means for this command, where that is more than its usual meaning.
    static func meaning(_ status: StatusWord, of command: NarratedCommand) -> String?
    /// Reads as much of an incomplete reply as can be read: the lines, and how many bytes they were made of.
    static func partialReply(_ data: MaskedBytes, to command: NarratedCommand) -> ([String], Int)
    /// What is in the reply to SELECT.
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
    /// Who puts this application's commands into words.
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
