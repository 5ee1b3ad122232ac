// SPDX-License-Identifier: Apache-2.0

/// An instruction for the user with the card.
public enum ArculusPrompt: Hashable, Sendable {
    /// The card is in use: hold it steady.
    case holdSteady
    /// The card was lost: present the same one again, once.
    case holdAgain
    /// The card can be removed.
    case done
}
