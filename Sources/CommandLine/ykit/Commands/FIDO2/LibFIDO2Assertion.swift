// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKFIDO
import YKTransport
import YKWire

/// Requests an assertion as `fido2-assert -G` does: a hash of client data in, authenticator data and signature out.
struct LibFIDO2Assertion {
    let verb: FIDO2Assert

    func answer(in world: World) async throws -> Answer {
        let request = try request(world)
        let what = "sign in at \(request.rpID.printable)"
        let service = try await world.openTouchedFIDO(verb.pin, for: what)
        if request.requiresPresence { world.announce("to \(what)") }
        let signed = try await service.assert(request)
        return Answer(signed.flatMap { lines($0, request) }, [:])
    }

    private func request(_ world: World) throws -> AssertionRequest {
        let ask = verb.ask
        var request: AssertionRequest
        if let file = verb.ceremony.options {
            request = try read(try LibFIDO2Lines(file: file))
        } else {
            let options = try ask.read(world)
            let rpID = options.rpID ?? ""
            let data = ClientData(.get, challenge: options.challenge, origin: verb.ceremony.origin ?? "https://\(rpID)")
            request = AssertionRequest(rpID: rpID, clientDataHash: data.hash)
            request.extensions.salts = try ask.salts
        }
        request.allowList += try ask.credentials.map { CredentialDescriptor(id: $0) }
        request.userVerification = ask.uv?.requirement ?? .discouraged
        request.requiresPresence = !ask.noTouch
        request.usesU2F = verb.ceremony.usesU2F
        return request
    }

    private func read(_ file: LibFIDO2Lines) throws(Explanation) -> AssertionRequest {
        var lines = file
        let hash = try lines.bytes("the hash of the client data", count: 32)
        var request = AssertionRequest(rpID: try lines.text("the relying party"), clientDataHash: hash)
        if !verb.resident {
            request.allowList = [CredentialDescriptor(id: try lines.bytes("the credential's identifier"))]
        }
        guard !lines.isAtEnd else { return request }
        let salt = try lines.bytes("the salt")
        guard
            let salts = HMACSecretSalts(Array(salt.prefix(32)), salt.count > 32 ? Array(salt.dropFirst(32)) : nil)
        else { throw Explain.malformed("a salt has 32 bytes, two have 64") }
        request.extensions.salts = salts
        return request
    }

    private func lines(_ signed: Assertion, _ request: AssertionRequest) -> [String] {
        var lines = [
            LibFIDO2Lines.line(request.clientDataHash), request.rpID,
            LibFIDO2Lines.wrapped(signed.response.authenticatorData.bytes),
            LibFIDO2Lines.line(signed.response.signature),
        ]
        if request.allowList.isEmpty, let user = signed.response.user { lines.append(LibFIDO2Lines.line(user.id)) }
        if let secrets = signed.extensions.secrets {
            let bytes = secrets.first.value.copyBytes() + (secrets.second?.value.copyBytes() ?? [])
            lines.append(LibFIDO2Lines.line(bytes))
        }
        return lines
    }
}
