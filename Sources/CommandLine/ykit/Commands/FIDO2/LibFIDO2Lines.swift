// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKFIDO
import YKTransport
import YKWire

/// The lines that libfido2's tools read and write (fido2-cred(1), fido2-assert(1)): base64 or text, one per line.
struct LibFIDO2Lines {
    private var lines: ArraySlice<String>
    private let name: String

    init(file: String) throws(Explanation) {
        let bytes = try Files.read(file)
        name = file == "-" ? "standard input" : file
        lines =
            String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0).trimmed }[...]
        while lines.last?.isEmpty == true { lines.removeLast() }
    }

    var isAtEnd: Bool { lines.isEmpty }
    /// The number of remaining lines.
    var count: Int { lines.count }

    /// Reads the next line as text.
    mutating func text(_ what: String) throws(Explanation) -> String {
        guard let line = lines.popFirst() else { throw Explain.malformed("\(name) ends before \(what)") }
        return line
    }

    /// Reads the next line as base64.
    mutating func bytes(_ what: String, count: Int? = nil) throws(Explanation) -> [UInt8] {
        let line = try text(what)
        guard let bytes = try? Base64.decode(line) else { throw Explain.malformed("\(name): \(what) is not base 64") }
        guard count == nil || bytes.count == count else {
            throw Explain.malformed("\(name): \(what) has \(bytes.count) bytes")
        }
        return bytes
    }

    /// Reads the next line as a CBOR byte string in base64.
    mutating func wrapped(_ what: String) throws(Explanation) -> [UInt8] {
        let bytes = try bytes(what)
        guard let inner = (try? CBOR(decoding: bytes))?.bytes else {
            throw Explain.malformed("\(name): \(what) is not a CBOR byte string")
        }
        return inner
    }

    /// Encodes bytes as a base64 line.
    static func line(_ bytes: [UInt8]) -> String { Base64.encode(bytes) }

    /// Encodes bytes as a line with a CBOR byte string in base64.
    static func wrapped(_ bytes: [UInt8]) -> String { Base64.encode(CBOR.bytes(bytes).encoded) }
}

/// Creates a credential as `fido2-cred -M` does: a hash of client data in, the parts of an attestation out.
struct LibFIDO2Registration {
    let verb: FIDO2Register

    func answer(in world: World) async throws -> Answer {
        let request = try request(world)
        let rpID = request.relyingParty.id
        let what = "make a credential for '\((request.user.name ?? "").printable)' at \(rpID.printable)"
        let service = try await world.openTouchedFIDO(verb.pin, for: what)
        if request.isResident {
            try await verb.checkReplacing(rpID, request.user, request.excludeList, service, world)
        }
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
