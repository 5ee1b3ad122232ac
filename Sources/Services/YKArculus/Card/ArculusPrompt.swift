// SPDX-License-Identifier: Apache-2.0

/// What the person with the card should be told.
public enum ArculusPrompt: Hashable, Sendable {
    /// The card is talked to: hold it steady.
    case holdSteady
    /// The card was lost: the same one is wanted again, once.
    case holdAgain
    /// The card can be taken away.
    case done
}
