// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FIDOMemory {
    /// The memory as it is kept in a file; `nil` when the application was never used.
    var json: JSON? {
        guard self != FIDOMemory() else { return nil }
        var object = JSON.Object()
        object["seed"] = .string(Hex.encode(seed))
        object["attestationKey"] = .string(Hex.encode(attestationKey))
        object["certificate"] = .string(Hex.encode(certificate))
        object["counter"] = .int(Int64(counter))
        object["pinHash"] = pinHash.map { .string(Hex.encode($0)) }
        if pinHash != nil { object["pinLength"] = .int(Int64(clamping: pinLength)) }
        object["pinRetries"] = .int(Int64(pinRetries))
        object["minPINLength"] = .int(Int64(clamping: minPINLength))
        object["minPINReaders"] = .array(minPINReaders.map(JSON.string))
        if mustChangePIN { object["mustChangePIN"] = true }
        if alwaysUV { object["alwaysUV"] = true }
        if enterpriseAttestation { object["enterpriseAttestation"] = true }
        object["credentials"] = .array(credentials.map(\.json))
        object["largeBlobs"] = .string(Hex.encode(largeBlobs))
        return .object(object)
    }

    /// Reads the memory of a state file.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        seed = try fields.bytes("seed")
        attestationKey = try fields.bytes("attestationKey")
        certificate = try fields.bytes("certificate")
        counter = try fields.number("counter", 0...UInt32.max)
        if fields.has("pinHash") {
            pinHash = try fields.bytes("pinHash")
            pinLength = try fields.number("pinLength", 0...63)
        }
        pinRetries = try fields.number("pinRetries", 0...Self.allRetries)
        minPINLength = try fields.number("minPINLength", 4...63)
        minPINReaders = try fields.texts("minPINReaders")
        mustChangePIN = try fields.flag("mustChangePIN")
        alwaysUV = try fields.flag("alwaysUV")
        enterpriseAttestation = try fields.flag("enterpriseAttestation")
        for entry in try fields.list("credentials") { credentials.append(try VirtualCredential(entry)) }
        largeBlobs = try fields.bytes("largeBlobs")
        try fields.finish()
    }
}

extension VirtualCredential {
    private static let algorithms: [(String, COSEAlgorithm)] = [("ES256", .es256), ("EdDSA", .edDSA)]

    /// The credential as it is kept in a file.
    fileprivate var json: JSON {
        var object = JSON.Object()
        object["id"] = .string(Hex.encode(id))
        object["rp"] = .string(rpID)
        object["user"] = .string(Hex.encode(userID))
        object["name"] = userName.map(JSON.string)
        object["displayName"] = displayName.map(JSON.string)
        object["algorithm"] = .string(algorithm.description)
        object["secret"] = .string(Hex.encode(secret))
        object["protection"] = .int(Int64(clamping: protection))
        object["blob"] = blob.map { .string(Hex.encode($0)) }
        object["largeBlobKey"] = largeBlobKey.map { .string(Hex.encode($0)) }
        if allowsPayment { object["payment"] = true }
        return .object(object)
    }

    /// Reads a credential of a state file.
    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init(
            id: try fields.bytes("id"), rpID: try fields.text("rp"),
            algorithm: try fields.choice("algorithm", Self.algorithms), secret: try fields.bytes("secret"))
        guard secret.count == 32 else { throw fields.fault("secret", "expected 32 bytes") }
        userID = try fields.bytes("user")
        if fields.has("name") { userName = try fields.text("name") }
        if fields.has("displayName") { displayName = try fields.text("displayName") }
        protection = try fields.number("protection", 1...3)
        if fields.has("blob") { blob = try fields.bytes("blob") }
        if fields.has("largeBlobKey") { largeBlobKey = try fields.bytes("largeBlobKey") }
        allowsPayment = try fields.flag("payment")
        try fields.finish()
    }
}
