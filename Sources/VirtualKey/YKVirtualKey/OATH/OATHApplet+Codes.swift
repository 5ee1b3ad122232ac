// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

extension OATHApplet {
    /// CALCULATE: an account's response to a challenge, after a touch if required; HOTP increments its counter.
    func calculate(
        _ command: APDU, _ memory: inout OATHMemory, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let isTruncated = try Self.isTruncated(command)
        let (name, challenge) = try Self.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.name), try reader.value(Tag.challenge))
        }
        let index = try Self.find(name, memory)
        var account = memory.accounts[index]
        if account.properties.contains(.touch) { try Self.waitForTouch(account, inputs) }
        let response = try Self.respond(&account, challenge, isTruncated)
        memory.accounts[index] = account
        return response.encoded
    }

    /// CALCULATE ALL: the name and response of every account; HOTP and touch accounts have only a marker instead.
    func calculateAll(_ command: APDU, _ memory: inout OATHMemory) throws(Refusal) -> [UInt8] {
        let isTruncated = try Self.isTruncated(command)
        let challenge = try Self.parse(command.data) { reader throws(WireError) in try reader.value(Tag.challenge) }
        var reply: [TLV] = []
        for index in memory.accounts.indices {
            let account = memory.accounts[index]
            reply.append(TLV(Tag.name, account.name))
            if account.kind == .hotp {
                reply.append(TLV(Tag.noResponse, [account.digits]))
            } else if account.properties.contains(.touch) {
                reply.append(TLV(Tag.touch, [account.digits]))
            } else {
                reply.append(try Self.respond(&memory.accounts[index], challenge, isTruncated))
            }
        }
        return reply.encoded
    }

    private static func isTruncated(_ command: APDU) throws(Refusal) -> Bool {
        guard command.p1 == 0, command.p2 <= 1 else { throw .status(.wrongParameters) }
        return command.p2 == 1
    }

    private static func waitForTouch(_ account: VirtualAccount, _ inputs: VirtualInputs) throws(Refusal) {
        switch inputs.touch(account.name) {
        case .touched: break
        case .notTouched: throw .status(.conditionsNotSatisfied)
        case .pending: throw .waitingForTouch
        }
    }

    private static func respond(
        _ account: inout VirtualAccount, _ challenge: [UInt8], _ isTruncated: Bool
    ) throws(Refusal) -> TLV {
        let hmac = account.hmac(try message(&account, challenge))
        return isTruncated
            ? TLV(Tag.truncatedResponse, [account.digits] + VirtualAccount.truncated(hmac))
            : TLV(Tag.fullResponse, [account.digits] + hmac)
    }

    /// The HMAC input: the counter, which is then incremented, or the host's challenge.
    private static func message(_ account: inout VirtualAccount, _ challenge: [UInt8]) throws(Refusal) -> [UInt8] {
        if account.kind == .hotp {
            var writer = ByteWriter(capacity: 8)
            writer.bigEndian(account.counter, 8)
            account.counter &+= 1
            return writer.bytes
        }
        guard (1...64).contains(challenge.count) else { throw .status(.incorrectParameters) }
        guard account.properties.contains(.increasing) else { return challenge }
        // Challenges are compared as numbers, whatever their lengths (ykneo-oath).
        let isHigher = account.lastChallenge.padded(to: 64).lexicographicallyPrecedes(challenge.padded(to: 64))
        guard isHigher else { throw .status(.securityStatusNotSatisfied) }
        account.lastChallenge = challenge
        return challenge
    }
}
