// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension FaultPlan {
    /// The forms of a rule, for help texts and errors.
    public static let grammar = """
        WHEN: FAULT, several with ; between them
        WHEN is   at N | from N | on HEX | on HEX at N | report N
                  exchanges count from 1, HEX is how a command starts: 00a4 (an APDU), 9001 (FIDO HID: 80 and the
                  command, then its content); report N is the Nth report that the host sends
        FAULT is  drop | delay TIME | truncate N | garbage [HEX] | status HEX | keepalives | more | more empty
                  | remove [TIME] | reset
                  and over FIDO HID  drop N | remove after N | channel | sequence | nonce | longer N | shorter N
                  | storm N | error HEX | busy N      N counts reports of the answer, bytes, or times
                  and of a card reader on the USB  remove after N | sequence | longer N | shorter N | stall
        TIME is   a number with ms or s, as in 500ms
        """

    /// Parses rules such as `at 3: remove; on 00a2: status 6f00`; see ``grammar``.
    ///
    /// - Throws: `malformed` with the offset of the invalid rule.
    public init(parsing text: String) throws(WireError) {
        var rules: [Rule] = []
        var offset = 0
        for part in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == ";" || $0 == "\n" }) {
            let line = part.trimmed
            if !line.isEmpty { rules.append(try Self.rule(line, offset)) }
            offset += part.utf8.count + 1
        }
        self.init(rules)
    }

    private static func rule(_ line: String, _ offset: Int) throws(WireError) -> Rule {
        let halves = line.split(separator: ":", maxSplits: 1)
        if halves.count == 2, let trigger = trigger(halves[0].words), let fault = fault(halves[1].words) {
            return Rule(trigger, fault)
        }
        throw WireError(.malformed, at: offset, "not a fault rule: \"\(line)\"; a rule is \(grammar)")
    }

    private static func trigger(_ words: [Substring]) -> Trigger? {
        switch (words.first, words.count) {
        case ("at", 2): return positive(words[1]).map(Trigger.at)
        case ("from", 2): return positive(words[1]).map(Trigger.from)
        case ("report", 2): return positive(words[1]).map(Trigger.report)
        case ("on", 2): return bytes(words[1]).map { .on($0, number: nil) }
        case ("on", 4) where words[2] == "at":
            guard let start = bytes(words[1]), let number = positive(words[3]) else { return nil }
            return .on(start, number: number)
        default: return nil
        }
    }

    private static func fault(_ words: [Substring]) -> Fault? {
        switch (words.first, words.count) {
        case ("drop", 1): .drop
        case ("reset", 1): .reset
        case ("remove", 1): .remove(back: nil)
        case ("garbage", 1): .garbage([0xDE, 0xAD, 0xBE, 0xEF, 0x00, 0xFF, 0x7F, 0x80])
        case ("more", 1): .endless(withData: true)
        case ("keepalives", 1): .keepalives
        case ("channel", 1): .channel
        case ("sequence", 1): .sequence
        case ("nonce", 1): .nonce
        case ("stall", 1): .stall
        case ("more", 2) where words[1] == "empty": .endless(withData: false)
        case ("remove", 3) where words[1] == "after": count(words[2]).map(Fault.removeAfter)
        case (let name?, 2): fault(name, words[1])
        default: nil
        }
    }

    private static func fault(_ name: Substring, _ word: Substring) -> Fault? {
        switch name {
        case "remove": time(word).map { .remove(back: $0) }
        case "delay": time(word).map(Fault.delay)
        case "truncate": count(word).map(Fault.truncate)
        case "garbage": bytes(word).map(Fault.garbage)
        case "status": status(word)
        case "drop": positive(word).map(Fault.dropReport)
        case "longer": positive(word).map(Fault.length)
        case "shorter": positive(word).map { .length(-$0) }
        case "storm": positive(word).map { .storm(min($0, 10_000)) }
        case "busy": positive(word).map(Fault.busy)
        case "error": bytes(word).flatMap { $0.count == 1 ? .error($0[0]) : nil }
        default: nil
        }
    }

    private static func status(_ word: Substring) -> Fault? {
        guard let bytes = bytes(word) else { return nil }
        return switch bytes.count {
        case 1: .ctap(bytes[0])
        case 2: .status(StatusWord(UInt16(bytes[0]) << 8 | UInt16(bytes[1])))
        default: nil
        }
    }

    private static func count(_ word: Substring) -> Int? { Int32(word).flatMap { $0 >= 0 ? Int($0) : nil } }

    private static func positive(_ word: Substring) -> Int? { count(word).flatMap { $0 > 0 ? $0 : nil } }

    private static func bytes(_ word: Substring) -> [UInt8]? {
        guard let bytes = try? Hex.decode(word), !bytes.isEmpty else { return nil }
        return bytes
    }

    private static func time(_ word: Substring) -> Duration? {
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int32(digits) else { return nil }
        switch word.dropFirst(digits.count) {
        case "ms": return .milliseconds(number)
        case "s": return .seconds(number)
        default: return nil
        }
    }
}

extension Substring {
    fileprivate var words: [Substring] { split(whereSeparator: \.isWhitespace) }
}
