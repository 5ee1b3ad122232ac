// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKFIDO
import YKHardware
import YKManagement
package import YKTransport
import YKVirtualKey

/// The route to the selected FIDO application.
package enum FIDORoute: Sendable, Hashable {
    /// As a HID device: the recorded one, the virtual key's, or the node at this path.
    case reports(path: String?)
    /// As a smart card.
    case card
}

/// The route to the selected OTP application.
enum OTPRoute: Sendable, Hashable {
    /// As a HID keyboard: the recorded one, the virtual key's, or the node at this path.
    case reports(path: String?)
    /// As a smart card.
    case card
}

// MARK: - FIDO

extension KeyRing {
    /// Finds the FIDO application: as selected, otherwise the only attached HID device, otherwise the only card.
    package func fidoRoute() throws(KeyError) -> FIDORoute {
        if let replay { return replay.capture.header.link == .hid ? .reports(path: nil) : .card }
        if target.transport == .pcsc || target.transport == .usb || target.reader != nil { return .card }
        if secureChannel != nil { return .card }
        if let software {
            let model = software.state.profile.model
            return model.isCard || model.isContactCard ? .card : .reports(path: nil)
        }
        if let path = target.path { return try fidoRoute(at: path) }
        let nodes = fidoDevices()
        do throws(KeyError) {
            return .reports(path: try target.one(of: nodes, over: .fido) { candidate($0) }.path)
        } catch {
            switch error {
            case .none, .notFound: if target.transport == .auto, hasCard { return .card }
            default: break
            }
            guard case .none = error, target.transport != .hid else { throw error }
            throw .none(.fido, searchForCards())
        }
    }

    /// The route to the key at a USB port, a FIDO node, or the node of its keyboard.
    private func fidoRoute(at path: String) throws(KeyError) -> FIDORoute {
        guard !fidoDevices().contains(where: { $0.path == path }),
            let key = try lifting({ () throws(LinkError) in try devices(asking: false) }).keys.first(where: {
                $0.isAt(path)
            })
        else { return .reports(path: path) }
        if let fido = key.fido { return .reports(path: fido.path) }
        return key.hasCard || !path.hasPrefix("/dev/hidraw") ? .card : .reports(path: path)
    }

    /// The FIDO authenticators over HID.
    func fidoDevices() -> [HIDDevice] { ((try? hardware.hidDevices()) ?? []).filter(\.isFIDO) }

    /// Describes a FIDO authenticator for the user to choose from; a Yubico key without a serial number in its USB
    /// descriptor is queried for it.
    private func candidate(_ device: HIDDevice) -> KeyCandidate {
        KeyCandidate(
            .fido, at: device.path, name: device.name, serial: device.serial ?? identity(fido: device)?.serial,
            isAccessible: device.access == .readable)
    }

    /// Whether a card is in a reader, or a free reader is on USB.
    private var hasCard: Bool {
        (try? readers().contains(where: \.hasCard)) ?? false || !usbReaders(isFree: true).isEmpty
    }

    private func searchForCards() -> KeySearch {
        do {
            let readers = try readers()
            return readers.isEmpty ? .noReaders : .emptyReaders(readers.count)
        } catch { return .serviceFailed(error) }
    }

    /// Opens the selected FIDO application: over HID if possible, otherwise as a card; a recording over its recorded
    /// link. Prompt, recorder, log and plan are applied.
    package func fidoLink() throws(KeyError) -> sending any FIDOLink {
        guard case .reports(let path) = try fidoRoute() else {
            return decoration.planned(decoration.prompting(try cardFIDOLink()))
        }
        return decoration.planned(decoration.prompting(try hidFIDOLink(path)))
    }

    /// Opens the FIDO application at a node.
    package func fidoLink(at path: String) throws(KeyError) -> sending any FIDOLink {
        decoration.prompting(try hidFIDOLink(path))
    }

