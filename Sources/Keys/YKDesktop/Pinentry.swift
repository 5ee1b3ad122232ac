// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKWire

/// The input for pinentry (the Assuan protocol), sent all at once, and the meaning of its output.
enum Pinentry {
    /// Returns a line that sets the description, followed by the given commands.
    static func script(_ description: String, _ commands: String...) -> [UInt8] {
        let text = description.utf8.flatMap { byte in
            // A percent sign and control characters are escaped.
            byte == UInt8(ascii: "%") || byte < 0x20 ? Array("%\(Hex.encode([byte]).uppercased())".utf8) : [byte]
        }
        return "SETDESC ".utf8 + text + commands.flatMap { "\n\($0)".utf8 } + "\nBYE\n".utf8
    }

    /// Whether CONFIRM was answered with OK: one each for the greeting, the description and the question, and no other
    /// answer.
    static func isConfirmed(_ result: ChildProcess.Ending) -> Bool { hasSucceeded(result, answers: 3) }

    /// Returns the answer to GETPIN; `nil` if it failed.
    static func data(_ result: ChildProcess.Ending) -> [UInt8]? {
        guard hasSucceeded(result, answers: 4) else { return nil }
        return lines(result).first { $0.starts(with: "D ".utf8) }.map { unescaped($0.dropFirst(2)) }
    }

    /// Whether pinentry succeeded and all answers are OK: this many, and perhaps one more to BYE.
    private static func hasSucceeded(_ result: ChildProcess.Ending, answers: Int) -> Bool {
        // Status and comment lines, and data, are not answers.
        let answers = answers...answers + 1
        let said = lines(result).filter { line in !["S ", "#", "D "].contains { line.starts(with: $0.utf8) } }
        return result.status == 0 && answers.contains(said.count)
            && said.allSatisfy { $0.elementsEqual("OK".utf8) || $0.starts(with: "OK ".utf8) }
    }

    private static func lines(_ result: ChildProcess.Ending) -> [ArraySlice<UInt8>] {
        result.output.split(separator: UInt8(ascii: "\n"))
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)  // An array that grows leaves copies behind.
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let code = try? Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self))
            {
                result += code
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
