// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The allowed signers, as `ssh-keygen -Y verify` reads them from a file (ssh-keygen(1), ALLOWED SIGNERS).
public struct AllowedSigners: Sendable {
    private struct Line {
        var principals: [Substring]
        var namespaces: [Substring]?
        var validAfter: Int64?
        var validBefore: Int64?
        var key: SSHPublicKey
    }

    private let lines: [Line]

    /// Reads a file. Lines for certificate authorities and unsupported key types are skipped.
    ///
    /// - Throws: ``SSHError/malformed(_:)`` with the line number.
    public init(parsing text: String) throws(SSHError) {
        var lines: [Line] = []
        // Lines end at LF alone, as ssh-keygen reads them: after another line end, a comment would go on as a line.
        let texts = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in texts.enumerated() {
            let words = Self.words(line.last == "\r" ? line.dropLast() : line)
            guard let first = words.first, first.unicodeScalars.first != "#" else { continue }
            do throws(SSHError) {
                if let line = try Self.line(first, words.dropFirst()) { lines.append(line) }
            } catch { throw .malformed("line \(index + 1): \(error)") }
        }
        self.lines = lines
    }

    /// The words of a line, between spaces and tabs; a quoted part may contain them.
    private static func words(_ line: Substring.UnicodeScalarView) -> [Substring] { split(line, at: [" ", "\t"]) }

    /// Splits a text at separators that are not quoted.
    private static func split(
        _ text: Substring.UnicodeScalarView, at separators: Set<Unicode.Scalar>
    ) -> [Substring] {
        var isQuoted = false
        return text.split { scalar in
            if scalar == "\"" { isQuoted.toggle() }
            return separators.contains(scalar) && !isQuoted
        }.map(Substring.init)
    }

    private static func line(_ principals: Substring, _ rest: ArraySlice<Substring>) throws(SSHError) -> Line? {
        guard let place = rest.firstIndex(where: { isType($0) }), place + 1 < rest.endIndex else {
            throw .malformed("no type of key that is known, and base 64 after it")
        }
        let options = rest[..<place].flatMap { split($0.unicodeScalars, at: [","]) }
        let key: SSHPublicKey
        do { key = try SSHPublicKey.parse(line: "\(rest[place]) \(rest[place + 1])").key } catch {
            if case .unsupportedKey = error { return nil }
            throw error
        }
        var line = Line(
            principals: principals.filter { $0 != "\"" }.split(separator: ",").map { Substring($0) }, key: key)
        for option in options {
            let parts = option.split(separator: "=", maxSplits: 1)
            let value = parts.count > 1 ? parts[1].filter { $0 != "\"" } : ""
            switch parts.first?.lowercased() {
            case "cert-authority": return nil
            case "namespaces" where line.namespaces == nil: line.namespaces = Substring(value).split(separator: ",")
            case "valid-after" where line.validAfter == nil: line.validAfter = try time(value)
            case "valid-before" where line.validBefore == nil: line.validBefore = try time(value)
            case "namespaces", "valid-after", "valid-before": throw .malformed("'\(option)' is given before")
            default: throw .malformed("the option '\(option)' is not known")
            }
        }
        return line
    }

    private static func isType(_ word: Substring) -> Bool {
        ["ssh-", "ecdsa-", "sk-"].contains { word.hasPrefix($0) }
    }

    /// A time in seconds since 1970, of 8, 12 or 14 digits.
    private static func time(_ text: String) throws(SSHError) -> Int64 {
        let bytes = Array((text.hasSuffix("Z") ? text.dropLast() : text[...]).utf8)
        func number(_ range: Range<Int>) -> Int {
            range.lowerBound < bytes.count ? bytes[range].reduce(0) { $0 * 10 + Int($1) - 0x30 } : 0
        }
        guard [8, 12, 14].contains(bytes.count), bytes.allSatisfy({ (0x30...0x39).contains($0) }),
            let day = UTCDate(number(0..<4), number(4..<6), number(6..<8))
        else { throw .malformed("'\(text)' is not a time such as 20301231 or 20301231235959Z") }
        return day.seconds + Int64(number(8..<10) * 3600 + number(10..<12) * 60 + number(12..<14))
    }

    /// Returns whether a key may sign for an identity.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - identity: The signer, such as a mail address.
    ///   - namespace: The purpose of the signature.
    ///   - now: Seconds since 1970. Times in the file are read as UTC.
    public func allows(_ key: SSHPublicKey, identity: String, namespace: String, now: Int64) -> Bool {
        lines.contains { line in
            line.key == key && Self.matches(identity, line.principals)
                && (line.namespaces.map { Self.matches(namespace, $0) } ?? true)
                && (line.validAfter.map { $0 <= now } ?? true) && (line.validBefore.map { now < $0 } ?? true)
        }
    }

    /// Whether a string matches a list of patterns; a match of a pattern that begins with `!` excludes it.
    private static func matches(_ text: String, _ patterns: [Substring]) -> Bool {
        let bytes = Array(text.utf8)
        if patterns.contains(where: { $0.hasPrefix("!") && fits(bytes[...], Array($0.utf8)[1...]) }) { return false }
        return patterns.contains { !$0.hasPrefix("!") && fits(bytes[...], Array($0.utf8)[...]) }
    }

    /// Whether a text fits a pattern (ssh_config(5), PATTERNS).
    static func fits(_ text: String, _ pattern: String) -> Bool {
        fits(Array(text.utf8)[...], Array(pattern.utf8)[...])
    }

    /// `*` for any string, `?` for any character; the run time grows with the product of the lengths.
    private static func fits(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var (place, mark) = (text.startIndex, text.startIndex)
        var (next, star): (Int, Int?) = (pattern.startIndex, nil)
        while place < text.endIndex {
            if next < pattern.endIndex, pattern[next] == UInt8(ascii: "*") {
                (star, mark) = (next, place)
                next += 1
            } else if next < pattern.endIndex, pattern[next] == UInt8(ascii: "?") || pattern[next] == text[place] {
                next += 1
                place += 1
            } else if let star {
                mark += 1
                (next, place) = (star + 1, mark)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
