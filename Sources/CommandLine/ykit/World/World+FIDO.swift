// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKFIDO
import YKHardware
import YKTransport
import YKVirtualKey

extension World {
    /// The FIDO application of the key that is meant; what `reason` says is told with a question for the PIN.
    func openFIDO(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let source = PINSource(pin.source, reason: reason, terminal, isPlanned: plan != nil)
        pins = source
        var interaction = FIDOInteraction(pin: { source.pin($0) })
        interaction.hasPIN = source.isGiven
        return try await openFIDO(interaction)
    }

    /// The same for what waits for a touch anyway: among several keys a touch says which one is meant, where somebody
    /// is there to be asked.
    func openTouchedFIDO(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        do { return try await openFIDO(pin, for: reason) } catch let explanation as Explanation {
            guard explanation.exit == .severalDevices, terminal.isErrorTerminal, plan == nil else { throw explanation }
            touchedPath = try await touchedKey()
            return try await openFIDO(pin, for: reason)
        }
    }

    /// The FIDO application of the key that is meant, for what needs no PIN.
    func openFIDO(_ interaction: FIDOInteraction = FIDOInteraction()) async throws -> FIDOService {
        let service = try await FIDOService.open(try fido(), interaction: interaction)
        if options.strict {
            await service.setStrict(true)
            if await service.hasCTAP2 { _ = try await service.freshInfo() }
        }
        return service
    }

    /// The U2F of the key that is meant; nothing is asked about CTAP2.
    func openU2F() async throws -> FIDOService {
        var interaction = FIDOInteraction()
        interaction.usesU2FOnly = true
        return try await FIDOService.open(try fido(), interaction: interaction)
    }

    /// The FIDO application of the key at a node.
    func openFIDO(at path: String) async throws -> FIDOService {
        let link = try HIDFIDOLink(logged(try recordedReports(path)), environment: environment)
        return try await FIDOService.open(PromptingLink(link, terminal), interaction: FIDOInteraction())
    }

    /// The FIDO application of the card in a reader.
    func openFIDO(reader name: String) async throws -> FIDOService {
        tagReader = name
        let channel = CardChannel(link: try card(), environment: environment)
        return try await FIDOService.open(PromptingLink(try CardFIDOLink(channel), terminal))
    }

    /// Says what is about to be approved with a touch; a plan asks for none.
    func announce(_ what: String) {
        if plan == nil { terminal.say("to be approved: \(what)") }
    }

    /// A way to the FIDO application of the key that is meant: over HID where that is possible, else as a card; a
    /// recording over what it recorded.
    func fido() throws -> sending any FIDOLink {
        guard let plan else { return PromptingLink(try carrier(), terminal) }
        return PlanningFIDOLink(PromptingLink(try carrier(), terminal), plan: plan)
    }

    private func carrier() throws -> sending any FIDOLink {
        try checkRecording()
        guard case .reports(let path) = try fidoWay() else {
            return try CardFIDOLink(CardChannel(link: try card(), environment: environment))
        }
        return try HIDFIDOLink(logged(try recordedReports(path)), environment: environment)
    }

    /// The HID device at a path, recorded as asked for.
    func recordedReports(_ path: String?) throws -> sending any ReportLink {
        guard let recorder else { return try reports(path) }
        return try recorder.recording(try reports(path))
    }

    func logged(_ link: sending any ReportLink) -> sending any ReportLink {
        guard log.isOn else { return link }
        return LoggingReportLink(link: link, log: log)
    }

    private func reports(_ path: String?) throws -> sending any ReportLink {
        if let replay { return replay.reportLink() }
        if let software { return software.reportLink(faults: try Self.faults()) }
        return try HIDRaw.open(path ?? "", deadline: environment.deadline())
    }
}
