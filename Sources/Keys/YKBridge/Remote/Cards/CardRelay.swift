// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

/// The card that a far end sees, as a value without input and output: chained commands are put together before anything is
/// decided about them, and long replies are handed out in the pieces that were asked for.
package struct CardRelay: Sendable {
    /// What a message of the far end comes to.
    package enum Step: Hashable, Sendable {
        /// It is answered at once.
        case answer([UInt8])
        /// Power is cut, given, or the card is reset: the session of the application is over.
        case powered
        /// A whole command, and what becomes of it.
        case command(CardVerdict)
    }

    /// The longest command of several parts, in bytes: more than any key takes.
    static let commandLimit = 4096
    /// The largest piece of a reply to a command with an extended length.
    static let pieceLimit = CTAPHID.messageLimit - 2

    private let filter: CardFilter
    /// The selected application.
    package private(set) var selected: RemoteApplication?
    /// The parts of a command that have come.
    private var parts: APDU?
    /// What is left of a reply, and the status word at its end.
    private var rest: (data: ArraySlice<UInt8>, status: StatusWord)?
    /// How much of the reply the command under way asked for.
    private var wanted = 256

    /// Creates a card that is not powered.
    package init(_ filter: CardFilter) { self.filter = filter }

    /// Takes a message: one byte for power and reset, as vpcd has it, or a command APDU in any form.
    package mutating func take(_ message: [UInt8]) -> Step {
        if message.count == 1 {
            end()
            return .powered
        }
        guard var command = try? APDU(decoding: message) else { return answer(.wrongLength) }
        wanted = Self.size(command.le, isExtended: message.count > 6 && message[4] == 0)
        let isContinuation = [ISO7816.getResponse, selected?.vocabulary.continuation].contains(command.ins)
        if command.cla == 0, isContinuation, command.data.isEmpty { return next() }
        rest = nil
        if command.cla & 0x10 != 0 { return chain(command) }
        if let parts {
            self.parts = nil
            guard Self.isPart(command, of: parts) else { return answer(.lastOfChainExpected) }
            command.data = parts.data + command.data
            guard command.data.count <= Self.commandLimit else { return answer(.wrongLength) }
        }
        return .command(filter.verdict(on: command, selected: selected))
    }

    /// The application is selected; `nil` if none is.
    package mutating func select(_ application: RemoteApplication?) { selected = application }

    /// Forgets all that belongs to a session of an application.
    package mutating func end() { (selected, parts, rest) = (nil, nil, nil) }

    /// Returns the first piece of a reply, as much as was asked for.
    package mutating func reply(_ response: ResponseAPDU) -> [UInt8] {
        rest = (response.data[...], response.status)
        return piece()
    }

    // MARK: pieces

    private static func size(_ le: APDU.Le, isExtended: Bool) -> Int {
        switch le {
        case .bytes(let count): min(Int(count), pieceLimit)
        case .max: isExtended ? pieceLimit : 256
        case .none: 256
        }
    }

    private mutating func next() -> Step {
        parts = nil
        return rest == nil ? answer(.conditionsNotSatisfied) : .answer(piece())
    }

    private mutating func piece() -> [UInt8] {
        guard let (data, status) = rest else { return [] }
        let piece = data.prefix(wanted)
        let left = data.count - piece.count
        guard left > 0 else {
            rest = nil
            return ResponseAPDU(status, data: Array(piece)).encoded
        }
        rest = (data.dropFirst(piece.count), status)
        return ResponseAPDU(StatusWord(0x6100 | UInt16(left < 256 ? left : 0)), data: Array(piece)).encoded
    }

    private mutating func chain(_ part: APDU) -> Step {
        var whole = part
        whole.cla &= ~0x10
        if let parts {
            guard Self.isPart(whole, of: parts) else {
                self.parts = nil
                return answer(.lastOfChainExpected)
            }
            whole.data = parts.data + part.data
        }
        guard whole.data.count <= Self.commandLimit else {
            parts = nil
            return answer(.wrongLength)
        }
        parts = whole
        return answer(.ok)
    }

    private static func isPart(_ command: APDU, of whole: APDU) -> Bool {
        command.cla == whole.cla && command.ins == whole.ins && command.parameters == whole.parameters
    }

    private func answer(_ status: StatusWord) -> Step { .answer(ResponseAPDU(status).encoded) }
}

extension StatusWord {
    /// 6883: the last command of a chain is expected.
    static let lastOfChainExpected = StatusWord(0x6883)
}
