// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// A message from vpcd, the virtual reader of vsmartcard: one byte for a power command, or a command APDU.
enum VPCDMessage: Hashable, Sendable {
    case powerOff
    case powerOn
    case reset
    case answerToReset
    case command([UInt8])
    /// An unknown single byte; it needs no answer.
    case unknown

    init(_ bytes: [UInt8]) {
        self =
            switch bytes {
            case [0]: .powerOff
            case [1]: .powerOn
            case [2]: .reset
            case [4]: .answerToReset
            default: bytes.count > 1 ? .command(bytes) : .unknown
            }
    }

    /// Encodes a message: two bytes of length, most significant first, then the bytes.
    static func frame(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}

/// Assembles messages from a stream of bytes, however it is split.
struct VPCDAssembler: Sendable {
    private var buffer: [UInt8] = []

    /// Adds the bytes received and returns the messages that are now complete.
    mutating func feed(_ bytes: some Sequence<UInt8>) -> [VPCDMessage] {
        buffer += bytes
        var messages: [VPCDMessage] = []
        while buffer.count >= 2 {
            let length = Int(buffer[0]) << 8 | Int(buffer[1])
            guard buffer.count >= 2 + length else { break }
            messages.append(VPCDMessage(Array(buffer[2..<(2 + length)])))
            buffer.removeFirst(2 + length)
        }
        return messages
    }
}
