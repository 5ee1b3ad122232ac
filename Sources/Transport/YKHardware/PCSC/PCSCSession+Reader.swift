// SPDX-License-Identifier: Apache-2.0

import CPCSC

extension PCSCSession {
    func connection() throws(PCSCFailure) -> CardConnection {
        guard let card else { throw PCSCFailure(.resetCard, .status) }
        var (state, active): (DWORD, DWORD) = (0, 0)
        var atr = [UInt8](repeating: 0, count: Int(MAX_ATR_SIZE))
        var length = DWORD(atr.count)
        try PCSCFailure.check(library.status(card, &state, &active, &atr, &length), .status)
        return CardConnection(
            state: UInt32(truncatingIfNeeded: state), activeProtocol: UInt32(truncatingIfNeeded: active),
            atr: Array(atr.prefix(Int(min(length, DWORD(MAX_ATR_SIZE))))))
    }

    func control(_ code: UInt32, _ bytes: [UInt8]) throws(PCSCFailure) -> [UInt8] {
        try answer(.control, upTo: buffer.count) { card, reply, length in
            library.control(card, DWORD(code), bytes, DWORD(bytes.count), reply, length.pointee, length)
        }
    }

    func attribute(_ tag: UInt32) throws(PCSCFailure) -> [UInt8] {
        // With a larger buffer pcsc-lite 1.9.9 reports that it is too small.
        try answer(.attribute, upTo: Int(MAX_BUFFER_SIZE)) { card, value, length in
            library.attribute(card, DWORD(tag), value, length)
        }
    }

    private func answer(
        _ step: PCSCFailure.Step, upTo count: Int,
        _ call: (SCARDHANDLE, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<DWORD>) -> LONG
    ) throws(PCSCFailure) -> [UInt8] {
        guard let card, let room = buffer.baseAddress else { throw PCSCFailure(.resetCard, step) }
        var length = DWORD(count)
        try PCSCFailure.check(call(card, room, &length), step)
        guard length <= DWORD(count) else { throw PCSCFailure(.insufficientBuffer, step) }
        return Array(buffer.prefix(Int(length)))
    }
}
