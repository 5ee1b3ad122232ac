// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
import YKWire

/// The Secrets application over HID: a vendor command of CTAPHID carries a command APDU, and its answer has the status
/// word first (trussed-secrets-app, docs/ctaphid.md).
public final class SecretsTunnel: CardLink {
    private let link: any FIDOLink
    /// The name of the transport, in place of a reader's; there is no answer to reset.
    public let identity: CardIdentity

    /// Takes ownership of a link to the key's HID interface.
    public init(_ link: sending any FIDOLink) {
        self.link = link
        identity = CardIdentity(reader: "Nitrokey over HID", atr: [])
    }

    deinit { link.close() }

    /// Opens a channel over a link to the key's HID interface. Its commands have extended lengths: there is no chaining.
    public static func channel(over link: sending any FIDOLink) -> sending CardChannel {
        let environment = link.environment
        return channel(over: SecretsTunnel(link), environment)
    }

    /// Opens a channel over a tunnel, or a link around it.
    package static func channel(
        over link: sending any CardLink, _ environment: ServiceEnvironment
    ) -> sending CardChannel {
        let channel = CardChannel(link: link, environment: environment)
        channel.form = .extended
        return channel
    }

    /// Returns false: the application belongs to no program, and every command is authorized by itself.
    public func begin(deadline: Deadline) throws(LinkError) -> Bool { false }

    /// Does nothing: HID devices are shared by channels.
    public func end() {}

    /// Does nothing: there is no power to switch off.
    public func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {}

    /// Closes the device.
    public func close() { link.close() }

    /// Sends a command, and returns its answer with the status word last.
    ///
    /// GET RESPONSE becomes SEND REMAINING, which is the instruction for it over HID.
    public func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        var command = command
        if command.count > 1, command[1] == ISO7816.getResponse {
            command[1] = SecretsProtocol.Instruction.sendRemaining
        }
        let answer: [UInt8]
        do {
            answer = try link.call(Self.command, command, deadline: deadline) { _ in }
        } catch {
            if error == .refused(.invalidCommand) || error == .notCarried(Self.command) {
                return ResponseAPDU(.notFound).encoded
            }
            throw Self.failure(error)
        }
        guard answer.count >= 2 else {
            throw .malformed(WireError(.truncated, at: 0, "an answer of \(answer.count) bytes has no status word"))
        }
        return Array(answer[2...] + answer[..<2])
    }

    private static let command = CTAPHID.Command(rawValue: SecretsProtocol.vendorCommand)

    private static func failure(_ error: FIDOLinkError) -> LinkError {
        switch error {
        case .device(let error), .card(.link(let error)): error
        case .malformed(let error): .malformed(error)
        case .notTouched: .timedOut("a touch")
        case .refused(let code): .failed(code: UInt32(code.rawValue), "CTAPHID error \(code)")
        case .notCarried, .card: .failed(code: 0, "\(error)")
        }
    }
}
