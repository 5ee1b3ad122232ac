// SPDX-License-Identifier: Apache-2.0

/// What is used of libudev, as a table: the real library fills it at run time, a test with its own.
struct UDevLibrary: Sendable {
    /// Starts to listen to what happens to hidraw and USB devices; `nil` when that cannot be.
    var monitor: @Sendable (Source) -> UDevMonitor?

    /// Who tells what happens.
    enum Source: String, Sendable {
        /// The udev daemon, after its rules were applied.
        case daemon = "udev"
        /// The kernel itself.
        case kernel
    }
}

/// A monitor of libudev that listens.
struct UDevMonitor: Sendable {
    /// Becomes readable when something has happened.
    let descriptor: Int32
    /// Takes one event out; false when there is none.
    let take: @Sendable () -> Bool
    /// Ends it.
    let close: @Sendable () -> Void
}
