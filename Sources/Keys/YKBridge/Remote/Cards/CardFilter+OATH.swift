// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// The commands of OATH (YKOATH, "Instructions").
extension CardFilter {
    private typealias OATH = OATHProtocol.Instruction
    private typealias Tag = OATHProtocol.Tag

    /// The longest name of an account (YKOATH, "PUT").
    private static let nameLimit = 64

    static func oath(_ command: APDU) -> CardVerdict {
        switch command.ins {
        case OATH.list:
            guard command.parameters == 0, command.data.isEmpty else { return .absent(.incorrectParameters) }
            return .read(APDU(ins: command.ins))
        case OATH.calculate, OATH.calculateAll: return oathCode(command)
        default: return refusal(of: command, in: .oath)
        }
    }

    /// CALCULATE of one account, or of all, for a time, which has eight bytes; an account with a counter has none. Other
    /// challenges, which have nothing to do with codes, are refused.
    private static func oathCode(_ command: APDU) -> CardVerdict {
        let isForAll = command.ins == OATH.calculateAll
        guard command.p1 == 0, command.p2 <= 1, let members = try? TLV.list(command.data),
            members.count == (isForAll ? 1 : 2), let challenge = members.value(Tag.challenge)
        else { return .absent(.incorrectParameters) }
        guard challenge.count == 8 || challenge.isEmpty && !isForAll else { return refusal(of: command, in: .oath) }
        func apdu(_ members: [TLV]) -> APDU { APDU(ins: command.ins, p2: command.p2, data: members.encoded) }
        if isForAll { return .use(apdu([TLV(Tag.challenge, challenge)]), .allCodes) }
        guard let name = members.value(Tag.name), (1...nameLimit).contains(name.count) else {
            return .absent(.incorrectParameters)
        }
        return .use(
            apdu([TLV(Tag.name, name), TLV(Tag.challenge, challenge)]),
            .code(account: String(decoding: name, as: UTF8.self)))
    }
}
