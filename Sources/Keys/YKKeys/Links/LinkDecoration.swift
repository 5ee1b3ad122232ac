// SPDX-License-Identifier: Apache-2.0

public import YKCapture
package import YKTransport

/// The decorators between a program and each link that is opened; by default there are none.
public struct LinkDecoration: Sendable {
    /// Records the traffic, with secrets overwritten.
    public var recorder: Recorder?
    /// Logs the traffic, with secrets overwritten.
    public var log: TrafficLog?
    /// Collects the commands of an operation, and sends only those that do not change the key.
    public var plan: ExchangePlan?
    /// Called when a FIDO application has waited for its user for ``TouchReason/delay``. It must not block.
    public var touchPrompt: (@Sendable (TouchReason) -> Void)?
    /// Called when the wait announced by ``touchPrompt`` ends. It must not block.
    public var touchEnd: (@Sendable () -> Void)?
    /// Called when a HID device that is to be opened is in use by these programs for a while. It must not block.
    package var waiting: (@Sendable ([LinkError.Holder]) -> Void)?
    /// The implementation of the wait for ``TouchReason/delay``.
    package var alarm = Alarm.threads

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

    /// Wraps a card link with recorder and log.
    func card(_ link: sending any CardLink) throws(KeyError) -> sending any CardLink {
        guard let recorder else { return logged(link) }
        let recorded: any CardLink
        do { recorded = try recorder.recording(link) } catch { throw .link(error) }
        return logged(recorded)
    }

    /// Wraps a card link with the log.
    package func logged(_ link: sending any CardLink) -> sending any CardLink {
        guard let log else { return link }
        return LoggingLink(link, log)
    }

    /// Wraps a HID link with recorder and log.
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

    /// Wraps a FIDO link with the touch prompt.
    package func prompting(_ link: sending any FIDOLink) -> sending any FIDOLink {
        guard let touchPrompt else { return link }
        return PromptingLink(link, alarm, touchPrompt, end: touchEnd ?? {})
    }

    /// Wraps a card link with the plan.
    func planned(_ link: sending any CardLink) -> sending any CardLink {
        guard let plan else { return link }
        return PlanningLink(link, plan)
    }

    /// Wraps a FIDO link with the plan.
    package func planned(_ link: sending any FIDOLink) -> sending any FIDOLink {
        guard let plan else { return link }
        return PlanningFIDOLink(link, plan)
    }

    /// Wraps an OTP link with the plan.
    func planned(_ link: sending any OTPLink) -> sending any OTPLink {
        guard let plan else { return link }
        return PlanningOTPLink(link, plan)
    }
}
