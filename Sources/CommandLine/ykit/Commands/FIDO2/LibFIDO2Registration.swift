// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKTransport
import YKWire

/// Creates a credential as `fido2-cred -M` does: a hash of client data in, the parts of an attestation out.
struct LibFIDO2Registration {
    let verb: FIDO2Register

    func answer(in world: World) async throws -> Answer {
        let request = try request(world)
        let rpID = request.relyingParty.id
        let what = "make a credential for '\((request.user.name ?? "").printable)' at \(rpID.printable)"
        let service = try await world.openTouchedFIDO(verb.pin, for: what)
        world.announce("\(what)\(request.isResident ? ", remembered by the key" : "")")
        let made = try await service.register(request)
        var answer = Answer(lines(made, request), [:])
        answer.isMadeOnce = true
        return answer
    }

    private func request(_ world: World) throws -> RegistrationRequest {
        let ask = verb.ask
        var request: RegistrationRequest
        if let file = verb.ceremony.options {
            var lines = try LibFIDO2Lines(file: file)
            let hash = try lines.bytes("the hash of the client data", count: 32)
            let party = RelyingParty(id: try lines.text("the relying party"))
            let name = try lines.text("the user's name")
            let user = FIDOUser(id: try lines.bytes("the user's identifier"), name: name)
            request = RegistrationRequest(clientDataHash: hash, relyingParty: party, user: user)
        } else {
            let options = try ask.read(world)
            let party = RelyingParty(id: options.rpID ?? "", name: options.rpName)
            let data = ClientData(
                .create, challenge: options.challenge, origin: verb.ceremony.origin ?? "https://\(party.id)")
            request = RegistrationRequest(clientDataHash: data.hash, relyingParty: party, user: options.user)
        }
        request.algorithms = ask.algorithm.isEmpty ? [.es256] : ask.algorithms
        request.isResident = ask.resident
        request.userVerification = ask.uv?.requirement ?? .discouraged
        request.usesU2F = verb.ceremony.usesU2F
        request.extensions = try ask.extensions.inputs
        for id in ask.exclude {
            request.excludeList.append(CredentialDescriptor(id: try BytesArgument.base64(id, "--exclude")))
        }
        return request
    }

    private func lines(_ made: Registration, _ request: RegistrationRequest) -> [String] {
        let response = made.response
        var lines = [
            LibFIDO2Lines.line(request.clientDataHash), request.relyingParty.id, response.format.rawValue,
            LibFIDO2Lines.wrapped(response.authenticatorData.bytes),
            LibFIDO2Lines.line(response.authenticatorData.credential?.id ?? []),
            LibFIDO2Lines.line(response.statement["sig"]?.bytes ?? []),
        ]
        if let certificate = response.statement["x5c"]?.array?.first?.bytes {
            lines.append(LibFIDO2Lines.line(certificate))
        }
        if let key = response.largeBlobKey { lines.append(LibFIDO2Lines.line(key)) }
        return lines
    }
}
