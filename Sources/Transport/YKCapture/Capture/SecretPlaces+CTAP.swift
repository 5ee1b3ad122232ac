// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension SecretPlaces {
    /// What is overwritten in a CTAP2 request.
    ///
    /// Of clientPIN: pinUvAuthParam (4), newPinEnc (5) and pinHashEnc (6), and of its subcommands that ask for a token
    /// with permissions the platform's public key (3). Of hmac-secret and hmac-secret-mc: the platform's public key,
    /// saltEnc and saltAuth. Of credential management: pinUvAuthParam.
    ///
    /// The public keys are no secrets. Where what is exchanged under them stays a secret for ever, a recording does not
    /// have the private number, so a replay has another public key, and every MAC under what was agreed is another; none
    /// of that may be compared. Whether a token lasts (permission pcmr) is said after the key in the message, and a
    /// recording is written while it passes.
    static func ctap(_ message: [UInt8]) -> [Range<Int>] {
        switch message.first {
        case 0x01: extensions(message, key: 6)
        case 0x02: extensions(message, key: 4)
        case 0x06: clientPIN(message)
        case 0x0A, 0x41: entries(message, from: 1, to: message.count).list.flatMap { $0.runs(message, at: [4]) }
        default: []
        }
    }

    /// An entry of a map with an integer as its key, as far as it is known.
    private struct Entry {
        let key: Int64
        let value: Range<Int>

        /// The value when it has one of these keys, less its head, so that what is left can still be read as CBOR.
        func runs(_ message: [UInt8], at keys: [Int64]) -> [Range<Int>] {
            keys.contains(key) ? [content(message, value)] : []
        }
    }

    private static func clientPIN(_ message: [UInt8]) -> [Range<Int>] {
        let (list, unread) = entries(message, from: 1, to: message.count)
        let subcommand = list.first { $0.key == 2 }.map { message[$0.value] }
        let isToken = subcommand == [6] || subcommand == [9]
        let found = list.flatMap { entry in
            entry.runs(message, at: [4, 5, 6]) + (isToken && entry.key == 3 ? point(message, entry.value) : [])
        }
        return found + unread
    }

    /// The inputs of hmac-secret and hmac-secret-mc in the map of extensions.
    private static func extensions(_ message: [UInt8], key: Int64) -> [Range<Int>] {
        guard let map = entries(message, from: 1, to: message.count).list.first(where: { $0.key == key }) else {
            return []
        }
        var found: [Range<Int>] = []
        var cursor = CBORCursor(message, from: map.value.lowerBound, to: map.value.upperBound)
        guard let head = try? cursor.head(), head.major == 5 else { return [] }
        var left = head.isIndefinite ? UInt64.max : head.argument
        while left > 0, !cursor.isAtEnd {
            left -= 1
            let start = cursor.position
            guard (try? cursor.skip()) != nil else { return found }
            let name = message[start..<cursor.position].dropFirst()
            let value = cursor.position
            let isWhole = (try? cursor.skip()) != nil
            let range = value..<(isWhole ? cursor.position : map.value.upperBound)
            if name.elementsEqual("hmac-secret".utf8) || name.elementsEqual("hmac-secret-mc".utf8) {
                found += hmacSecret(message, range)
            }
            if !isWhole { return found }
        }
        return found
    }

    /// The key agreement (1), saltEnc (2) and saltAuth (3); what is no map, such as "true", holds none.
    private static func hmacSecret(_ message: [UInt8], _ range: Range<Int>) -> [Range<Int>] {
        entries(message, from: range.lowerBound, to: range.upperBound).list.flatMap { entry in
            entry.runs(message, at: [2, 3]) + (entry.key == 1 ? point(message, entry.value) : [])
        }
    }

    /// The coordinates of a COSE key (-2, -3).
    private static func point(_ message: [UInt8], _ range: Range<Int>) -> [Range<Int>] {
        entries(message, from: range.lowerBound, to: range.upperBound).list
            .flatMap { $0.runs(message, at: [-2, -3]) }
    }

    /// The entries of the map there, the last one perhaps not whole, and what cannot be read behind them.
    private static func entries(
        _ message: [UInt8], from start: Int, to end: Int
    ) -> (list: [Entry], unread: [Range<Int>]) {
        var cursor = CBORCursor(message, from: min(start, end), to: end)
        let whole = start < end ? [start..<end] : []
        guard let head = try? cursor.head(), head.major == 5 else { return ([], whole) }
        var list: [Entry] = []
        var left = head.isIndefinite ? UInt64.max : head.argument
        while left > 0, !cursor.isAtEnd {
            left -= 1
            let place = cursor.position
            guard let key = try? cursor.head(), key.major <= 1, let number = Int64(exactly: key.argument) else {
                return (list, [place..<end])
            }
            let value = cursor.position
            let isWhole = (try? cursor.skip()) != nil
            list.append(
                Entry(key: key.major == 0 ? number : -1 - number, value: value..<(isWhole ? cursor.position : end)))
            if !isWhole { return (list, []) }
        }
        return (list, [])
    }

    /// A value less its head.
    private static func content(_ message: [UInt8], _ range: Range<Int>) -> Range<Int> {
        var cursor = CBORCursor(message, from: range.lowerBound, to: range.upperBound)
        guard let head = try? cursor.head(), head.major == 2 else { return range }
        return cursor.position..<max(cursor.position, range.upperBound)
    }
}
