// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKKeys
import YKManagement
import YKOATH
import YKTransport
import YKWire

extension KeyReport {
    /// The members of the answer, the same for every key.
    static let members = [
        "name", "maker", "serial", "version", "reader", "path", "formFactor", "applications", "locked", "fipsSeries",
        "securityKeySeries", "partNumber", "fipsCapable", "fipsApproved", "fipsMode", "complexPin", "resetBlocked",
        "flags", "autoEjectTimeout", "challengeResponseTimeout", "nfcRestricted", "fingerprintVersion", "stmVersion",
        "synthesized", "flaws", "oath", "secureChannels",
    ]

    /// The members; values that the key does not report are null.
    var members: JSONValue.Object {
        let details = KeyDetails(identity)
        var members = JSONValue.Object()
        members["name"] = .string(details.name)
        members["maker"] = .string(identity.maker.rawValue)
        members["serial"] = details.serial.map(JSONValue.string)
        members["version"] = details.version.map(JSONValue.string)
        members["reader"] = reader.map(JSONValue.string)
        members["path"] = path.map(JSONValue.string)
        members["fipsMode"] = isInFIPSMode.map(JSONValue.bool)
        members["oath"] = oath.map(Self.json)
        if let found {
            let there = DeviceInfo.Applications(supported: found, enabled: found)
            members["applications"] = Self.list(isContactless ? nil : there, isContactless ? there : nil)
        }
        if let info = identity.info {
            Self.add(info, to: &members)
            Self.addSettings(info, to: &members)
        }
        return members
    }

    private static func json(_ oath: OATHInfo) -> JSONValue {
        [
            "version": oath.version.map { .string($0.description) } ?? .null, "deviceId": .string(oath.deviceID),
            "hasPassword": .bool(oath.hasPassword),
        ]
    }

    private static func add(_ info: DeviceInfo, to members: inout JSONValue.Object) {
        members["formFactor"] = .string(info.formFactor.description)
        members["fipsSeries"] = .bool(info.isFIPSSeries)
        members["securityKeySeries"] = .bool(info.isSecurityKeySeries)
        members["partNumber"] = info.partNumber.map(JSONValue.string)
        members["fipsCapable"] = names(info.fipsCapable)
        members["fipsApproved"] = names(info.fipsApproved)
        members["fingerprintVersion"] = info.fingerprintVersion.map { .string($0.description) }
        members["stmVersion"] = info.stmVersion.map { .string($0.description) }
        members["secureChannels"] = .array(info.secureChannels.map(JSONValue.string))
        members["synthesized"] = .bool(info.isSynthesized)
        members["applications"] = list(info.usb, info.nfc)
        members["flaws"] = .array(
            KnownFlaw.of(info).map { flaw in
                [
                    "name": .string(flaw.name), "reference": .string(flaw.reference),
                    "summary": .string(flaw.summary), "advice": .string(flaw.advice),
                ]
            })
    }

    private static func addSettings(_ info: DeviceInfo, to members: inout JSONValue.Object) {
        members["locked"] = .bool(info.isLocked)
        members["complexPin"] = .bool(info.requiresComplexPIN)
        members["resetBlocked"] = names(info.resetBlocked)
        members["nfcRestricted"] = .bool(info.isNFCRestricted)
        members["autoEjectTimeout"] = .int(info.autoEjectTimeout.components.seconds)
        members["challengeResponseTimeout"] = .int(info.challengeResponseTimeout.components.seconds)
        let flags = [(DeviceInfo.Flags.remoteWakeUp, "remote-wakeup"), (.touchEject, "touch-eject")]
        members["flags"] = .array(flags.filter { info.flags.contains($0.0) }.map { .string($0.1) })
    }

    private static func list(_ usb: DeviceInfo.Applications?, _ nfc: DeviceInfo.Applications?) -> JSONValue {
        .array(
            Capability.applications.map { capability, name in
                [
                    "name": .string(name), "usb": state(capability, usb).map(JSONValue.string) ?? .null,
                    "nfc": state(capability, nfc).map(JSONValue.string) ?? .null,
                ]
            })
    }

    private static func names(_ capability: Capability) -> JSONValue { .array(capability.names.map(JSONValue.string)) }
}
