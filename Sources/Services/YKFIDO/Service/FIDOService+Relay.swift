// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

/// A ceremony of a program that cannot verify the key's user: makeCredential or getAssertion without a proof.
package struct RelayedCeremony: Hashable, Sendable {
    /// Whether it creates a credential.
    package let isCreation: Bool
    /// The relying party.
    package let rpID: String
    /// SHA-256 of the client data, 32 bytes.
    package let clientDataHash: [UInt8]
    /// The parameters of the command, without those of the proof.
    package let parameters: CBOR.Map
    /// Whether the program requires user verification.
    package let verification: UserVerification

    package init(
        isCreation: Bool, rpID: String, clientDataHash: [UInt8], parameters: CBOR.Map, verification: UserVerification
    ) {
        self.isCreation = isCreation
        self.rpID = rpID
        self.clientDataHash = clientDataHash
        self.parameters = parameters
        self.verification = verification
    }

    private typealias Creation = CTAPProtocol.MakeCredential.Request
    private typealias Assertion = CTAPProtocol.GetAssertion.Request

    /// Whether a discoverable credential is created.
    var isResident: Bool { isCreation && parameters[Creation.options]?.map?["rk"]?.bool == true }

    /// The permission that the proof needs.
    var permissions: ClientPIN.Permissions {
        guard isCreation else { return .getAssertion }
        return parameters[Creation.excludeList] == nil ? .makeCredential : [.makeCredential, .getAssertion]
    }

    /// The message with a proof.
    func message(_ means: VerificationMeans) -> [UInt8] {
        var map = parameters
        let auth = means.auth(over: clientDataHash)
        if isCreation {
            map.set(auth, at: Creation.pinUvAuthParam, Creation.pinUvAuthProtocol)
        } else {
            map.set(auth, at: Assertion.pinUvAuthParam, Assertion.pinUvAuthProtocol)
        }
        if let option = means.option {
            let key = isCreation ? Creation.options.cbor : Assertion.options.cbor
            var options = map[key]?.map ?? CBOR.Map()
            options["uv"] = .bool(option)
            map[key] = .map(options)
        }
        let code: CTAPCommandCode = isCreation ? .makeCredential : .getAssertion
        return [code.rawValue] + CBOR.map(map).encoded
    }
}

extension FIDOService {
    /// Runs a ceremony of another program: verifies the user here if the program or the key requires it, then sends the
    /// command. Tokens from earlier ceremonies are not reused, so that each ceremony verifies the user itself.
    ///
    /// - Returns: The key's whole answer, whose status is 00.
    package func relay(_ ceremony: RelayedCeremony) throws(FIDOError) -> [UInt8] {
        session.token = nil
        defer { session.token = nil }
        return try session.verified(
            ceremony.verification, ceremony.permissions, rpID: ceremony.rpID, isResident: ceremony.isResident
        ) { means throws(FIDOError) in
            try lift({ FIDOError($0) }) { () throws(CTAPError) in
                let name = ceremony.isCreation ? "makeCredential" : "getAssertion"
                return try session.ctap.exchange(ceremony.message(means), during: name)
            }
        }
    }

    /// Sends a U2F command of another program.
    ///
    /// - Parameter waitsForTouch: Whether it is repeated until the key is touched.
    /// - Returns: The key's whole answer, with its status word.
    package func relay(u2f command: APDU, waitsForTouch: Bool) throws(FIDOError) -> [UInt8] {
        let answer = try session.u2f { u2f throws(CTAPError) in
            waitsForTouch ? try u2f.touched(command) : try u2f.exchange(command)
        }
        return answer.encoded
    }
}
