// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKFIDO
import YKHardware
import YKTransport
import YKWire

/// Creates a credential for pam_u2f, and prints a line for its mapping file or extends the user's line in a file.
struct PAMU2FRegistration {
    let verb: FIDO2Register
    /// The mapping file; `nil` to print the line.
    let file: String?

    func answer(in world: World) async throws -> Answer {
        let user = try userName()
        let origin = try verb.ceremony.origin ?? "pam://\(hostName())"
        let mapping = try file.map { path throws(Explanation) in try PAMMapping(path) }
        var request = RegistrationRequest(
            clientDataHash: try world.environment.random.draw(32, secret: false),
            relyingParty: RelyingParty(id: origin, name: origin),
            user: FIDOUser(
                id: try world.environment.random.draw(32, secret: false), name: user, displayName: user))
        // pam_u2f supports Ed25519 since version 1.2 (Debian 12 has 1.1).
        request.algorithms = verb.ask.algorithm.isEmpty ? [.es256] : [verb.ask.algorithms[0]]
        request.isResident = verb.ask.resident
        request.userVerification = verb.ask.uv?.requirement ?? .discouraged
        request.excludeList = try (mapping?.handles(of: user) ?? []).map { CredentialDescriptor(id: $0) }
        let what = "make a credential for '\(user.printable)' at \(origin.printable)"
        let service = try await world.openTouchedFIDO(verb.pin, for: what)
        world.announce("\(what)\(request.isResident ? ", remembered by the key" : "")")
        let made = try await service.register(request)
        let entry = try entry(made, hasBuiltInUV: try await service.info().hasBuiltInUV)
        guard let mapping else { return Answer("\(user):\(entry)", ["line": .string("\(user):\(entry)")]) }
        try mapping.append(entry, to: user)
        world.terminal.note("try it while a root shell stays open: a mistake in PAM locks you out")
        return Answer(
            "the line of '\(user.printable)' in \(mapping.path.printable) has this key now",
            ["line": .string("\(user):\(entry)")])
    }

    private func userName() throws(Explanation) -> String {
        let names = [Variables["USER"], Variables["LOGNAME"], Self.accountName()]
        let name = verb.ask.user ?? names.lazy.compactMap { $0 }.first { !$0.isEmpty } ?? ""
        let isSafe = name.unicodeScalars.allSatisfy { $0 != ":" && $0 != "," && !$0.isHazardous }
        guard !name.isEmpty, isSafe else {
            throw .usage("--user is the name of the account on this machine")
        }
        return name
    }

    /// The name of the account that runs the program, by its number.
    private static func accountName() -> String? {
        var entry = passwd()
        var buffer = [CChar](repeating: 0, count: 16384)
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return String(cString: entry.pw_name)
    }

    private func hostName() throws(Explanation) -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else {
            throw .usage("--origin is needed: the machine has no name")
        }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The key handle, public key, type and options (pam_u2f(8), pamu2fcfg(1)).
    private func entry(_ made: Registration, hasBuiltInUV: Bool) throws -> String {
        guard let credential = made.response.authenticatorData.credential else {
            throw Explain.malformed("the key told no credential")
        }
        let (kind, key): (String, [UInt8])
        switch credential.publicKey.material {
        case .ec2(.p256, let x, let y): (kind, key) = ("es256", x + y)
        case .okp(.ed25519, let x): (kind, key) = ("eddsa", x)
        case .rsa(let modulus, let exponent): (kind, key) = ("rs256", modulus + exponent)
        default: throw Explanation.usage("pam_u2f takes es256, eddsa and rs256", hint: "--algorithm es256")
        }
        let handle = verb.ask.resident ? "*" : Base64.encode(credential.id)
        let isVerified = verb.ask.uv == .required
        let options = "+presence" + (isVerified ? hasBuiltInUV ? "+verification" : "+pin" : "")
        return "\(handle),\(Base64.encode(key)),\(kind),\(options)"
    }
}

/// A mapping file of pam_u2f: one line per user. If a user has several lines, only the last one is used.
///
/// The file is bytes: lines end at LF alone, as pam_u2f reads them, and the lines of other users stay as they are.
struct PAMMapping {
    let path: String
    private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

    init(_ path: String) throws(Explanation) {
        self.path = path
        if let status = FileStatus(path), !status.isRegular {
            throw .usage("\(path.printable) is not a file", hint: "--append names the mapping file of pam_u2f")
        }
        guard access(folder, W_OK) == 0 else { throw Files.failure("cannot write to", folder) }
    }

    private func lines() throws(Explanation) -> [[UInt8]] {
        guard FileStatus(path) != nil else { return [] }
        return try Files.read(path).split(separator: UInt8(ascii: "\n")).map { Array($0) }
    }

    /// Returns a user's existing credentials, except those stored on keys.
    func handles(of user: String) throws(Explanation) -> [[UInt8]] {
        var handles: [[UInt8]] = []
        for line in try lines() where line.starts(with: (user + ":").utf8) {
            for entry in String(decoding: line, as: UTF8.self).split(separator: ":").dropFirst() {
                if let handle = entry.split(separator: ",").first, let bytes = try? Base64.decode(handle) {
                    handles.append(bytes)
                }
            }
        }
        return handles
    }

    /// Extends the user's line, under a lock, by replacing the file with a new one.
    func append(_ entry: String, to user: String) throws(Explanation) {
        try UserFolder.locked(folder, Interruption.cancellation, explainedBy: Files.explained) {
            () throws(Explanation) in try replace(entry, user)
        }
    }

    private func replace(_ entry: String, _ user: String) throws(Explanation) {
        var lines = try lines()
        if let place = lines.lastIndex(where: { $0.starts(with: (user + ":").utf8) }) {
            if lines[place].last == UInt8(ascii: "\r") { lines[place].removeLast() }
            lines[place] += Array(":\(entry)".utf8)
        } else {
            lines.append(Array("\(user):\(entry)".utf8))
        }
        var status = stat()
        let isSecret = stat(path, &status) != 0 || status.st_mode & 0o077 == 0
        try SettledFile(path, .replacing, isSecret: isSecret).finish(lines.flatMap { $0 + [UInt8(ascii: "\n")] })
    }
}
