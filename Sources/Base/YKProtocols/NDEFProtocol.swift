// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AID {
    /// NFC Forum Type 4 tag (NDEF).
    public static let ndef = AID(rawValue: [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01])
    /// NFC Forum Type 4 tag of mapping version 1.
    public static let ndefVersion1 = AID(rawValue: [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00])
}

/// An NFC Forum Type 4 tag, which keys emulate to provide a one-time password.
package enum NDEFProtocol: CardVocabulary {
    package static var aid: AID { .ndef }
    package static var formerAIDs: [AID] { [.ndefVersion1] }
    package static let title = "NDEF"

    package static let instructions: [UInt8: String] = [
        ISO7816.select: "SELECT", ISO7816.readBinary: "READ BINARY", ISO7816.updateBinary: "UPDATE BINARY",
    ]

    /// The file identifiers (NFC Forum Type 4 Tag §5.1, §5.4).
    package enum File {
        package static let capabilityContainer: [UInt8] = [0xE1, 0x03]
        /// The file with the message on Yubico's keys.
        package static let message: [UInt8] = [0xE1, 0x04]
    }

    package static func effect(of command: APDU) -> CommandEffect {
        [ISO7816.select, ISO7816.readBinary, ISO7816.readBinaryExtended].contains(command.ins)
            ? .read : .write(reply: nil)
    }

    /// Finds the one-time password in a file read in pieces.
    ///
    /// A one-time password is the encrypted part of a Yubico OTP, 32 characters of modhex at the end of the file, or
    /// only modhex or digits after the last `#`. Anything that may turn out to be one counts, because each piece is
    /// recorded before the next one is read.
    package struct Reading: Sendable {
        /// The number of modhex characters at the end of the file so far.
        private var run = 0
        private var next = 0

        package init() {}

        /// The secret byte ranges in a piece of the file.
        ///
        /// - Parameters:
        ///   - piece: The bytes of a reply to READ BINARY.
        ///   - offset: The offset of the piece in the file, in bytes.
        package mutating func secrets(in piece: [UInt8], at offset: Int) -> [Range<Int>] {
            if offset != next { run = 0 }
            next = offset + piece.count
            let head = piece.prefix { Self.modhex.contains($0) }.count
            let tail = piece.reversed().prefix { Self.modhex.contains($0) }.count
            let isContinued = run >= Self.shortest && head > 0
            run = tail == piece.count ? min(run + tail, 1 << 20) : tail
            var found = isContinued ? [0..<head] : []
            if let code = Self.afterHash(piece) {
                found.append(code)
            } else if tail >= Self.shortest, !(isContinued && head == piece.count) {
                found.append((piece.count - min(tail, Self.encrypted))..<piece.count)
            }
            return found
        }

        /// Six or more characters of modhex, or digits, after the last `#`.
        private static func afterHash(_ piece: [UInt8]) -> Range<Int>? {
            guard let hash = piece.lastIndex(of: UInt8(ascii: "#")), piece.count - hash > 6 else { return nil }
            let rest = piece[(hash + 1)...]
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            guard rest.allSatisfy(modhex.contains) || rest.allSatisfy(digits.contains) else { return nil }
            return (hash + 1)..<piece.count
        }

        /// The minimum number of modhex characters at the end of a piece that count as the start of a password.
        private static let shortest = 8
        /// The length of the encrypted part of a Yubico OTP, in characters.
        private static let encrypted = 32
        private static let modhex = Set("cbdefghijklnrtuv".utf8)
    }
}
