// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Security keys through the kernel's hidraw nodes: FIDO authenticators of any vendor, and OTP keyboards.
public enum HIDRaw {
    /// Lists the FIDO authenticators and the OTP keyboards that are attached, also those that this user may not open;
    /// nothing is asked of them.
    ///
    /// Throws `failed` where there is no sysfs.
    public static func devices() throws(LinkError) -> [HIDDevice] { try HIDMachine().keys() }

    /// Opens a node such as `/dev/hidraw0` and locks it against other programs that do the same (flock(2)); nothing is
    /// sent to the device. A lock of another program is waited for until the deadline.
    ///
    /// Throws `noDevice`, `accessDenied`, `busy` with the programs that have it open, or `cancelled`.
    public static func open(_ path: String, deadline: Deadline) throws(LinkError) -> sending any ReportLink {
        try HIDRawLink.open(path, deadline)
    }

    /// Tells of devices that come and go, beginning with those that are there, until the stream is no longer read.
    /// Where the udev daemon runs an arrival is told when its rules have been applied.
    public static func watch() -> AsyncStream<HIDEvent> { HIDMachine(news: .here).watch() }
}
