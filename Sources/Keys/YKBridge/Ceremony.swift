// SPDX-License-Identifier: Apache-2.0

/// What a program requests from a bridged card, as far as this is known without the card.
public enum Ceremony: Hashable, Sendable {
    /// A credential is created for a site, named by its relying party ID, and a user.
    case register(site: String, user: String?)
    /// A credential of a site signs in, or derives a secret.
    case signIn(site: String)
    /// Whether there is a credential of a site is found out, without the user; nothing of use is signed.
    case search(site: String)
    /// A credential of a site derives a secret, in a remote bridge.
    case deriveSecret(site: String)
    /// A U2F credential is created; the message has only the hash of the site's name.
    case registerU2F
    /// A U2F credential signs in; the message has only the hash of the site's name.
    case signInU2F
    /// A program asks the user to choose one of several keys.
    case select
    /// The card is to be reset: all credentials are deleted.
    case reset
    /// The PIN is set, changed or verified.
    case pin
    /// An application of a card is used, in a remote bridge.
    case card(CardUse)
    /// Anything else, such as listing credentials.
    case manage

    /// The site of a registration, a sign-in or a secret; `nil` if it is not known, and for anything else.
    package var site: String? {
        switch self {
        case .register(let site, _), .signIn(let site), .deriveSecret(let site): site
        case .search, .registerU2F, .signInU2F, .select, .reset, .pin, .card, .manage: nil
        }
    }
}

/// What a ceremony waits for.
public enum BridgeWait: Hashable, Sendable {
    /// There is no card: one must be laid on a reader or inserted.
    case card
    /// The card was removed during the ceremony and must be put back.
    case cardBack
    /// The card has been there since an earlier ceremony, or for too long: it must be lifted and laid down again.
    case lift(reader: String)
    /// The user must confirm the use of a contact card.
    case confirmation(reader: String)
    /// Another program uses the card.
    case otherProgram(reader: String)
}
