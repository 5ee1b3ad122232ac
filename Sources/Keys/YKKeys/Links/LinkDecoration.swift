// SPDX-License-Identifier: Apache-2.0

public import YKCapture
package import YKTransport

/// What stands between a program and each link that is opened. Without anything, links are used as they are.
public struct LinkDecoration: Sendable {
    /// Records what passes, with secrets overwritten.
    public var recorder: Recorder?
    /// Logs what passes, with secrets overwritten.
    public var log: TrafficLog?
    /// Collects what would be sent, and sends only what does not change the key.
    public var plan: ExchangePlan?
    /// Called when a FIDO application has waited for its user for ``TouchReason/delay``. It must not block.
    public var touchPrompt: (@Sendable (TouchReason) -> Void)?
    /// Called when the wait is over that ``touchPrompt`` told of. It must not block.
    public var touchEnd: (@Sendable () -> Void)?

    /// Creates a decoration.
    public init(
        recorder: Recorder? = nil, log: TrafficLog? = nil, plan: ExchangePlan? = nil,
        touchPrompt: (@Sendable (TouchReason) -> Void)? = nil, touchEnd: (@Sendable () -> Void)? = nil
    ) {
        self.recorder = recorder
        self.log = log
        self.plan = plan
        self.touchPrompt = touchPrompt
        self.touchEnd = touchEnd
    }

    /// A card, recorded and logged.
    func card(_ link: sending any CardLink) throws(KeyError) -> sending any CardLink {
        guard let recorder else { return logged(link) }
        let recorded: any CardLink
        do { recorded = try recorder.recording(link) } catch { throw .link(error) }
        return logged(recorded)
    }

    /// A card, logged.
    func logged(_ link: sending any CardLink) -> sending any CardLink {
        guard let log else { return link }
        return LoggingLink(link, log)
    }

    /// A HID device, recorded and logged.
    func reports(_ link: sending any ReportLink) throws(KeyError) -> sending any ReportLink {
        guard let recorder else { return logged(link) }
        let recorded: any ReportLink
        do { recorded = try recorder.recording(link) } catch { throw .link(error) }
        return logged(recorded)
    }

    private func logged(_ link: sending any ReportLink) -> sending any ReportLink {
        guard let log else { return link }
        return LoggingReportLink(link, log)
    }

    /// A FIDO application whose waits are told.
    package func prompting(_ link: sending any FIDOLink) -> sending any FIDOLink {
        guard let touchPrompt else { return link }
        return PromptingLink(link, touchPrompt, end: touchEnd ?? {})
    }

    /// A card that a plan stands before.
    func planned(_ link: sending any CardLink) -> sending any CardLink {
        guard let plan else { return link }
        return PlanningLink(link, plan)
    }

    /// A FIDO application that a plan stands before.
    package func planned(_ link: sending any FIDOLink) -> sending any FIDOLink {
        guard let plan else { return link }
        return PlanningFIDOLink(link, plan)
    }

    /// An OTP application that a plan stands before.
    func planned(_ link: sending any OTPLink) -> sending any OTPLink {
        guard let plan else { return link }
        return PlanningOTPLink(link, plan)
    }
}
