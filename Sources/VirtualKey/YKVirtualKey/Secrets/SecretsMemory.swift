// SPDX-License-Identifier: Apache-2.0

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

extension SecretsMemory: StateRecord {
    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("salt", &salt, .bytes)
        try fields("pin", &pin, .bytes)
        try fields("retries", &retries, .number(0...Self.retryLimit))
        try fields("credentials", &credentials, .list(.record))
        try fields.unique("credentials", "name", credentials.map(\.name), "another entry has this name")
    }
}

extension SecretsMemory.Credential: StateRecord {
    package init() { self.init(name: [], type: 0, digits: 0, secret: []) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("name", &name, .bytes(1...128))
        try fields("type", &type, .number(0...255))
        try fields("digits", &digits, .number(0...255))
        try fields("secret", &secret, .bytes)
        try fields("counter", &counter, .number(0...UInt32.max), unless: 0)
        try fields.flag("touch", &needsTouch)
        try fields.flag("protected", &isProtected)
        try fields("login", &login, .bytes, unless: [])
        try fields("password", &password, .bytes, unless: [])
        try fields("metadata", &metadata, .bytes, unless: [])
    }
}

extension VirtualKeyState {
    /// The memory of the Secrets application.
    package var secrets: SecretsMemory {
        get { self[SecretsMemory.self] }
        set { self[SecretsMemory.self] = newValue }
    }
}
