// SPDX-License-Identifier: Apache-2.0

public import YKTransport
package import YKWire

extension VirtualKey {
    /// Connects a program to the key's FIDO interface as a HID device in the same process.
    public func reportLink() -> sending any ReportLink { VirtualReportLink(self) }

    /// Carries a CTAP2 or U2F message out, as it came over HID.
    package func run(_ message: CTAPHID.Message) -> VirtualHID.Outcome {
        let reply = try? fido { authenticator throws(Refusal) in
            if message.command == .msg { return try authenticator.u2f(message.payload) }
            return [0x00] + (try authenticator.answer(message.payload))
        }
        return reply ?? .answer(message.command == .msg ? [0x6F, 0x00] : [0x7F])
    }
}

extension FIDOAuthenticator {
    /// A U2F command as an APDU, and its reply with the status word.
    fileprivate mutating func u2f(_ message: [UInt8]) throws(Refusal) -> [UInt8] {
        guard let command = try? APDU(decoding: message) else { throw .status(.wrongLength) }
        guard command.cla == 0 else { throw .status(.unknownClass) }
        let data: [UInt8]
        switch command.ins {
        case 0x01: data = try u2fRegister(command.data)
        case 0x02: data = try u2fAuthenticate(command.p1, command.data)
        case 0x03: data = Array("U2F_V2".utf8)
        default: throw .status(.unknownInstruction)
        }
        return ResponseAPDU(.ok, data: data).encoded
    }
}

/// A program's connection to a virtual key's HID interface.
final class VirtualReportLink: ReportLink {
    private let key: VirtualKey
    private var device = VirtualHID()
    private var outgoing: [[UInt8]] = []
    let identity = ReportIdentity(path: "virtual", name: VirtualKey.readerName, vendor: 0x1050, product: 0x0407)

    init(_ key: VirtualKey) { self.key = key }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        outgoing += device.receive(report, key.run)
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        while outgoing.isEmpty {
            try deadline.check("a report")
            outgoing += device.poll(key.run)
            if outgoing.isEmpty { Pause.step(deadline) }
        }
        return outgoing.removeFirst()
    }

    func close() {}
}
