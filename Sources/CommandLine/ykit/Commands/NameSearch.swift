// SPDX-License-Identifier: Apache-2.0

// This file must not import YKWire, whose `contains` compares bytes: people type names, and composed and decomposed
// spellings of a letter must match.

extension String {
    /// Whether the text contains part of a name as typed by a person, ignoring case and Unicode normalization.
    func mentions(_ part: String) -> Bool { lowercased().contains(part.lowercased()) }
}
