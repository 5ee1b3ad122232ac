// SPDX-License-Identifier: Apache-2.0

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

extension HSMAuthMemory: StateRecord {
    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("managementKey", &managementKey, .bytes(16...16))
        try fields("managementRetries", &managementRetries, .number(0...Self.retryLimit))
        try fields("credentials", &credentials, .list(.record))
        try fields.unique("credentials", "label", credentials.map(\.label), "another credential has this label")
    }
}

extension HSMAuthMemory.Credential: StateRecord {
    package init() { self.init(label: [], algorithm: 38, keys: [], password: [], needsTouch: false) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("label", &label, .bytes(1...64))
        try fields("algorithm", &algorithm, .number(38...39))
        try fields("keys", &keys, .bytes(32...32))
        try fields("password", &password, .bytes(16...16))
        try fields.flag("touch", &needsTouch)
        try fields("retries", &retries, .number(1...HSMAuthMemory.retryLimit))
    }
}

extension VirtualKeyState {
    /// The YubiHSM Auth application's memory.
    package var hsmAuth: HSMAuthMemory {
        get { self[HSMAuthMemory.self] }
        set { self[HSMAuthMemory.self] = newValue }
    }
}
