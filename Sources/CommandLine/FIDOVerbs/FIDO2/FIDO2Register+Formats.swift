// SPDX-License-Identifier: Apache-2.0

import Applications
import Glibc
import TerminalIO
import Verbs
import YKFIDO
import YKHardware
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

extension FIDO2Register {
    /// Creates a credential for pam_u2f, and prints a line for its mapping file or extends the user's line in a file.
    func pamU2FOutcome(in run: Run) async throws -> Outcome<RegistrationReport> {
        let user = try userName(run)
        let origin = try ceremony.origin ?? "pam://\(hostName())"
        let file = try append.map { path throws(Explanation) in try PAMU2FMappingFile(path) }
        var request = RegistrationRequest(
            clientDataHash: try run.environment.random.draw(32, secret: false),
            relyingParty: RelyingParty(id: origin, name: origin),
            user: FIDOUser(
                id: try run.environment.random.draw(32, secret: false), name: user, displayName: user))
        // pam_u2f supports Ed25519 since version 1.2 (Debian 12 has 1.1).
        request.algorithms = ask.algorithm.isEmpty ? [.es256] : [ask.algorithms[0]]
        request.isResident = ask.resident
        request.userVerification = ask.uv?.requirement ?? .discouraged
        request.excludeList = try file?.read().credentialIDs(of: user).map { CredentialDescriptor(id: $0) } ?? []
        let what = "create a credential for '\(user.printable)' at \(origin.printable)"
        let service = try await run.openTouchedFIDO(pin, for: what)
        run.announce("\(what)\(request.isResident ? ", stored on the key" : "")")
        let made = try await service.register(request)
        let entry = try entry(made, hasBuiltInUV: try await service.info().hasBuiltInUV)
        let line = "\(user):\(entry)"
        guard let file else { return Outcome(RegistrationReport(line: line), line) }
        try file.append(entry, to: user, run.environment.cancellation)
        run.terminal.note("keep a root shell open while you try it: a mistake in PAM locks you out")
        return Outcome(
            RegistrationReport(line: line), "the line of '\(user.printable)' in \(file.path.printable) now has this key"
        )
    }

    private func userName(_ run: Run) throws(Explanation) -> String {
        let names = [run.variable("USER"), run.variable("LOGNAME"), User.account]
        let name = ask.user ?? names.lazy.compactMap { $0 }.first { !$0.isEmpty } ?? ""
        let isSafe = name.unicodeScalars.allSatisfy { $0 != ":" && $0 != "," && !$0.isHazardous }
        guard !name.isEmpty, isSafe else {
            throw .usage("--user must be the name of the account on this machine")
        }
        return name
    }

    private func hostName() throws(Explanation) -> String {
        let name = Machine.name
        guard !name.isEmpty else { throw .usage("missing --origin: the machine has no name") }
        return name
    }

    private func entry(_ made: Registration, hasBuiltInUV: Bool) throws -> PAMU2FEntry {
        guard let credential = made.response.authenticatorData.credential else {
            throw Explanation.malformed("the key returned no credential")
        }
        let verification: PAMU2FEntry.Verification =
            ask.uv != .required ? .presence : hasBuiltInUV ? .builtIn : .pin
        guard let entry = PAMU2FEntry(credential, isResident: ask.resident, verification: verification) else {
            throw Explanation.usage("pam_u2f accepts es256, eddsa and rs256", hint: "--algorithm es256")
        }
        return entry
    }
}

/// The mapping file of pam_u2f.
private struct PAMU2FMappingFile {
    let path: String
    private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

    init(_ path: String) throws(Explanation) {
        self.path = path
        if let status = FileStatus(path), !status.isRegular {
            throw .usage("\(path.printable) is not a file", hint: "--append takes the mapping file of pam_u2f")
        }
        guard access(folder, W_OK) == 0 else { throw Files.failure("cannot write to", folder) }
    }

    func read() throws(Explanation) -> PAMU2FMapping {
        FileStatus(path) == nil ? PAMU2FMapping() : PAMU2FMapping(try Files.read(path))
    }

    /// Extends the user's line, under a lock, by replacing the file with a new one.
    func append(_ entry: PAMU2FEntry, to user: String, _ cancellation: Cancellation) throws {
        try UserFolder.locked(folder, cancellation) {
            var mapping = try read()
            mapping.append(entry, to: user)
            var status = stat()
            let isSecret = stat(path, &status) != 0 || status.st_mode & 0o077 == 0
            try AtomicFile(path, .replacing, isSecret: isSecret).finish(mapping.bytes)
        }
    }
}
