// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension FIDOSession {
    /// Requests assertions with CTAP2.
    func assert(_ request: AssertionRequest) throws(FIDOError) -> [Assertion] {
        var request = request
        try request.extensions.check(try info())
        if request.extensions.writesDirectly, request.allowList.isEmpty { throw .noCredentials }
        if let other = request.alternativeID, try !has(request.allowList, for: request.rpID) {
            if try has(request.allowList, for: other) {
                request.rpID = other
            } else if try u2fHas(request.allowList, for: other) != nil {
                return [try assertU2F(request, for: [other])]
            }
        }
        let wanted = request
        return try verified(
            wanted.userVerification, wanted.extensions.permissions, rpID: wanted.rpID, isResident: false
        ) { means throws(FIDOError) in try assert(wanted, means) }
    }

    private func assert(_ request: AssertionRequest, _ means: VerificationMeans) throws(FIDOError) -> [Assertion] {
        var command = GetAssertion(rpID: request.rpID, clientDataHash: request.clientDataHash)
        command.allowList =
            request.extensions.isByCredential
            ? try sole(request.allowList, rpID: request.rpID, means)
            : try fitting(request.allowList, rpID: request.rpID, means)
        if command.allowList.isEmpty, !request.allowList.isEmpty { throw .noCredentials }
        command.requiresPresence = request.requiresPresence ? nil : false
        command.verifiesUser = means.option
        command.auth = means.auth(over: request.clientDataHash)
        defer { if request.requiresPresence { tokenWasUsed() } }
        return try assert(command, request.extensions)
    }

    private func assert(
        _ command: GetAssertion, _ extensions: AssertionExtensions
    ) throws(FIDOError) -> [Assertion] {
        var command = command
        let info = try info()
        guard let salts = extensions.salts(for: command.allowList) else {
            command.extensions = extensions.input(info, for: command.allowList, hmacSecret: nil)
            return try assertions(command) { _ throws(FIDOError) in nil }
        }
        let exchange = try HMACSecretExchange(salts, self)
        command.extensions = extensions.input(info, for: command.allowList, hmacSecret: exchange.input)
        return try assertions(command) { output throws(FIDOError) in
            try exchange.secrets(output, during: command.name)
        }
    }

    private func assertions(
        _ command: GetAssertion, secrets: (CBOR?) throws(FIDOError) -> HMACSecrets?
    ) throws(FIDOError) -> [Assertion] {
        var response = try send(command)
        let count = try count(of: response.numberOfCredentials, during: command.name)
        let deadline = ctap.environment.deadline()
        var assertions = [try assertion(response, command, secrets: secrets)]
        while assertions.count < count {
            try check(deadline, "a list of \(count) credentials")
            response = try send(GetNextAssertion())
            assertions.append(try assertion(response, command, secrets: secrets))
        }
        return assertions
    }

    /// Throws if a value that the key sent was overwritten in the replayed recording.
    func requireRecorded(_ value: [UInt8]?, _ name: String) throws(FIDOError) {
        do { try ctap.environment.requireRecorded(value ?? [], name) } catch {
            throw .ctap(.link(.device(error)))
        }
    }

    private func assertion(
        _ response: GetAssertion.Response, _ command: GetAssertion,
        secrets: (CBOR?) throws(FIDOError) -> HMACSecrets?
    ) throws(FIDOError) -> Assertion {
        func malformed(_ reason: String) -> FIDOError {
            .ctap(.malformed(WireError(.malformed, at: 0, reason), during: command.name))
        }
        let only = command.allowList.count == 1 ? command.allowList.first : nil
        guard let credential = response.credential ?? only else { throw malformed("the credential is not named") }
        guard command.allowList.isEmpty || command.allowList.contains(where: { $0.id == credential.id }) else {
            throw malformed("a credential that was not requested")
        }
        try response.authenticatorData.check(isFor: command.rpID, during: command.name)
        let map = response.authenticatorData.extensions
        try requireRecorded(map?["credBlob"]?.bytes, "the credBlob")
        try requireRecorded(
            response.unsignedExtensions?[.text(DirectLargeBlob.identifier)]?.map?["blob"]?.bytes, "the large blob")
        return Assertion(
            response: response, credential: credential, rpID: command.rpID,
            extensions: AssertionExtensionOutputs(
                map, secrets: try secrets(map?["hmac-secret"]),
                signature: command.extensions[.text(PreviewSign.identifier)].flatMap { _ in
                    response.authenticatorData.previewSignature
                },
                largeBlob: try DirectLargeBlob.Output(response.unsignedExtensions, for: command.extensions)))
    }
}
