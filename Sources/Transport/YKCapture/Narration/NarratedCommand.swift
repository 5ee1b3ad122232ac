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

    /// The command with all of its data, secret or not.
    var apdu: APDU { APDU(cla: cla, ins: ins, p1: p1, p2: p2, data: data.bytes, le: le) }

    /// Whether data and reply are encrypted by a secure channel (ISO 7816-4 §5.4.1).
    var isProtected: Bool { cla & 0x04 != 0 }

    var header: String { Hex.encode([cla, ins, p1, p2]) }
}
