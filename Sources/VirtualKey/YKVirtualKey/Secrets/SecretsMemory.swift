// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The persistent state of the Secrets application.
package struct SecretsMemory: AppletMemory {
    package static let member = "secrets"

    /// One entry.
    package struct Credential: Hashable, Sendable {
        package var name: [UInt8]
        /// Kind and algorithm in one byte.
        package var type: UInt8
        package var digits: UInt8
        package var secret: [UInt8]
        package var counter: UInt32 = 0
        package var needsTouch = false
        /// Whether it is encrypted with the PIN.
        package var isProtected = false
        package var login: [UInt8] = []
        package var password: [UInt8] = []
        package var metadata: [UInt8] = []

        var kind: UInt8 { type & 0xF0 }
    }

    static let retryLimit: UInt8 = 8
    static let capacity = 50

    /// Eight random bytes, drawn when the application is first selected without a PIN.
    package var salt: [UInt8] = []
    package var pin: [UInt8]?
    package var retries = SecretsMemory.retryLimit
    package var credentials: [Credential] = []

    package init() {}

    func index(of name: [UInt8]) -> Int? { credentials.firstIndex { $0.name == name } }
}

extension SecretsMemory {
    /// The memory as stored in the state file; `nil` if the application was never used.
    package var json: JSONValue? {
        guard self != SecretsMemory() else { return nil }
        var object = JSONValue.Object()
        object["salt"] = .string(Hex.encode(salt))
        object["pin"] = pin.map { .string(Hex.encode($0)) }
        object["retries"] = .int(Int64(retries))
        object["credentials"] = .array(credentials.map { .object($0.json) })
        return .object(object)
    }

    package static func take(from fields: inout StateFields) throws(StateFields.Fault) -> SecretsMemory {
        try SecretsMemory(try fields.fields(member))
    }

    /// Parses the memory in a state file.
    private init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        salt = try fields.bytes("salt")
        if fields.has("pin") { pin = try fields.bytes("pin") }
        retries = try fields.number("retries", 0...Self.retryLimit)
        for entry in try fields.list("credentials") {
            let credential = try Credential(entry)
            guard (1...128).contains(credential.name.count), index(of: credential.name) == nil else {
                throw entry.fault("name", "expected 1 to 128 bytes that no other entry has")
            }
            credentials.append(credential)
        }
        try fields.finish()
    }
}

extension SecretsMemory.Credential {
    fileprivate var json: JSONValue.Object {
        var object = JSONValue.Object()
        object["name"] = .string(Hex.encode(name))
        object["type"] = .int(Int64(type))
        object["digits"] = .int(Int64(digits))
        object["secret"] = .string(Hex.encode(secret))
        if counter > 0 { object["counter"] = .int(Int64(counter)) }
        if needsTouch { object["touch"] = true }
        if isProtected { object["protected"] = true }
        for (key, value) in [("login", login), ("password", password), ("metadata", metadata)] where !value.isEmpty {
            object[key] = .string(Hex.encode(value))
        }
        return object
    }

    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init(
            name: try fields.bytes("name"), type: try fields.number("type", 0...255),
            digits: try fields.number("digits", 0...255), secret: try fields.bytes("secret"))
        if fields.has("counter") { counter = try fields.number("counter", 0...UInt32.max) }
        needsTouch = try fields.flag("touch")
        isProtected = try fields.flag("protected")
        if fields.has("login") { login = try fields.bytes("login") }
        if fields.has("password") { password = try fields.bytes("password") }
        if fields.has("metadata") { metadata = try fields.bytes("metadata") }
        try fields.finish()
    }
}

extension VirtualKeyState {
    /// The memory of the Secrets application.
    package var secrets: SecretsMemory {
        get { self[SecretsMemory.self] }
        set { self[SecretsMemory.self] = newValue }
    }
}
