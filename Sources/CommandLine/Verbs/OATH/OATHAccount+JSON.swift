// SPDX-License-Identifier: Apache-2.0

import YKOATH
package import YKWire

extension OATHAccount {
    /// The account as a member of an answer; values that the key did not report are null.
    package var json: JSONValue.Object {
        var object = JSONValue.Object()
        object["id"] = .string(id.text)
        object["rawId"] = .string(Base64.encodeURL(id.rawName))
        object["issuer"] = id.issuer.map(JSONValue.string) ?? .null
        object["name"] = .string(id.name)
        object["type"] = .string(type.description.lowercased())
        object["period"] = type == .totp ? .int(id.period.components.seconds) : .null
        object["algorithm"] = algorithm.map { .string($0.description) } ?? .null
        object["digits"] = digits.map { .int(Int64($0)) } ?? .null
        object["touch"] = needsTouch.map(JSONValue.bool) ?? .null
        object["hidden"] = .bool(id.isHidden)
        return object
    }
}
