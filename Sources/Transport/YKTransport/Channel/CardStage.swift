// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

/// A step between a command and the link; each stage calls the one below it.
package protocol CardStage: AnyObject {
    /// Turns one command into exchanges of the stage below, and their replies into one reply.
    func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU
}

/// The lowest stage: encodes a command in short or extended form, and on 6Cxx repeats it once with the Le that the card
/// requests (ISO 7816-4 §5.1.3).
package final class EncodingStage: CardStage {
    package let link: any CardLink
    package var form: APDU.Form = .short
    /// The number of exchanges.
    package private(set) var exchanges = 0

    package init(link: any CardLink) { self.link = link }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        let response = try exchange(command, deadline: deadline)
        guard let length = response.status.correctLe, response.data.isEmpty, command.le != .none, !command.isProtected
        else {
            return response
        }
        var corrected = command
        corrected.le = .bytes(UInt16(truncatingIfNeeded: length))
        return try exchange(corrected, deadline: deadline)
    }

    private func exchange(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        let bytes: [UInt8]
        do { bytes = try command.encoded(form) } catch { throw .tooLong(during: command.label) }
        exchanges += 1
        let reply = try lift(CardError.link) { () throws(LinkError) in
            try deadline.check(command.label)
            return try link.exchange(bytes, deadline: deadline)
        }
        return try lift({ CardError.link(.malformed($0)) }) { () throws(WireError) in
            try ResponseAPDU(decoding: reply)
        }
    }
}

extension APDU {
    /// Whether it carries a secure channel's MAC, and so cannot be repeated.
    package var isProtected: Bool { cla & 0x04 != 0 }

    /// The header in hexadecimal, as the name of a command without a better one.
    package var label: String { "command \(Hex.encode([cla, ins, p1, p2]))" }
}

/// Sends commands through a secure channel once one is open in the selected application. It is above the chaining
/// stages, because a MAC covers whole commands and whole replies (GlobalPlatform Amendment D §6.2).
package final class ProtectionStage: CardStage {
    private let next: any CardStage
    private let encoding: EncodingStage
    /// The secure channel, if one is required.
    package var protection: (any ChannelProtection)?

    package init(next: any CardStage, encoding: EncodingStage) {
        self.next = next
        self.encoding = encoding
    }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        guard let protection else { return try next.send(command, deadline: deadline) }
        let protected = try protection.protect(command, encoding.form)
        do { return try protection.unprotect(try next.send(protected, deadline: deadline)) } catch {
            // It is unknown whether the card received the command, and so the channel's state is unknown too.
            protection.end()
            throw error
        }
    }
}

/// Splits a command whose data is too long into several commands, all but the last with class bit 0x10 (ISO 7816-4
/// §5.3.3). Switches to the short form when the card refuses the first extended command with 6700, or, for a command that
/// may be repeated, when its exchange breaks off (``takesShortForm()``).
package final class CommandChaining: CardStage {
    private let next: EncodingStage
    /// The longest extended command APDU that card and reader accept, in bytes.
    package var extendedLimit = 3062

    /// Whether an extended command has been accepted; until then 6700 or a broken exchange can mean that the card, or its
    /// reader, supports only the short form.
    /// SELECT proves nothing: some cards accept it in extended form, and no other command.
    private var isExtendedProven = false

    package init(next: EncodingStage) { self.next = next }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        let response = try sendParts(of: command, deadline: deadline)
        guard response.status == .wrongLength else {
            isExtendedProven = isExtendedProven || next.form == .extended && !command.isSelect
            return response
        }
        return takesShortForm() ? try sendParts(of: command, deadline: deadline) : response
    }

    /// Switches to the short form unless an extended command has been accepted, and returns whether it did.
    func takesShortForm() -> Bool {
        guard next.form == .extended, !isExtendedProven else { return false }
        next.form = .short
        return true
    }

    private func sendParts(of command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        let limit = next.form == .short ? APDU.shortDataLimit : max(APDU.shortDataLimit, extendedLimit - 9)
        var rest = command.data[...]
        while rest.count > limit {
            let block = APDU(
                cla: command.cla | 0x10, ins: command.ins, p1: command.p1, p2: command.p2,
                data: Array(rest.prefix(limit)), le: .none)
            let response = try next.send(block, deadline: deadline)
            guard response.status == .ok else { return response }
            rest = rest.dropFirst(limit)
        }
        var last = command
        last.data = Array(rest)
        return try next.send(last, deadline: deadline)
    }
}

extension APDU {
    /// Whether it selects an application by name; CALCULATE ALL of OATH has the same instruction.
    fileprivate var isSelect: Bool { ins == ISO7816.select && p1 == 0x04 }
}

