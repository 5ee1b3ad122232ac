// SPDX-License-Identifier: Apache-2.0

import YKPIV
import YKTransport
import YKWire

extension PIVReportText {
    /// The members of an answer.
    var members: [(String, JSON)] {
        [
            ("version", report.identity.version.map { .string($0.description) } ?? .null),
            ("serial", report.serial.map { .int(Int64($0)) } ?? .null),
            ("pin", Self.json(report.pin)), ("puk", Self.json(report.puk)),
            ("managementKey", managementKeyJSON),
            ("pukBlocked", .bool(report.administration.flags.contains(.pukBlocked) || report.puk?.isBlocked == true)),
            ("chuid", report.chuid.map { .string($0.guidText) } ?? .null),
            (
                "ccc", report.unrecorded.contains(.capability) ? .null : .bool(report.capability != nil)
            ), ("slots", .array(report.slots.map(Self.json))),
            (
                "advisories",
                .array(report.identity.warnings.map { ["id": .string($0.advisory), "meaning": .string($0.meaning)] })
            ), ("brokenFIPSRules", .array(report.brokenFIPSRules.map { .string($0.rawValue) })),
        ]
    }

    private static func json(_ metadata: PINMetadata?) -> JSON {
        guard let metadata else { return .null }
        return [
            "retriesLeft": .int(Int64(metadata.triesLeft)),
            "retries": metadata.triesTotal.map { .int(Int64($0)) } ?? .null,
            "default": metadata.isDefault.map(JSON.bool) ?? .null,
        ]
    }

    private var managementKeyJSON: JSON {
        [
            "algorithm": report.managementKey.map { .string($0.type.description) } ?? .null,
            "default": report.managementKey?.isDefault.map(JSON.bool) ?? .null,
            "touch": report.managementKey.map { .string($0.touch.description) } ?? .null,
            "protected": .bool(report.administration.isKeyProtected),
        ]
    }

    private static func json(_ slot: PIVReport.Slot) -> JSON {
        var object = JSON.Object()
        object["slot"] = .string(slot.slot.description)
        object["name"] = .string(slot.slot.name)
        var key = JSON.Object()
        slot.metadata?.add(to: &key)
        object["key"] = slot.metadata == nil ? .null : .object(key)
        switch slot.certificate {
        case .success(let certificate)?:
            object["certificate"] = certificate.json
            object["error"] = .null
        case .failure(let error)?:
            object["certificate"] = .null
            object["error"] = Explain.piv(error).json
        case nil:
            object["certificate"] = .null
            object["error"] = .null
        }
        return .object(object)
    }
}
