// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Access to security keys through the kernel's hidraw nodes: FIDO authenticators of any vendor, and OTP keyboards.
public enum HIDRaw {
    /// Lists the attached FIDO authenticators and OTP keyboards, including those that this user may not open; nothing
    /// is sent to them.
    ///
    /// - Throws: `failed` when there is no sysfs.
    public static func devices() throws(LinkError) -> [HIDDevice] { try HIDMachine().keys() }

    /// Opens a node such as `/dev/hidraw0` and locks it against other programs that do the same (flock(2)); nothing is
    /// sent to the device. Waits until the deadline while another program holds the lock.
    ///
    /// - Throws: `noDevice`, `accessDenied`, `busy` with the programs that have it open, or `cancelled`.
    public static func open(_ path: String, deadline: Deadline) throws(LinkError) -> sending any ReportLink {
        try HIDRawLink.open(path, deadline)
    }

    /// Reports devices being attached and removed, starting with those already attached, until the stream is no longer
    /// read. With a running udev daemon a new device is reported after its rules have been applied.
    public static func watch() -> AsyncStream<HIDEvent> { HIDMachine(news: .here).watch() }

    /// The same on a thread of its own, for a process without tasks: Swift's pool wakes up once a second from the first
    /// task on.
    ///
    /// - Returns: What ends it; `nil` if the system has no descriptor or thread left.
    package static func follow(_ report: @escaping @Sendable (HIDEvent) -> Void) -> (@Sendable () -> Void)? {
        HIDMachine(news: .here).follow(report)
    }
}
