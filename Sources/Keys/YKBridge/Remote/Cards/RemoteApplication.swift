// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

/// An application of a card that programs at the far end may use, each only if the user names it.
public enum RemoteApplication: String, CaseIterable, Hashable, Sendable {
    /// PIV (NIST SP 800-73-4).
    case piv
    /// Yubico OATH (YKOATH).
    case oath
    /// OpenPGP card.
    case openpgp

    /// The name that SELECT gets here, whatever version the far end asked for.
    package var aid: AID {
        switch self {
        case .piv: .piv
        case .oath: .oath
        case .openpgp: .openPGP
        }
    }

    /// The names of its commands.
    var vocabulary: any CardVocabulary.Type {
        switch self {
        case .piv: PIVProtocol.self
        case .oath: OATHProtocol.self
        case .openpgp: OpenPGPProtocol.self
        }
    }
}

/// A use of an application for which the user is asked.
public enum CardUse: Hashable, Sendable {
    /// The PIN is verified, which is entered at the near end.
    case unlock(RemoteApplication)
    /// The PIV key in a slot (9A, 9C, 9D, 9E, 82 to 95) signs or deciphers, which a card does not distinguish.
    case pivKey(slot: UInt8)
    /// The PIV key in a slot agrees on a secret.
    case pivAgreement(slot: UInt8)
    /// The OpenPGP key signs.
    case openPGPSign
    /// The OpenPGP key deciphers.
    case openPGPDecrypt
    /// The OpenPGP key authenticates, for example to an SSH server.
    case openPGPAuthenticate
    /// The code of an account, by its name on the card.
    case code(account: String)
    /// The codes of all accounts.
    case allCodes
}

/// How long a far end may lock other programs here out of a card without a use that its user agreed to.
struct CardHold: Hashable, Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How long the card is free between two times, so that a program here that waits for it gets it.
    private static let gap = Duration.milliseconds(300)

    /// The longest time.
    private let longest: Duration
    private var since: Instant?
    private var free: Instant?
    private var isAgreed = false
    private var number = 0

    init(longest: Duration) { self.longest = longest }

    /// Begins to hold the card; returns how long it may last, and its number, unless it is held already or without a limit.
    mutating func begin(at now: Instant) -> (number: Int, time: Duration)? {
        guard since == nil else { return nil }
        since = now
        number += 1
        return isAgreed ? nil : (number, longest)
    }

    /// The user agreed to a use: the card is held for the session.
    mutating func agree() { isAgreed = true }

    /// The card is free.
    mutating func end(at now: Instant) {
        if let since, since.duration(to: now) > longest / 4 { free = now.advanced(by: Self.gap) }
        (since, isAgreed) = (nil, false)
    }

    /// Whether the time is over.
    func isOver(at now: Instant) -> Bool {
        guard let since, !isAgreed else { return false }
        return since.duration(to: now) >= longest
    }

    /// Whether the card is still held, with this number, without a use that the user agreed to.
    func isStill(_ number: Int) -> Bool { self.number == number && since != nil && !isAgreed }

    /// How long the card stays free before it is held again.
    func pause(at now: Instant) -> Duration? {
        guard since == nil, let free, free > now else { return nil }
        return now.duration(to: free)
    }
}
