// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The variations that a test makes: with YKIT_TEST_ALL=1, as in `tools/test all`, all of them at each place, otherwise a third,
/// the next place the next third.
package enum Variations {
    /// Whether all are made.
    package static let areAll = ProcessInfo.processInfo.environment["YKIT_TEST_ALL"] == "1"
    private static let shares = 3

    /// Those that a place gets, of which the first has the number 0.
    package static func made<Variation>(of variations: [Variation], at place: Int) -> [Variation] {
        if areAll { return variations }
        return variations.enumerated().filter { ($0.offset + place) % shares == 0 }.map(\.element)
    }
}
