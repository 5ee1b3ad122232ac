// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Describes CTAP2 messages (CTAP 2.1 §6), independent of the transport.
enum CTAPNarration {
    /// Describes a request: the command byte, then a map.
    static func request(_ message: MaskedBytes) -> (String, [String]) {
        guard !message.isEmpty else { return ("CTAP request without a command", []) }
        guard let command = CTAPNames.commands[message[0]] else {
            return ("CTAP command \(Hex.encode([message[0]]))", map(message.dropFirst(1), .init("parameters")))
        }
        let parameters = message.dropFirst(1)
        let lines = map(parameters, command.request)
        let sub = subcommand(parameters, command).map { ", \($0)" } ?? ""
        return ("CTAP \(command.name)\(sub)", lines)
    }

    /// Describes a reply: the status byte, then a map whose meaning depends on the request.
    static func reply(_ message: MaskedBytes, to request: MaskedBytes) -> [String] {
        guard !message.isEmpty else { return [] }
        let status = "status \(CTAPNames.status(message[0]))"
        guard message.count > 1 else { return [status] }
        if message.count == 1 { return [status] }
        let names = CTAPNames.commands[request[0]]?.reply ?? .init("reply")
        return [status] + map(message.dropFirst(1), names)
    }

    private static func map(_ bytes: MaskedBytes, _ names: CTAPKeys) -> [String] {
        bytes.isEmpty ? [] : CBORPrinter.lines(bytes, names)
    }

    private static func subcommand(_ parameters: MaskedBytes, _ command: CTAPNames.Command) -> String? {
        guard let key = command.subcommandKey,
            let map = (try? CBOR(decoding: parameters.bytes))?.map, let number = map[key]?.unsigned
        else { return nil }
        return command.subcommands[number] ?? "subcommand \(number)"
    }
}
