// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The operating system's time of day.
public struct SystemClock: WallClock {
    /// Creates a clock.
    public init() {}

    /// Seconds since 1970-01-01 00:00 UTC.
    public var now: Int64 { Int64(time(nil)) }
}
