// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKHardware
import YKKeys
import YKNFC
import YKTransport
import YKVirtualKey
import YKWire

extension Run {
    /// Reads the selected tag. Waits for a tag until the timeout; if it is removed too early, waits for it again and
    /// starts over.
    func readTag() async throws -> (content: TagContent, identity: CardIdentity) {
        guard replay == nil, !isVirtual else { return try await readTagOnce() }
        let deadline = environment.deadline()
        var loss: (any Error)?
        while true {
            guard let reader = try waitForTag(deadline, isBack: loss != nil) else { throw loss ?? Self.noTag }
            keys.choose(reader: reader)
            do { return try await readTagOnce() } catch {
                guard meansTagLost(error), !deadline.isOver else { throw error }
                loss = Explanation(error)
            }
        }
    }

    /// No key was held to the reader.
    private static let noTag = Explanation(
        "no-tag", .timeOut, "no tag was presented to the reader in time",
        hint: "repeat the command and hold the key to the reader; --timeout SECONDS waits longer")

    /// Reads the tag once. A virtual key is moved to a virtual contactless reader, since a key in a USB port has no
    /// tag.
    private func readTagOnce() async throws -> (content: TagContent, identity: CardIdentity) {
        keys.software?.layOnReader()
        let service = try await open(TagService.self)
        return (try await service.content(), await service.identity)
    }

    /// Returns the reader with a tag, preferring contactless ones; `nil` on timeout.
    private func waitForTag(_ deadline: Deadline, isBack: Bool) throws -> String? {
        var hasAsked = false
        while true {
            let now = try keys.readers()
            guard !now.isEmpty else { throw LinkError.noReader }
            if let found = try? keys.selection.filled(now) {
                let contactless = found.filter { (try? ATR(decoding: $0.atr))?.contactless != nil }
                if options.device == nil, let only = contactless.first, contactless.count == 1 { return only.name }
                return try keys.readerName()
            }
            if !hasAsked {
                terminal.say(isBack ? "the tag was lost; hold it still on the reader" : "hold the key to the reader")
            }
            hasAsked = true
            do throws(LinkError) { _ = try PCSC.readers(otherThan: now, deadline: deadline) } catch {
                guard case .timedOut = error else { throw error }
                return nil
            }
            if deadline.isOver { return nil }
        }
    }
}

/// Whether a tag was removed during an operation, so that it may return soon.
private func meansTagLost(_ error: any Error) -> Bool {
    switch error {
    case let error as TagError:
        switch error {
        case .lost, .card(.link(.unresponsive)), .card(.link(.noCard)): true
        default: false
        }
    case KeyError.link(let error):
        switch error {
        case .removed, .noCard, .unresponsive: true
        default: false
        }
    default: false
    }
}
