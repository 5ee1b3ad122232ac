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
