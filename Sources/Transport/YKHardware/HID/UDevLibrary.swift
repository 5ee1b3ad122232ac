// SPDX-License-Identifier: Apache-2.0

/// The functions used from libudev, as a table: filled at run time by the real library, in tests by their own.
struct UDevLibrary: Sendable {
    /// Starts to monitor hidraw and USB devices; `nil` when that is not possible.
    var monitor: @Sendable (Source) -> UDevMonitor?

    /// The source of events.
    enum Source: String, Sendable {
        /// The udev daemon, after its rules were applied.
        case daemon = "udev"
        /// The kernel itself.
        case kernel
    }
}

/// An active libudev monitor.
struct UDevMonitor: Sendable {
    /// Becomes readable when there is an event.
    let descriptor: Int32
    /// Removes one event; returns false when there is none.
    let take: @Sendable () -> Bool
    /// Ends the monitor.
    let close: @Sendable () -> Void
}
