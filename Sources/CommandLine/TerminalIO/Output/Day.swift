// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A day of the Gregorian calendar in ISO 8601 notation.
package enum Day {
    /// The day of a time in seconds since 1970, in UTC.
    package static func text(_ seconds: Int64) -> String { UTCDate(seconds: seconds).description }
}
