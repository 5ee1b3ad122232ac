// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKHardware
import YKTransport
import YKVirtualKey

/// A way to the OTP application of a key.
enum OTPWay {
    /// The keyboard's feature reports of eight bytes.
    case reports(any ReportLink)
    /// The card; the application is not selected yet.
    case card(CardChannel)
}

extension World {
    /// A way to the OTP application of the key that is meant, recorded and logged as asked for: over the keyboard's node
    /// where there is one, else as a card; a recording over what it recorded.
    func openOTP() throws -> sending OTPWay {
        try checkRecording()
        if let software, selection.link != .pcsc, selection.reader == nil {
            guard let recorder else { return .reports(logged(software.otpReportLink())) }
            return .reports(logged(try recorder.recording(software.otpReportLink())))
        }
        guard let path = try otpNode() else { return .card(try connect()) }
        return .reports(logged(try recordedReports(path)))
    }

    /// The node of the keyboard of the key that is meant; empty for a recording, `nil` when it is to be used as a card.
    private func otpNode() throws -> String? {
        if let replay { return replay.capture.header.link == .hid ? "" : nil }
        if software != nil || selection.reader != nil || selection.link == .pcsc || selection.link == .usb {
            return nil
        }
        if let path = selection.path { return try otpNode(at: path) }
        let found = try HIDRaw.devices().filter(\.isOTP)
        let wanted = found.filter { isMeant($0) }
        if let only = wanted.first, wanted.count == 1 { return only.path }
        guard !wanted.isEmpty || selection.link == .hid else { return nil }
        if wanted.isEmpty {
            throw Explanation("no-device", .noDevice, "no key with an OTP keyboard is attached", hint: "ykit list")
        }
        throw Explanation(
            "several-devices", .severalDevices, "\(wanted.count) keys are attached, choose one",
            hint: "--path PATH or --device SERIAL", candidates: wanted.map(\.path))
    }

    /// The keyboard of the key at a node, or in a USB port.
    private func otpNode(at path: String) throws -> String? {
        let found = try Discovery.keys(asking: false).keys
        guard let key = found.first(where: { $0.isAt(path) }) else { throw LinkError.noDevice(path: path) }
        return key.otp?.path
    }

    /// Whether a keyboard is of the key with the serial number that is asked for.
    func isMeant(_ keyboard: HIDDevice) -> Bool {
        guard let serial = selection.device else { return true }
        if keyboard.serial == serial { return true }
        let keys = (try? Discovery.keys(asking: false).keys) ?? []
        return keys.first { $0.otp == keyboard }.flatMap { details(of: $0) }?.serial == serial
    }
}
