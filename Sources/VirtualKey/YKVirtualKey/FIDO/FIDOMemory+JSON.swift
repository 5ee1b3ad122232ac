// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FIDOMemory {
    /// The memory as stored in the state file; `nil` if the application was never used.
    var json: JSONValue? {
        guard self != FIDOMemory() else { return nil }
        var object = JSONValue.Object()
        object["seed"] = .string(Hex.encode(seed))
        object["attestationKey"] = .string(Hex.encode(attestationKey))
        object["certificate"] = .string(Hex.encode(certificate))
        if !authority.isEmpty {
            object["authorityKey"] = .string(Hex.encode(authorityKey))
            object["authority"] = .string(Hex.encode(authority))
        }
        object["counter"] = .int(Int64(counter))
        object["pinHash"] = pinHash.map { .string(Hex.encode($0)) }
        if pinHash != nil { object["pinLength"] = .int(Int64(clamping: pinLength)) }
        object["pinRetries"] = .int(Int64(pinRetries))
        object["minPINLength"] = .int(Int64(clamping: minPINLength))
        object["minPINReaders"] = .array(minPINReaders.map(JSONValue.string))
        if requiresComplexPIN { object["requiresComplexPIN"] = true }
        if mustChangePIN { object["mustChangePIN"] = true }
        if alwaysUV { object["alwaysUV"] = true }
        if enterpriseAttestation { object["enterpriseAttestation"] = true }
        if needsLongTouch { object["needsLongTouch"] = true }
        object["credentials"] = .array(credentials.map(\.json))
        if !hidden.isEmpty { object["hidden"] = .array(hidden.map(\.json)) }
        object["largeBlobs"] = .string(Hex.encode(largeBlobs))
        if !fingerprints.isEmpty { object["fingerprints"] = .array(fingerprints.map(\.json)) }
        if verificationsLeft != Self.allVerifications { object["verificationsLeft"] = .int(Int64(verificationsLeft)) }
        object["u2fPIN"] = u2fPIN.map { .string(Hex.encode($0)) }
        if u2fRetries != Self.allU2FRetries { object["u2fRetries"] = .int(Int64(u2fRetries)) }
        if hasLeftFIPSMode { object["hasLeftFIPSMode"] = true }
        if !identifier.isEmpty { object["identifier"] = .string(Hex.encode(identifier)) }
        if !persistentToken.isEmpty { object["persistentToken"] = .string(Hex.encode(persistentToken)) }
        return .object(object)
    }

    /// Parses the memory in a state file.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        seed = try fields.bytes("seed")
        attestationKey = try fields.bytes("attestationKey")
        certificate = try fields.bytes("certificate")
        if fields.has("authorityKey") {
            authorityKey = try fields.bytes("authorityKey")
            authority = try fields.bytes("authority")
        }
        counter = try fields.number("counter", 0...UInt32.max)
        if fields.has("pinHash") {
            pinHash = try fields.bytes("pinHash")
            pinLength = try fields.number("pinLength", 0...63)
        }
        pinRetries = try fields.number("pinRetries", 0...Self.allRetries)
        minPINLength = try fields.number("minPINLength", 4...63)
        minPINReaders = try fields.texts("minPINReaders")
        requiresComplexPIN = try fields.flag("requiresComplexPIN")
        mustChangePIN = try fields.flag("mustChangePIN")
        alwaysUV = try fields.flag("alwaysUV")
        enterpriseAttestation = try fields.flag("enterpriseAttestation")
        needsLongTouch = try fields.flag("needsLongTouch")
        for entry in try fields.list("credentials") { credentials.append(try VirtualCredential(entry)) }
        if fields.has("hidden") {
            for entry in try fields.list("hidden") { hidden.append(try VirtualCredential(entry)) }
        }
        largeBlobs = try fields.bytes("largeBlobs")
        if fields.has("fingerprints") {
            for entry in try fields.list("fingerprints") { fingerprints.append(try VirtualFingerprint(entry)) }
        }
        if fields.has("verificationsLeft") {
            verificationsLeft = try fields.number("verificationsLeft", 0...Self.allVerifications)
        }
        if fields.has("u2fPIN") {
            let pin = try fields.bytes("u2fPIN")
            guard Self.u2fPINLengths.contains(pin.count) else { throw fields.fault("u2fPIN", "expected 6 to 32 bytes") }
            u2fPIN = pin
        }
        if fields.has("u2fRetries") { u2fRetries = try fields.number("u2fRetries", 0...Self.allU2FRetries) }
        hasLeftFIPSMode = try fields.flag("hasLeftFIPSMode")
        if fields.has("identifier") { identifier = try fields.bytes("identifier") }
        if fields.has("persistentToken") { persistentToken = try fields.bytes("persistentToken") }
        try fields.finish()
    }
}

extension VirtualCredential {
    private static let algorithms: [(String, COSEAlgorithm)] = FIDOAuthenticator.algorithms.map { ($0.description, $0) }

    /// The credential as stored in the state file.
    fileprivate var json: JSONValue {
        var object = JSONValue.Object()
        object["id"] = .string(Hex.encode(id))
        object["rp"] = .string(rpID)
        object["user"] = .string(Hex.encode(userID))
        object["name"] = userName.map(JSONValue.string)
        object["displayName"] = displayName.map(JSONValue.string)
        object["algorithm"] = .string(algorithm.description)
        object["secret"] = .string(Hex.encode(secret))
        object["privateKey"] = privateKey.map { .string(Hex.encode($0)) }
        object["protection"] = .int(Int64(clamping: protection))
        object["blob"] = blob.map { .string(Hex.encode($0)) }
        object["largeBlobKey"] = largeBlobKey.map { .string(Hex.encode($0)) }
        if let directBlob {
            object["directBlob"] = .string(Hex.encode(directBlob.bytes))
            object["directBlobSize"] = .int(Int64(clamping: directBlob.size))
        }
        if allowsPayment { object["payment"] = true }
        return .object(object)
    }

    /// Parses a credential in a state file.
    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init(
            id: try fields.bytes("id"), rpID: try fields.text("rp"),
            algorithm: try fields.choice("algorithm", Self.algorithms), secret: try fields.bytes("secret"))
        guard secret.count == 32 else { throw fields.fault("secret", "expected 32 bytes") }
        if fields.has("privateKey") { privateKey = try fields.bytes("privateKey") }
        userID = try fields.bytes("user")
        if fields.has("name") { userName = try fields.text("name") }
        if fields.has("displayName") { displayName = try fields.text("displayName") }
        protection = try fields.number("protection", 1...3)
        if fields.has("blob") { blob = try fields.bytes("blob") }
        if fields.has("largeBlobKey") { largeBlobKey = try fields.bytes("largeBlobKey") }
        if fields.has("directBlob") {
            directBlob = DirectBlob(
                bytes: try fields.bytes("directBlob"), size: try fields.number("directBlobSize", 0...UInt64(Int64.max)))
        }
        allowsPayment = try fields.flag("payment")
        try fields.finish()
    }
}

extension VirtualFingerprint {
    fileprivate var json: JSONValue { ["id": .string(Hex.encode(id)), "name": .string(name)] }

    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init(id: try fields.bytes("id"), name: try fields.text("name"))
        try fields.finish()
    }
}
