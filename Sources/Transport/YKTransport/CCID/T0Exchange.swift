// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Short APDUs over the transmission protocol T=0, for a reader that carries only TPDUs: the reader handles procedure
/// bytes, this type handles Le (ISO 7816-3 §12.2).
enum T0Exchange {
    /// The maximum number of responses collected for one command.
    private static let roundLimit = 256

    /// Sends a command APDU and returns the response APDU.
    static func exchange(
        _ command: [UInt8], _ carry: ([UInt8]) throws(LinkError) -> [UInt8]
    ) throws(LinkError) -> [UInt8] {
        guard command.count >= 4 else { throw .malformed(WireError(.truncated, at: 0, "a command without its header")) }
        guard command.count <= 261, command.count < 7 || command[4] != 0 else {
            throw .failed(code: 0, "this card accepts only short commands (T=0)")
        }
        let hasData = command.count > 5
        let head = command.count == 4 ? command + [0] : command
        // A command with data is sent without its Le.
        var reply = try carry(hasData ? Array(head.prefix(5 + Int(head[4]))) : head)
        if !hasData, let length = reply.exactLength {
            reply = try carry(Array(head.prefix(4)) + [length])
        }
        let isCase4 = hasData && command.count == 6 + Int(command[4])
        guard isCase4 else { return reply }
        return try collect(reply, class: command[0], carry)
    }

    /// Collects the response data of a command with data and an Le: 61xx gives its length.
    private static func collect(
        _ first: [UInt8], class: UInt8, _ carry: ([UInt8]) throws(LinkError) -> [UInt8]
    ) throws(LinkError) -> [UInt8] {
        guard first.count == 2, first[0] == 0x61 else { return first }
        var reply = try carry([`class`, ISO7816.getResponse, 0, 0, first[1]])
        var rounds = 0
        while reply.count == 2, let length = reply.exactLength, rounds < roundLimit {
            rounds += 1
            reply = try carry([`class`, ISO7816.getResponse, 0, 0, length])
        }
        return reply
    }
}

extension [UInt8] {
    /// The correct Le according to the card (6Cxx).
    fileprivate var exactLength: UInt8? { count == 2 && self[0] == 0x6C ? self[1] : nil }
}
