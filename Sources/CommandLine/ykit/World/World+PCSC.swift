// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement
import YKTransport

extension World {
    /// The readers that are attached.
    func readers() throws(LinkError) -> [ReaderStatus] {
        let limit = min(environment.timeout, .seconds(5))
        return try PCSC.readers(timeout: limit, cancellation: environment.cancellation)
    }

    /// The reader with the key that is meant; several are told apart by serial number.
    func chosenReader() throws -> String {
        if let tagReader { return tagReader }
        let found = try ReaderSelection.candidates(try readers(), named: selection.reader)
        if selection.device == nil, found.count == 1, let only = found.first { return only.name }
        let keys = found.map { AttachedKey($0, details: try? details(of: $0.name)) }
        let wanted = keys.filter { selection.device == nil || $0.details?.serial == selection.device }
        if let only = wanted.first, wanted.count == 1 { return only.reader.name }
        if let serial = selection.device, wanted.isEmpty {
            for key in keys where key.details?.serial == nil { try checkHolder(of: key.reader.name) }
            throw Explanation(
                "no-such-device", .noDevice, "no key with serial number \(serial.printable) is attached",
                hint: "ykit list", candidates: keys.map(\.line))
        }
        throw Explanation(
            "several-devices", .severalDevices, "\(wanted.count) keys are attached, choose one",
            hint: "--device SERIAL or --reader NAME, or YKIT_DEVICE", candidates: wanted.map(\.line))
    }

    /// Makes sure that a key did not keep its serial number only because another program holds it.
    private func checkHolder(of reader: String) throws {
        do {
            let link = try PCSC.connect(reader: reader, deadline: environment.deadline())
            _ = try DeviceIdentity.read(CardChannel(link: link, environment: environment))
        } catch { if Explain.explain(error).exit == .busy { throw error } }
    }

    /// What the key in a reader says of itself.
    func details(of reader: String) throws -> KeyDetails {
        let link = try PCSC.connect(reader: reader, deadline: environment.deadline())
        return KeyDetails(CardChannel(link: link, environment: environment))
    }
}

/// A reader with a key in it, and what the key says of itself.
struct AttachedKey {
    let reader: ReaderStatus
    let details: KeyDetails?

    init(_ reader: ReaderStatus, details: KeyDetails?) {
        self.reader = reader
        self.details = details
    }

    /// The key on one line.
    var line: String {
        let serial = details?.serial.map { ", serial \($0)" } ?? ""
        let name = details.map { " (\($0.name.printable)\(serial))" } ?? ""
        return "'\(reader.name.printable)'\(name)"
    }
}
