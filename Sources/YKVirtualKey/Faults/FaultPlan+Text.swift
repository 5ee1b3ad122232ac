// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension FaultPlan {
    /// The forms of a rule, for help texts and errors.
    public static let grammar = """
        WHEN: FAULT, several with ; between them
        WHEN is   at N | from N | on HEX | on HEX at N      exchanges count from 1, HEX is how a command starts
        FAULT is  drop | delay TIME | truncate N | garbage [HEX] | status HEX | more | more empty | remove [TIME] | reset
        TIME is   a number with ms or s, as in 500ms
        """

    /// Reads rules such as `at 3: remove; on 00a2: status 6f00`; see ``grammar``.
    ///
    /// Throws `malformed` with the offset of the rule that cannot be read.
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

    private static func rule(_ line: Substring, _ offset: Int) throws(WireError) -> Rule {
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
        case ("on", 2): return bytes(words[1]).map { .on($0, number: nil) }
        case ("on", 4) where words[2] == "at":
            guard let start = bytes(words[1]), let number = positive(words[3]) else { return nil }
            return .on(start, number: number)
        default: return nil
        }
    }

    private static func fault(_ words: [Substring]) -> Fault? {
        switch (words.first, words.count) {
        case ("drop", 1): return .drop
        case ("reset", 1): return .reset
        case ("remove", 1): return .remove(back: nil)
        case ("remove", 2): return time(words[1]).map { .remove(back: $0) }
        case ("delay", 2): return time(words[1]).map(Fault.delay)
        case ("truncate", 2): return Int(words[1]).flatMap { $0 >= 0 ? .truncate($0) : nil }
        case ("garbage", 1): return .garbage([0xDE, 0xAD, 0xBE, 0xEF, 0x00, 0xFF, 0x7F, 0x80])
        case ("garbage", 2): return bytes(words[1]).map(Fault.garbage)
        case ("status", 2):
            guard let bytes = bytes(words[1]), bytes.count == 2 else { return nil }
            return .status(StatusWord(UInt16(bytes[0]) << 8 | UInt16(bytes[1])))
        case ("more", 1): return .endless(withData: true)
        case ("more", 2) where words[1] == "empty": return .endless(withData: false)
        default: return nil
        }
    }

    private static func positive(_ word: Substring) -> Int? { Int(word).flatMap { $0 > 0 ? $0 : nil } }

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

    fileprivate var trimmed: Substring {
        var rest = drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}
