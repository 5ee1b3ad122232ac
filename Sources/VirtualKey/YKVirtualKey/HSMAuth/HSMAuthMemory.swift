// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The persistent state of the YubiHSM Auth application.
package struct HSMAuthMemory: AppletMemory {
    package static let member = "hsmAuth"

    /// One credential.
    package struct Credential: Hashable, Sendable {
        package var label: [UInt8]
        /// 38 for AES-128, 39 for P-256.
        package var algorithm: UInt8
        /// K-ENC and K-MAC concatenated, or the private scalar.
        package var keys: [UInt8]
        package var password: [UInt8]
        package var needsTouch: Bool
        package var retries: UInt8 = HSMAuthMemory.retryLimit
    }

    static let retryLimit: UInt8 = 8
    static let capacity = 32
    static let defaultManagementKey = [UInt8](repeating: 0, count: 16)

    package var managementKey = HSMAuthMemory.defaultManagementKey
    package var managementRetries = HSMAuthMemory.retryLimit
    package var credentials: [Credential] = []

    package init() {}

    func index(of label: [UInt8]) -> Int? { credentials.firstIndex { $0.label == label } }
}

extension HSMAuthMemory {
    /// The memory as stored in the state file; `nil` if the application was never used.
    package var json: JSONValue? {
        guard self != HSMAuthMemory() else { return nil }
        var object = JSONValue.Object()
        object["managementKey"] = .string(Hex.encode(managementKey))
        object["managementRetries"] = .int(Int64(managementRetries))
        object["credentials"] = .array(
            credentials.map { credential in
                var entry = JSONValue.Object()
                entry["label"] = .string(Hex.encode(credential.label))
                entry["algorithm"] = .int(Int64(credential.algorithm))
                entry["keys"] = .string(Hex.encode(credential.keys))
                entry["password"] = .string(Hex.encode(credential.password))
                if credential.needsTouch { entry["touch"] = true }
                entry["retries"] = .int(Int64(credential.retries))
                return .object(entry)
            })
        return .object(object)
    }

    package static func take(from fields: inout StateFields) throws(StateFields.Fault) -> HSMAuthMemory {
        try HSMAuthMemory(try fields.fields(member))
    }

    /// Parses the memory in a state file.
    private init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        managementKey = try fields.bytes("managementKey")
        guard managementKey.count == 16 else { throw fields.fault("managementKey", "expected 16 bytes") }
        managementRetries = try fields.number("managementRetries", 0...Self.retryLimit)
        for var entry in try fields.list("credentials") {
            let credential = Credential(
                label: try entry.bytes("label"), algorithm: try entry.number("algorithm", 38...39),
                keys: try entry.bytes("keys"), password: try entry.bytes("password"),
                needsTouch: try entry.flag("touch"), retries: try entry.number("retries", 1...Self.retryLimit))
            guard (1...64).contains(credential.label.count), index(of: credential.label) == nil else {
                throw entry.fault("label", "expected 1 to 64 bytes that no other credential has")
            }
            guard credential.keys.count == 32 else { throw entry.fault("keys", "expected 32 bytes") }
            guard credential.password.count == 16 else { throw entry.fault("password", "expected 16 bytes") }
            try entry.finish()
            credentials.append(credential)
        }
        try fields.finish()
    }
}

extension VirtualKeyState {
    /// The YubiHSM Auth application's memory.
    package var hsmAuth: HSMAuthMemory {
        get { self[HSMAuthMemory.self] }
        set { self[HSMAuthMemory.self] = newValue }
    }
}
