// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// The state of a host that splits commands differently from the recording: the chained parts it has sent, and the part
/// of a reply it has not fetched.
struct CardLookup: Sendable {
    /// The joined parts of a chain.
    private var chain: APDU?
    /// Whether a part was split differently from the recording.
    private var isCutAnew = false
    private var rest: [UInt8] = []
    private var end = StatusWord.ok

    /// How to handle a command.
    enum Step {
        /// A part of a chain; acknowledge it.
        case part
        /// The next part of a reply, in the form requested by the host.
        case piece([UInt8])
        /// A command with its chain joined; `isCutAnew` if the recording cannot have it in the same parts.
        case command(APDU, isCutAnew: Bool)
    }

    /// Processes a command. `isRecorded` says whether the recording contains this exact exchange.
    mutating func take(_ command: APDU, _ bytes: [UInt8], isRecorded: Bool) -> Step {
        if !rest.isEmpty, command.data.isEmpty, CardVocabularies.known.continuations.contains(command.ins) {
            return .piece(piece(command, bytes))
        }
        rest = []
        if chain?.chainHeader != command.chainHeader {
            chain = nil
            isCutAnew = false
        }
        var whole = command
        whole.data = (chain?.data ?? []) + command.data
        guard command.isPartOfChain, whole.data.count <= 1 << 20 else {
            defer { (chain, isCutAnew) = (nil, false) }
            whole.cla &= ~0x10
            return .command(whole, isCutAnew: isCutAnew)
        }
        chain = whole
        isCutAnew = isCutAnew || !isRecorded
        return .part
    }

    /// Returns the first part of a reply in the form that the command asks for.
    mutating func give(_ reply: ResponseAPDU, to command: APDU, _ bytes: [UInt8]) -> [UInt8] {
        rest = reply.data
        end = reply.status
        return piece(command, bytes)
    }

    private mutating func piece(_ command: APDU, _ bytes: [UInt8]) -> [UInt8] {
        let isExtended = bytes.count >= 7 && bytes[4] == 0
        var length = isExtended ? 65_536 : 256
        if case .bytes(let wanted) = command.le { length = min(length, Int(wanted)) }
        let piece = Array(rest.prefix(length))
        rest = Array(rest.dropFirst(length))
        guard !rest.isEmpty else { return ResponseAPDU(end, data: piece).encoded }
        // 6100 stands for 256 bytes or more.
        let left = rest.count < 256 ? UInt16(rest.count) : 0
        return ResponseAPDU(StatusWord(0x6100 | left), data: piece).encoded
    }
}
