// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKProtocols
import YKTransport
import YKWire

/// A FIDO card in a reader. The connection stays open and the card powered until it is removed, since powering it off
/// would reset its counters, such as the one for consecutive wrong PINs. Other programs are locked out while it
/// processes a message, and from a key agreement to the end of the ceremony, since their SELECT would end that.
final class BridgedCard {
    private let link: CardFIDOLink
    private var isHeld = false
    /// Whether a ceremony of several messages has begun.
    private var isInCeremony = false
    /// The session, counted by the selections of the application, in which the key agreement took place.
    private var agreement: Int?
    /// The session in which an enumeration began.
    private var enumeration: Int?

    /// The reply to a request.
    struct Reply: Sendable {
        /// The outcome of a request.
        enum Outcome: Sendable {
            /// The card's answer.
            case answered([UInt8])
            /// The link failed, or the card refused.
            case failed(FIDOLinkError)
            /// The session that the request relies on is over; nothing was sent.
            case stale
        }

        var outcome: Outcome
        /// Whether other programs are still locked out.
        var isHeld: Bool
    }

    /// Selects the FIDO application.
    init(_ channel: sending CardChannel) throws(FIDOLinkError) { link = try CardFIDOLink(channel) }

    /// Reads the card's description, and lets other programs use the card.
    func describe(isContactless: Bool, _ deadline: Deadline) throws(FIDOLinkError) -> CardDescription {
        defer { rest() }
        var info: [UInt8]?
        do throws(FIDOLinkError) {
            let answer = try link.call(.cbor, [CTAPProtocol.Command.getInfo], deadline: deadline) { _ in }
            if answer.first == CTAPProtocol.Status.ok { info = CardDescription.bridged(answer) }
        } catch { if error.link != nil { throw error } }
        return CardDescription(info: info, hasU2F: link.profile.hasU2F, isContactless: isContactless)
    }

    /// Sends a request. A PIN is sent only in the session of its key agreement; in another, the card would decrypt it
    /// to something else and count a wrong PIN.
    func answer(
        _ request: CardRequest, _ deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) -> Reply {
        let session = isHeld ? link.generation : nil
        if request.traits.contains(.encrypted), session == nil || session != agreement {
            return Reply(outcome: .stale, isHeld: isHeld)
        }
        if request.traits.contains(.continues), session == nil || session != enumeration {
            return Reply(outcome: .stale, isHeld: isHeld)
        }
        do throws(FIDOLinkError) {
            let answer = try link.call(
                request.message.command, request.payload, deadline: deadline, keepalive: keepalive)
            isHeld = true
            note(answer, to: request)
            if !isInCeremony { rest() }
            return Reply(outcome: .answered(answer), isHeld: isHeld)
        } catch {
            if error.link != nil || !isInCeremony { rest() }
            return Reply(outcome: .failed(error), isHeld: isHeld)
        }
    }

    /// Lets other programs use the card, and ends any ceremony in progress.
    func rest() {
        link.rest()
        (isHeld, isInCeremony, agreement, enumeration) = (false, false, nil, nil)
    }

    private func note(_ answer: [UInt8], to request: CardRequest) {
        guard !request.isU2F, answer.first == CTAPProtocol.Status.ok else { return }
        if request.traits.contains(.agrees) { (isInCeremony, agreement) = (true, link.generation) }
        if request.traits.contains(.signs) {
            isInCeremony = Self.hasMore(answer)
        } else if case .search = request.ceremony, Self.hasMore(answer) {
            isInCeremony = true
        }
        if !request.traits.contains(.continues) { enumeration = link.generation }
    }

    /// Whether more assertions can be requested.
    private static func hasMore(_ answer: [UInt8]) -> Bool {
        let map = (try? CBOR(decoding: Array(answer.dropFirst())))?.map
        return map?[CTAPProtocol.GetAssertion.Reply.numberOfCredentials]?.unsigned ?? 0 > 1
    }
}
