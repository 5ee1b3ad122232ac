// SPDX-License-Identifier: Apache-2.0

/// What a program asks of a bridged card, as far as it can be known without the card.
public enum Ceremony: Hashable, Sendable {
    /// A credential is created for a site, named by its relying party ID, and a user.
    case register(site: String, user: String?)
    /// A credential of a site signs in, or derives a secret.
    case signIn(site: String)
    /// A credential of a site derives a secret, in a remote bridge.
    case deriveSecret(site: String)
    /// A U2F credential is created; the message has only the hash of the site's name.
    case registerU2F
    /// A U2F credential signs in; the message has only the hash of the site's name.
    case signInU2F
    /// A program asks which of several keys is to be used.
    case select
    /// The card is to be reset: all credentials are deleted.
    case reset
    /// The PIN is set, changed or verified.
    case pin
    /// Anything else, such as listing credentials.
    case manage
}

/// What a ceremony waits for.
public enum BridgeWait: Hashable, Sendable {
    /// There is no card: one has to be laid on a reader, or inserted.
    case card
    /// The card was removed during the ceremony and has to be put back.
    case cardBack
    /// The card lies there since an earlier ceremony, or for too long: it has to be lifted and laid down again.
    case lift(reader: String)
    /// The user has to confirm that a card with contacts may be used.
    case confirmation(reader: String)
    /// Another program uses the card.
    case otherProgram(reader: String)
}
