// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKManagement
import YKOATH
import YKTransport
import YKWire

/// Says what a key is and what it can do.
struct Info: Verb {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show what a key is, its applications, and the state of OATH.")
    static let members = [
        "name", "maker", "serial", "version", "reader", "formFactor", "applications", "locked", "fipsSeries", "oath",
    ]

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) async throws -> Answer {
        let channel = try world.connect()
        let reader = channel.identity.reader
        let identity = try DeviceIdentity.read(channel)
        let oath = try await Self.oath(channel)
        let details = KeyDetails(identity)
        var rows = [["name", details.name.printable], ["reader", reader.printable]]
        rows += [("version", details.version), ("serial", details.serial)].map { [$0, $1?.printable ?? "not told"] }
        if let info = identity.info { rows.append(["shape", info.formFactor.description]) }
        rows.append(["oath", Self.words(oath)])
        var answer = Answer(Table.lines(rows) + Self.lines(identity.info), [:])
        answer.members["name"] = .string(details.name)
        answer.members["maker"] = .string(identity.maker.rawValue)
        answer.members["serial"] = details.serial.map(JSON.string)
        answer.members["version"] = details.version.map(JSON.string)
        answer.members["reader"] = .string(reader)
        answer.members["oath"] = Self.json(oath)
        if let info = identity.info { Self.add(info, to: &answer.members) }
        return answer
    }

    /// What OATH says of itself; nothing on a key without it.
    private static func oath(_ channel: sending CardChannel) async throws -> OATHInfo? {
        do { return await (try OATHService.open(channel)).info } catch {
            guard case .card(.appletMissing) = error else { throw error }
            return nil
        }
    }

    private static func words(_ oath: OATHInfo?) -> String {
        guard let oath else { return "not there" }
        return (oath.version.map { "version \($0), " } ?? "") + (oath.hasPassword ? "with a password" : "no password")
    }

    private static func json(_ oath: OATHInfo?) -> JSON? {
        guard let oath else { return nil }
        return [
            "version": oath.version.map { .string($0.description) } ?? .null, "deviceId": .string(oath.deviceID),
            "hasPassword": .bool(oath.hasPassword),
        ]
    }
}

// MARK: - Applications and transports

extension Info {
    private static func state(_ capability: Capability, _ applications: DeviceInfo.Applications?) -> String? {
        guard let applications, applications.supported.contains(capability) else { return nil }
        return applications.enabled.contains(capability) ? "enabled" : "disabled"
    }

    private static func lines(_ info: DeviceInfo?) -> [String] {
        guard let info else { return [] }
        let rows = Capability.applications.map { capability, name in
            [name, state(capability, info.usb) ?? "not there"]
                + (info.nfc == nil ? [] : [state(capability, info.nfc) ?? "not there"])
        }
        return [""] + Table.lines([["application", "usb"] + (info.nfc == nil ? [] : ["nfc"])] + rows)
    }

    private static func add(_ info: DeviceInfo, to members: inout JSON.Object) {
        members["formFactor"] = .string(info.formFactor.description)
        members["locked"] = .bool(info.isLocked)
        members["fipsSeries"] = .bool(info.isFIPSSeries)
        members["applications"] = .array(
            Capability.applications.map { capability, name in
                [
                    "name": .string(name), "usb": state(capability, info.usb).map(JSON.string) ?? .null,
                    "nfc": state(capability, info.nfc).map(JSON.string) ?? .null,
                ]
            })
    }
}
