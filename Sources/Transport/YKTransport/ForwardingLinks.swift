// SPDX-License-Identifier: Apache-2.0

package import YKWire

// A link around another one implements only what it changes; these protocols forward everything else, so that every
// decorator forwards new members of a link protocol automatically.

/// A card link that wraps another one.
package protocol ForwardingCardLink: CardLink {
    /// The link that commands are forwarded to.
    var link: any CardLink { get }
}

extension ForwardingCardLink {
    package var identity: CardIdentity { link.identity }
    package var resetsOnRelease: Bool {
        get { link.resetsOnRelease }
        set { link.resetsOnRelease = newValue }
    }
    package var resetsWhenShared: Bool {
        get { link.resetsWhenShared }
        set { link.resetsWhenShared = newValue }
    }
    package func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        try link.exchange(command, deadline: deadline)
    }
    package func begin(deadline: Deadline) throws(LinkError) -> Bool { try link.begin(deadline: deadline) }
    package func end() { link.end() }
    package func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        try link.reset(kind, deadline: deadline)
    }
    package func close() { link.close() }
}

/// A HID link that wraps another one.
package protocol ForwardingReportLink: ReportLink {
    /// The device that reports are forwarded to.
    var link: any ReportLink { get }
}

extension ForwardingReportLink {
    package var identity: ReportIdentity { link.identity }
    package func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        try link.write(report, deadline: deadline)
    }
    package func read(deadline: Deadline) throws(LinkError) -> [UInt8] { try link.read(deadline: deadline) }
    package func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        try link.setFeature(report, deadline: deadline)
    }
    package func feature(deadline: Deadline) throws(LinkError) -> [UInt8] { try link.feature(deadline: deadline) }
    package func rest() { link.rest() }
    package func close() { link.close() }
}

/// A FIDO link that wraps another one.
package protocol ForwardingFIDOLink: FIDOLink {
    /// The link that messages are forwarded to.
    var link: any FIDOLink { get }
}

extension ForwardingFIDOLink {
    package var environment: ServiceEnvironment { link.environment }
    package var profile: FIDOLinkProfile { link.profile }
    package var generation: Int { link.generation }
    package func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        try link.call(command, payload, deadline: deadline, keepalive: keepalive)
    }
    package func rest() { link.rest() }
    package func close() { link.close() }
}

/// An OTP link that wraps another one.
package protocol ForwardingOTPLink: OTPLink {
    /// The link that commands are forwarded to.
    var link: any OTPLink { get }
}

extension ForwardingOTPLink {
    package var environment: ServiceEnvironment { link.environment }
    package var carrier: OTPCarrier { link.carrier }
    package func status(deadline: Deadline) throws(OTPLinkError) -> OTPStatus { try link.status(deadline: deadline) }
    package func query(
        _ command: OTPCommand, _ payload: [UInt8], reply: OTPReplySize, deadline: Deadline, waiting: () -> Void
    ) throws(OTPLinkError) -> [UInt8] {
        try link.query(command, payload, reply: reply, deadline: deadline, waiting: waiting)
    }
    package func write(
        _ command: OTPCommand, _ payload: [UInt8], deadline: Deadline
    ) throws(OTPLinkError) -> OTPStatus { try link.write(command, payload, deadline: deadline) }
    package func rest() { link.rest() }
    package func close() { link.close() }
}