/// Collects a reply that ends with 61xx by requesting the rest (ISO 7816-4 §11.5.1), with limits on rounds and bytes.
///
/// xx is not trusted as a length: CanoKey 3.0 answers 61FF for "more, of any length". Le is always sent, because
/// without it that firmware repeats 61xx for ever. It is xx only once a card has sent no data for the largest Le, which
/// smartcard-app-openpgp 0.4.0 takes for none.
package final class ResponseChaining: CardStage {
    private let next: any CardStage
    /// The instruction that requests the rest: GET RESPONSE, or the application's own.
    package var continuation = ISO7816.getResponse
    /// The maximum number of rounds for one reply.
    package var roundLimit = 1024
    /// The maximum size of one reply, in bytes.
    package var byteLimit = 256 * 1024
    /// Whether the card sends data only for the length that it announced.
    private var needsLength = false

    package init(next: any CardStage) { self.next = next }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        var response = try next.send(command, deadline: deadline)
        guard response.status.bytesRemaining != nil else { return response }
        var collected = response.data
        for _ in 0..<roundLimit {
            let left = response.status.bytesRemaining ?? 0
            let length = needsLength && left > 0 ? APDU.Le.bytes(UInt16(clamping: left)) : .max
            let more = APDU(cla: command.isProtected ? 0 : command.cla & ~0x10, ins: continuation, le: length)
            response = try next.send(more, deadline: deadline)
            collected += response.data
            guard response.status.bytesRemaining != nil else {
                return ResponseAPDU(response.status, data: collected)
            }
            if response.data.isEmpty, length == .max, left > 0, !needsLength {
                needsLength = true
                continue
            }
            guard !response.data.isEmpty, collected.count <= byteLimit else { break }
        }
        throw .endlessReply(during: command.label)
    }
}

/// The replies that the selected application would repeat, so that no question is asked twice.
///
/// Only what the vocabulary calls repeatable is kept (`CardVocabulary.persistence`), never a reply with secrets,
/// and nothing beyond the next command that may change it. The channel forgets everything when the card is released.
struct ReplyMemory {
    private var vocabulary: (any CardVocabulary.Type)?
    private var replies: [APDU: ResponseAPDU] = [:]

    /// The replies worth keeping: success, and that something does not exist.
    private static let kept: Set<StatusWord> = [.ok, .notFound, .referenceNotFound, .unknownInstruction]

    /// Forgets everything; the next commands are for this application.
    mutating func select(_ applet: AID?) {
        replies = [:]
        vocabulary = applet.flatMap(CardVocabularies.applications.application)
    }

    /// Forgets all replies.
    mutating func forget() { replies = [:] }

    /// Returns the reply that the card would repeat.
    func reply(to command: APDU) -> ResponseAPDU? { replies[command] }

    /// Forgets what a command that is about to be sent may change.
    mutating func forget(before command: APDU) {
        guard let vocabulary else { return }
        if case .read = vocabulary.effect(of: command) { return }
        let changesContent = vocabulary.changesContent(command)
        replies = replies.filter { !changesContent && vocabulary.persistence(of: $0.key) == .content }
    }

    /// Keeps a reply if the card would repeat it.
    mutating func keep(_ reply: ResponseAPDU, to command: APDU) {
        guard let vocabulary, vocabulary.persistence(of: command) != nil, Self.kept.contains(reply.status),
            vocabulary.secrets(inReply: reply.data, to: command, data: command.data).isEmpty
        else { return }
        replies[command] = reply
    }
}

/// Sends a dummy command before each command that follows a long reply: a YubiKey 4 with firmware 4.2.0 to 4.2.6 in a
/// USB port would otherwise miss a touch (ykman 5.9.2 does the same within two seconds).
package final class TouchQuirk: CardStage {
    private let next: any CardStage
    /// Whether this key has the quirk.
    package var isEnabled = false
    private var wasLong = false

    /// The longest reply that does not trigger the quirk, in bytes.
    private static let longest = 54

    package init(next: any CardStage) { self.next = next }

    /// Whether this firmware version has the quirk.
    package static func affects(_ firmware: FirmwareVersion) -> Bool {
        firmware >= FirmwareVersion(4, 2, 0) && firmware <= FirmwareVersion(4, 2, 6)
    }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        if isEnabled, wasLong { _ = try next.send(APDU(ins: 0), deadline: deadline) }
        wasLong = false
        let response = try next.send(command, deadline: deadline)
        wasLong = response.data.count > Self.longest
        return response
    }
}
