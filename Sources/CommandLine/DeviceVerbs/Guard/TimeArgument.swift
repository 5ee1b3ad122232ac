// SPDX-License-Identifier: Apache-2.0

import Arguments

/// A time as people type it: `90`, `90s`, `5m`, `2h`.
struct TimeArgument: ExpressibleByArgument, Hashable {
    /// The number of seconds.
    let seconds: Int

    init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
        let unit = argument.last.flatMap { units[$0] }
        let number = unit == nil ? argument : String(argument.dropLast())
        guard let count = Int(number), count >= 0, String(count) == number else { return nil }
        let (seconds, isTooLong) = count.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLong else { return nil }
        self.seconds = seconds
    }
}
