// SPDX-License-Identifier: Apache-2.0

public import YKWire

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

/// The exchange level of a virtual USB key's card reader (CCID 1.1 §5.1, dwFeatures).
public enum ReaderLevel: String, Hashable, Sendable, CaseIterable {
    /// APDUs of any length, as on YubiKeys.
    case extended
    /// Short APDUs.
    case short
    /// T=1 blocks: the host handles the protocol and chooses the speed.
    case t1
    /// T=0 TPDUs: the host handles the protocol.
    case t0

    /// The class descriptor. At the two lower levels the host chooses the voltage, and the card needs 5 V.
    public var descriptor: CCID.Descriptor {
        let common: CCID.Descriptor.Features = [
            .parametersByATR, .activation, .voltage, .clock, .speed, .selection,
        ]
        switch self {
        case .extended: return CCID.Descriptor(features: common.union(.extendedAPDU))
        case .short: return CCID.Descriptor(features: common.union(.shortAPDU), maxMessageLength: 271)
        case .t1:
            return CCID.Descriptor(voltages: 3, features: [.tpdu, .clock, .speed], maxMessageLength: 271)
        case .t0:
            return CCID.Descriptor(
                voltages: 3, protocols: 1, features: [.tpdu, .clock, .speed, .selection], maxMessageLength: 271)
        }
    }

    /// T=0, extra guard time 0, seven historical bytes.
    static let t0ATR: [UInt8] = [0x3B, 0x67, 0x00, 0x00] + Array("YubiKey".utf8)
}
