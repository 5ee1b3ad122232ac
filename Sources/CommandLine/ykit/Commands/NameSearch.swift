// SPDX-License-Identifier: Apache-2.0

// This file must not import YKWire, whose `contains` compares bytes: names are typed by people, and the composed and the
// decomposed spelling of a letter are the same to them.

extension String {
    /// Whether a part of a name that a person typed stands in it, in any letter case and either Unicode spelling.
    func mentions(_ part: String) -> Bool { lowercased().contains(part.lowercased()) }
}
