// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Synchronization

@testable import YKHardware

/// A table of calls that all succeed, on a machine with one reader "R" and a card in it; and what was called.
final class FakeLibrary: Sendable {
    let calls = Mutex<[String]>([])

    func note(_ call: String) -> LONG {
        calls.withLock { $0.append(call) }
        return 0
    }

    func count(_ call: String) -> Int { calls.withLock { $0.filter { $0 == call }.count } }

    static let atr: [UInt8] = [0x3B, 0x00]

    var table: PCSCLibrary {
        PCSCLibrary(
            establishContext: { [self] context in
                context.pointee = 1
                return note("establish")
            },
            releaseContext: { [self] _ in note("release") },
            listReaders: { _, names, length in Self.list(["R"], names, length) },
            getStatusChange: { _, _, states, count in
                for index in 0..<Int(count) { states?[index].dwEventState = DWORD(SCARD_STATE_PRESENT) | 1 << 16 }
                return 0
            },
            cancel: { _ in 0 },
            connect: { [self] _, _, _, _, card, active in
                card.pointee = 7
                active.pointee = DWORD(SCARD_PROTOCOL_T1)
                return note("connect")
            },
            reconnect: { [self] _, _, _, initialization, _ in note("reconnect \(initialization)") },
            disconnect: { [self] _, disposition in note("disconnect \(disposition)") },
            beginTransaction: { [self] _ in note("begin") },
            endTransaction: { [self] _, _ in note("end") },
            status: { _, _, _, atr, length in
                guard let atr, length.pointee >= 2 else { return 0 }
                for (index, byte) in Self.atr.enumerated() { atr[index] = byte }
                length.pointee = 2
                return 0
            },
            control: { _, _, _, _, _, _, _ in LONG(0x8010_001F) },
            transmit: { _, _, command, count, reply, length in
                for index in 0..<Int(count) { reply?[index] = command?[index] ?? 0 }
                reply?[Int(count)] = 0x90
                reply?[Int(count) + 1] = 0x00
                length.pointee = count + 2
                return 0
            })
    }

    func service(_ change: (inout PCSCLibrary) -> Void = { _ in }) -> PCSCService {
        var table = table
        change(&table)
        return PCSCService(library: table, socketPath: "/tmp/ykit-no-such-folder/pcscd.comm")
    }

    static func list(
        _ readers: [String], _ names: UnsafeMutablePointer<CChar>?, _ length: UnsafeMutablePointer<DWORD>
    ) -> LONG {
        let bytes: [UInt8] = readers.flatMap { $0.utf8 + [0] } + [0]
        defer { length.pointee = DWORD(bytes.count) }
        guard let names, length.pointee >= DWORD(bytes.count) else { return LONG(0x8010_0008) }
        for (index, byte) in bytes.enumerated() { names[index] = CChar(bitPattern: byte) }
        return 0
    }
}
