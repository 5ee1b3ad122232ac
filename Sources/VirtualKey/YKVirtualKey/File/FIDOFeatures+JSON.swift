// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FIDOFeatures {
    /// The features as stored in the state file, unless they are those of the firmware.
    var json: JSONValue {
        var object = JSONValue.Object()
        object["version"] = .string(version.rawValue)
        if hasFingerprints { object["fingerprints"] = true }
        if needsFingerprintForCeremonies { object["noMcGaPermissionsWithClientPin"] = true }
        if !registersWithoutVerification { object["makeCredUvRequired"] = true }
        object["resetWindow"] = resetWindow.map { .int(Int64($0)) }
        if hasDirectLargeBlobs { object["directLargeBlobs"] = true }
        if canRequireLongTouch { object["canRequireLongTouch"] = true }
        object["enterpriseRelyingParties"] = .array(enterpriseRelyingParties.map(JSONValue.string))
        return .object(object)
    }

    /// Parses the features in a state file; every field except the version is optional.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init(version: try fields.choice("version", Version.allCases.map { ($0.rawValue, $0) }))
        hasFingerprints = try fields.flag("fingerprints")
        needsFingerprintForCeremonies = try fields.flag("noMcGaPermissionsWithClientPin")
        registersWithoutVerification = !(try fields.flag("makeCredUvRequired"))
        if fields.has("resetWindow") { resetWindow = try fields.number("resetWindow", 0...3600) }
        hasDirectLargeBlobs = try fields.flag("directLargeBlobs")
        canRequireLongTouch = try fields.flag("canRequireLongTouch")
        if fields.has("enterpriseRelyingParties") {
            enterpriseRelyingParties = try fields.texts("enterpriseRelyingParties")
        }
        try fields.finish()
    }
}

extension StateFields {
    /// An array of strings.
    mutating func texts(_ key: String) throws(Fault) -> [String] {
        guard let values = take(key)?.array?.map(\.string), !values.contains(nil) else {
            throw fault(key, "expected an array of strings")
        }
        return values.compactMap { $0 }
    }
}
