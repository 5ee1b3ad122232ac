// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey
import YKWire

/// The card's side of the transmission protocol T=1 (ISO 7816-3 §11): blocks in, blocks and commands out.
struct T1Card {
    /// What a block of the host led to.
    enum Step {
        /// This block goes back.
        case answer([UInt8])
        /// The command is whole.
        case command([UInt8])
        /// The host has given more time.
        case timeGiven
    }

    /// How much the host takes in a block; 32 bytes until it says more.
    private(set) var hostSize = 32
    private var sending: UInt8 = 0
    private var receiving: UInt8 = 0
    private var command: [UInt8] = []
    private var response: [UInt8] = []
    private var last: [UInt8] = []

    /// Takes a block of the host.
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

    /// The first block of a response.
    mutating func respond(_ response: [UInt8]) -> [UInt8] {
        self.response = response
        return nextPart(isFirst: true)
    }

    /// The last block once more.
    func repeatLast() -> [UInt8] { last }

    /// A chain is acknowledged block by block; after the last one the next number follows.
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
