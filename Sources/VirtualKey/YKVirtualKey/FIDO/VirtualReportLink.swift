// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
package import YKWire

extension VirtualKey {
    /// Connects a program to the key's FIDO interface as a HID device in the same process, with the planned faults.
    public func reportLink(faults: FaultPlan = FaultPlan()) -> sending any ReportLink {
        VirtualReportLink(self, faults)
    }

    /// Executes a CTAP2, U2F or vendor message received over HID.
    package func run(_ message: CTAPHID.Message) -> VirtualHID.Outcome {
        switch message.command {
        case .msg where state.enabled(over: .usb) & VirtualCapability.u2f == 0,
            .cbor where state.enabled(over: .usb) & VirtualCapability.fido2 == 0:
            return .refused(.invalidCommand)
        case .msg:
            let outcome = try? fido { authenticator throws(Refusal) in try authenticator.u2f(message.payload) }
            return outcome ?? .answer([0x6F, 0x00])
        case .cbor:
            let outcome = try? fido { authenticator throws(Refusal) in
                [CTAPProtocol.Status.ok] + (try authenticator.answer(message.payload))
            }
            return outcome ?? .answer([CTAPProtocol.Status.other])
        default: return manage(message)
        }
    }
}

extension FIDOAuthenticator {
    /// Executes a U2F command APDU and returns its reply with the status word.
    fileprivate mutating func u2f(_ message: [UInt8]) throws(Refusal) -> [UInt8] {
        guard let command = Self.u2fCommand(message) else { throw .status(.wrongLength) }
        guard command.cla == 0 else { throw .status(.unknownClass) }
        return ResponseAPDU(.ok, data: try u2f(command)).encoded
    }

    /// Parses the command. python-fido2 (2.2) encodes an extended length of 0 for no data, which keys accept.
    private static func u2fCommand(_ message: [UInt8]) -> APDU? {
        if let command = try? APDU(decoding: message) { return command }
        guard message.count == 9, message[4..<7].allSatisfy({ $0 == 0 }) else { return nil }
        return APDU(cla: message[0], ins: message[1], p1: message[2], p2: message[3])
    }
}

/// A program's connection to a virtual key's HID interface.
final class VirtualReportLink: ReportLink {
    private let key: VirtualKey
    private var device: VirtualHID
    let identity: ReportIdentity

    init(_ key: VirtualKey, _ faults: FaultPlan) {
        self.key = key
        device = VirtualHID(key.state, faults: faults)
        identity = ReportIdentity(
            path: "virtual", name: key.state.profile.model.reader, vendor: key.state.profile.vendor,
            product: key.state.usbProduct)
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        device.receive(report, at: .now, key.run)
        if key.takeRestart() { key.powerOff() }
        try look()
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        while true {
            if let report = device.next(at: .now) { return report }
            try look()
            try deadline.check("a report")
            device.poll(at: .now, key.run)
            if device.pause(at: .now) != .zero { Pause.step(deadline) }
        }
    }

    /// Throws if a fault has removed the key, which has then lost power.
    private func look() throws(LinkError) {
        guard device.absence != nil else { return }
        key.powerOff()
        throw .removed
    }

    func close() {}
}
