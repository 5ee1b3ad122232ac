// SPDX-License-Identifier: Apache-2.0

import YKOATH
import YKWire

extension OATHAccount {
    /// The account as a member of an answer; values that the key did not report are null.
    var json: JSON.Object {
        var object = JSON.Object()
        object["id"] = .string(id.text)
        object["rawId"] = .string(Base64.encodeURL(id.rawName))
        object["issuer"] = id.issuer.map(JSON.string) ?? .null
        object["name"] = .string(id.name)
        object["type"] = .string(type.description.lowercased())
        object["period"] = type == .totp ? .int(id.period.components.seconds) : .null
        object["algorithm"] = algorithm.map { .string($0.description) } ?? .null
        object["digits"] = digits.map { .int(Int64($0)) } ?? .null
        object["touch"] = needsTouch.map(JSON.bool) ?? .null
        object["hidden"] = .bool(id.isHidden)
        return object
    }
}

extension OATHEntry {
    /// The account with its code and the code's period of validity.
    var json: JSON {
        var object = account.json
        object["code"] = code.map { .string($0.text) } ?? .null
        object["validFrom"] = code.map { .int($0.validFrom) } ?? .null
        object["validTo"] = code?.validTo.map(JSON.int) ?? .null
        if case .failed(let error) = outcome {
            object["error"] = Explain.oath(error).json
        } else {
            object["error"] = .null
        }
        return .object(object)
    }

    /// The code, or the reason for its absence in brackets.
    var text: String {
        switch outcome {
        case .code(let code): code.text
        case .needsTouch: "[touch]"
        case .hotp: "[counter]"
        case .separate: ""
        case .failed: "[failed]"
        }
    }
}