    /// Opens the FIDO application of the selected card.
    package func cardFIDOLink() throws(KeyError) -> sending any FIDOLink {
        let channel = channel(over: try card(), environment)
        do { return try CardFIDOLink(channel) } catch { throw .fido(error) }
    }

    /// Opens the FIDO application of a HID device, without prompt and plan.
    func hidFIDOLink(_ path: String?) throws(KeyError) -> sending any FIDOLink {
        let device = try reports(path)
        do { return try HIDFIDOLink(device, environment: environment) } catch { throw .fido(error) }
    }

    /// Opens a HID device or its replacement.
    func reports(_ path: String?) throws(KeyError) -> sending any ReportLink {
        switch source {
        case .recording(let replay): return try decoration.reports(replay.reportLink())
        case .virtual(let key, let faults): return try decoration.reports(key.reportLink(faults: faults))
        case .machine: break
        }
        let device: any ReportLink
        do { device = try opened(path ?? "") } catch { throw .link(error) }
        return try decoration.reports(device)
    }

    /// Opens a HID device; if another program has locked it, that is reported before the wait.
    private func opened(_ path: String) throws(LinkError) -> sending any ReportLink {
        let whole = environment.deadline()
        guard let waiting = decoration.waiting, environment.timeout > Self.announcedWait * 2 else {
            return try hardware.open(path, deadline: whole)
        }
        do throws(LinkError) {
            return try hardware.open(path, deadline: .after(Self.announcedWait, cancellation: environment.cancellation))
        } catch {
            guard case .busy(_, let holders) = error else { throw error }
            waiting(holders)
            return try hardware.open(path, deadline: whole)
        }
    }

    /// How long another program may use a HID device before the user is told.
    private static let announcedWait = Duration.seconds(1)

    // MARK: - OTP

    /// Finds the OTP application: the keyboard's node if there is one, otherwise the card; a recording over its
    /// recorded link.
    func otpRoute() throws(KeyError) -> OTPRoute {
        if secureChannel != nil { return .card }
        if software != nil {
            return target.transport != .pcsc && target.reader == nil ? .reports(path: nil) : .card
        }
        if let replay { return replay.capture.header.link == .hid ? .reports(path: nil) : .card }
        if target.reader != nil || target.transport == .pcsc || target.transport == .usb { return .card }
        if let path = target.path {
            return (try device(at: path, asking: false)).otp.map { .reports(path: $0.path) } ?? .card
        }
        let keyboards = try lifting { () throws(LinkError) in try hardware.hidDevices() }.filter(\.isOTP)
        do throws(KeyError) {
            return .reports(
                path: try target.one(of: keyboards, over: .keyboard) { keyboard in
                    KeyCandidate(
                        .keyboard, at: keyboard.path, serial: target.serial == nil ? nil : serial(of: keyboard))
                }.path)
        } catch {
            switch error {
            case .none, .notFound: if target.transport != .hid { return .card }
            default: break
            }
            throw error
        }
    }

    /// Opens the selected OTP application, with recorder, log and plan.
    func otpLink() throws(KeyError) -> sending any OTPLink {
        switch try otpRoute() {
        case .card: return CardOTPLink(try channel())
        case .reports(let path): return decoration.planned(try keyboard(path))
        }
    }

    /// Opens the OTP application of the keyboard at a path, without the plan.
    package func keyboard(_ path: String?) throws(KeyError) -> sending any OTPLink {
        guard let software else { return HIDOTPLink(try reports(path), environment: environment) }
        return HIDOTPLink(try decoration.reports(software.otpReportLink()), environment: environment)
    }

    /// The serial number of a keyboard's key, if the key reports it.
    func serial(of keyboard: HIDDevice) -> String? {
        if let serial = keyboard.serial, serial == target.serial { return serial }
        let keys = (try? devices(asking: false))?.keys ?? []
        return keys.first { $0.otp == keyboard }.flatMap { details(of: $0) }?.serial
    }
}
