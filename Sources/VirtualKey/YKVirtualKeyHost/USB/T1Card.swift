// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey
import YKWire

/// The card's side of the transmission protocol T=1 (ISO 7816-3 §11): blocks in, blocks and commands out.
struct T1Card {
    /// The result of a block from the host.
    enum Step {
        /// The block to send back.
        case answer([UInt8])
        /// The command is complete.
        case command([UInt8])
        /// The host has granted more time.
        case timeGiven
    }

    /// The maximum block size that the host accepts; 32 bytes until it announces another.
    private(set) var hostSize = 32
    private var sending: UInt8 = 0
    private var receiving: UInt8 = 0
    private var command: [UInt8] = []
    private var response: [UInt8] = []
    private var last: [UInt8] = []

    /// Processes a block from the host.
    mutating func take(_ bytes: [UInt8]) -> Step {
        guard let block = try? T1Block(decoding: bytes) else { return answer(.ready(number: receiving, error: 1)) }
        switch block.kind {
        case .information(let number, let isMore):
            guard number == receiving, command.count <= CCID.dataLimit else {
                return answer(.ready(number: receiving, error: 2))
            }
            receiving ^= 1
            command += block.information
            if isMore { return answer(.ready(number: receiving, error: 0)) }
            defer { command = [] }
            return .command(command)
        case .ready(let number, let error):
            guard error == 0, number != sending, !response.isEmpty else { return .answer(last) }
            sending ^= 1
            return .answer(nextPart())
        case .supervisory(.moreTime, isResponse: true): return .timeGiven
        case .supervisory(.size, isResponse: false):
            hostSize = min(max(Int(block.information.first ?? 32), 1), T1Block.informationLimit)
            return answer(.supervisory(.size, isResponse: true), block.information)
        case .supervisory(.resynchronise, isResponse: false):
            self = T1Card()
            return answer(.supervisory(.resynchronise, isResponse: true))
        default: return answer(.ready(number: receiving, error: 2))
        }
    }

    /// Returns the first block of a response.
    mutating func respond(_ response: [UInt8]) -> [UInt8] {
        self.response = response
        return nextPart(isFirst: true)
    }

    /// Returns the last block again.
    func repeatLast() -> [UInt8] { last }

    /// Returns the next block of a chain. Each block is acknowledged; the sequence number changes after the last one.
    private mutating func nextPart(isFirst: Bool = false) -> [UInt8] {
        let part = Array(response.prefix(hostSize))
        response = Array(response.dropFirst(hostSize))
        last = T1Block(.information(number: sending, isMore: !response.isEmpty), part).encoded()
        if response.isEmpty { sending ^= 1 }
        return last
    }

    private mutating func answer(_ kind: T1Block.Kind, _ information: [UInt8] = []) -> Step {
        last = T1Block(kind, information).encoded()
        return .answer(last)
    }
}
