// SPDX-License-Identifier: Apache-2.0

import YKCapture
package import YKHardware
import YKSecrets
import YKSecureChannel
package import YKTransport
import YKVirtualKey

/// The route to the selected card.
package enum CardRoute: Sendable, Hashable {
    /// A reader of the smart card service.
    case reader(String)
    /// A USB reader, without the service.
    case usb(USBDevice)

    /// The reader's name, or the USB port.
    package var name: String {
        switch self {
        case .reader(let name): name
        case .usb(let device): device.usbPath
        }
    }
}

extension KeyRing {
    /// Finds the card: as selected; otherwise through the smart card service, or on USB when the service has no reader.
    package func cardRoute() throws(KeyError) -> CardRoute {
        if let path = target.path { return try cardRoute(at: path) }
        switch target.transport {
        case .pcsc: return .reader(try readerName())
        case .usb: return .usb(try usbReader(of: usbReaders(isFree: false)))
        case .auto, .hid: break
        }
        do throws(KeyError) { return .reader(try readerName()) } catch {
            guard target.reader == nil, error.isAbsenceOfCards else { throw error }
            let isServiceMissing = error.link?.isServiceMissing ?? false
            let devices = usbReaders(isFree: !isServiceMissing)
            guard !devices.isEmpty else {
                guard isServiceMissing, let cause = error.link else { throw error }
                throw .none(.usbReader, .serviceFailed(cause))
            }
            do throws(KeyError) { return .usb(try usbReader(of: devices)) } catch .notFound { throw error }
        }
    }

    private func cardRoute(at path: String) throws(KeyError) -> CardRoute {
        let isDirect = target.transport == .usb
        let key = try device(at: path, asking: !isDirect)
        if let reader = key.reader, !isDirect { return .reader(reader.name) }
        if let device = key.usbReader { return .usb(device) }
        throw .noCard(path: path)
    }

    /// The reader with the selected key; several are distinguished by serial number.
    package func readerName() throws(KeyError) -> String {
        let found = try lifting { () throws(LinkError) in try target.filled(try readers()) }
        do throws(KeyError) {
            return try target.one(of: found, over: .reader) { reader in
                let details = try? details(reader: reader.name)
                return KeyCandidate(.reader, at: reader.name, name: details?.name, serial: details?.serial)
            }.name
        } catch .notFound(let serial, let interface, let candidates) {
            // A key may not report its serial number because another program holds it.
            for candidate in candidates where candidate.serial == nil { try checkHolder(of: candidate.location) }
            throw .notFound(serial: serial, interface, candidates)
        }
    }

    /// The USB reader with the selected key.
    private func usbReader(of all: [USBDevice]) throws(KeyError) -> USBDevice {
        let found = all.filter { target.isReader(named: $0.readerName) }
        if let reader = target.reader, found.isEmpty, !all.isEmpty { throw .link(.unknownReader(reader)) }
        return try target.one(of: found, over: .usbReader) { device in
            KeyCandidate(.usbReader, at: device.usbPath, name: device.readerName, serial: serial(of: device))
        }
    }

    // MARK: opening

    /// Opens the selected card as a channel for a service; a plan withholds commands that change the key.
    ///
    /// - Parameter timeout: Timeout for an operation, instead of the environment's.
    package func channel(timeout: Duration? = nil) throws(KeyError) -> sending CardChannel {
        guard target.transport != .hid else { throw .cardRequired }
        var environment = environment
        if let timeout { environment.timeout = timeout }
        return channel(over: decoration.planned(try card()), environment)
    }

    /// Opens the card, or the HID interface of a key whose card cannot be reached, as a channel for the Secrets
    /// application; a plan withholds commands that change the key.
    func secretsChannel() throws(KeyError) -> sending CardChannel {
        if target.transport != .hid, replay?.capture.header.link != .hid {
            do throws(KeyError) { return try channel() } catch {
                guard target.transport == .auto, target.reader == nil, error.isAbsenceOfCards || error.isNone,
                    case .reports? = try? fidoRoute()
                else { throw error }
            }
        }
        guard case .reports(let path) = try fidoRoute() else { return try channel() }
        return SecretsTunnel.channel(over: decoration.planned(SecretsTunnel(try hidFIDOLink(path))), environment)
    }

    /// Opens a channel over a card link, with a secure channel if one is configured. A plan opens no secure channel: it
    /// shows commands before they are protected.
    func channel(over link: sending any CardLink, _ environment: ServiceEnvironment) -> sending CardChannel {
        let channel = CardChannel(link: link, environment: environment)
        channel.isPlanned = decoration.plan != nil
        if let secureChannel, !channel.isPlanned {
            channel.protect(with: SecureChannel(secureChannel, environment: environment))
        }
        protectWhereRequired(channel, environment)
        return channel
    }

    /// Opens the selected card, with log and recorder.
    ///
    /// - Parameter isRecorded: Whether the recorder notes what is exchanged.
    package func card(isRecorded: Bool = true) throws(KeyError) -> sending any CardLink {
        let link: any CardLink
        switch source {
        case .recording(let replay):
            let recorded = replay.capture.header.link
            guard recorded == .card else { throw .recordedLink(recorded.rawValue) }
            link = replay.link()
        case .virtual(let key, let faults):
            link = faults.rules.isEmpty ? key.link() : FaultyLink(key.link(), plan: faults)
        case .machine:
            let route = try cardRoute()
            let deadline = environment.deadline()
            do {
                switch route {
                case .reader(let name): link = try hardware.connect(reader: name, deadline: deadline)
                case .usb(let device): link = try hardware.connect(device, deadline: deadline)
                }
            } catch { throw .link(error) }
        }
        return isRecorded ? try decoration.card(link) : decoration.logged(link)
    }
}

extension KeyError {
    /// Whether the smart card service cannot provide the key: it is absent, or has no such reader or card.
    fileprivate var isAbsenceOfCards: Bool {
        switch self {
        case .notFound, .link(.serviceNotInstalled), .link(.serviceNotRunning), .link(.serviceMismatch),
            .link(.noReader),
            .link(.noCard):
            true
        default: false
        }
    }

    /// Whether no key was found at all.
    fileprivate var isNone: Bool { if case .none = self { true } else { false } }
}

extension LinkError {
    /// Whether the smart card service is missing.
    var isServiceMissing: Bool { self == .serviceNotInstalled || self == .serviceNotRunning }
}
