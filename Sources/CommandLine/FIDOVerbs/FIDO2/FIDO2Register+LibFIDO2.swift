// SPDX-License-Identifier: Apache-2.0

import Applications
import TerminalIO
import Verbs
import YKFIDO
import YKTransport
import YKWire

extension FIDO2Register {
    /// Creates a credential as `fido2-cred -M` does: a hash of client data in, the parts of an attestation out.
    func libFIDO2Outcome(in run: Run) async throws -> Outcome<RegistrationReport> {
        let request = try libFIDO2Request(run)
        let rpID = request.relyingParty.id
        let what = "create a credential for '\((request.user.name ?? "").printable)' at \(rpID.printable)"
        let service = try await run.openTouchedFIDO(pin, for: what)
        if ask.extensions.payment { try await service.requirePayments() }
        if request.isResident {
            try await checkReplacing(rpID, request.user, request.excludeList, service, run)
        }
        run.announce("\(what)\(request.isResident ? ", stored on the key" : "")")
        var outcome = Outcome<RegistrationReport>.printed
        outcome.answer.lines = try await service.register(request).libFIDO2Lines(for: request)
        outcome.answer.isMadeOnce = true
        return outcome
    }

    private func libFIDO2Request(_ run: Run) throws -> RegistrationRequest {
        var request: RegistrationRequest
        if let file = ceremony.options {
            request = try Files.parse(file) { bytes throws(FormatError) in try RegistrationRequest(libFIDO2: bytes) }
        } else {
            let options = try ask.read(run)
            let party = RelyingParty(id: options.rpID ?? "", name: options.rpName)
            let data = ClientData(
                .create, challenge: options.challenge, origin: ceremony.origin ?? "https://\(party.id)")
            request = RegistrationRequest(clientDataHash: data.hash, relyingParty: party, user: options.user)
        }
        request.algorithms = ask.algorithm.isEmpty ? [.es256] : ask.algorithms
        request.isResident = ask.resident
        request.userVerification = ask.uv?.requirement ?? .discouraged
        request.usesU2F = ceremony.usesU2F
        request.extensions = try ask.extensions.inputs
        for id in ask.exclude {
            request.excludeList.append(CredentialDescriptor(id: try BytesArgument.base64(id, "--exclude")))
        }
        return request
    }
}

extension FIDO2Assert {
    /// Requests an assertion as `fido2-assert -G` does: a hash of client data in, authenticator data and signature out.
    func libFIDO2Outcome(in run: Run) async throws -> Outcome<AssertionReport> {
        let request = try libFIDO2Request(run)
        let what = "sign in at \(request.rpID.printable)"
        let service = try await run.openTouchedFIDO(pin, for: what)
        if ask.payment { try await service.requirePayments() }
        if request.requiresPresence { run.announce(to: what) }
        var outcome = Outcome<AssertionReport>.printed
        outcome.answer.lines = try await service.assert(request).flatMap { $0.libFIDO2Lines(for: request) }
        return outcome
    }

    private func libFIDO2Request(_ run: Run) throws -> AssertionRequest {
        var request: AssertionRequest
        if let file = ceremony.options {
            request = try Files.parse(file) { bytes throws(FormatError) in
                try AssertionRequest(libFIDO2: bytes, isResident: resident)
            }
        } else {
            let options = try ask.read(run)
            let rpID = options.rpID ?? ""
            let data = ClientData(.get, challenge: options.challenge, origin: ceremony.origin ?? "https://\(rpID)")
            request = AssertionRequest(rpID: rpID, clientDataHash: data.hash)
            request.extensions.salts = try ask.salts
        }
        request.allowList += try ask.credentials.map { CredentialDescriptor(id: $0) }
        request.userVerification = ask.uv?.requirement ?? .discouraged
        request.requiresPresence = !ask.noTouch
        request.extensions.asksThirdPartyPayment = ask.payment
        request.usesU2F = ceremony.usesU2F
        return request
    }
}
