// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// A client's request to an agent (draft-ietf-sshm-ssh-agent, OpenSSH's PROTOCOL.agent).
enum AgentRequest {
    /// Lists the keys.
    case identities
    /// Requests a signature with the key of a blob.
    case sign(blob: [UInt8], data: [UInt8], flags: UInt32)
    /// Adds a credential.
    case add(SSHIdentity, AgentConstraints)
    /// Removes a key.
    case remove(blob: [UInt8])
    /// Removes all added credentials.
    case removeAll
    /// Locks the agent with a passphrase.
    case lock(SharedSecret)
    /// Unlocks the agent.
    case unlock(SharedSecret)
    /// Binds the connection to an SSH session.
    case bind(SessionBinding)
    /// Another extension: its name and what follows.
    case otherExtension(String, [UInt8])
    /// An unknown request.
    case other

    /// The type of extensions.
    static let extensionType: UInt8 = 27
    /// The types of requests to add the keys of a PKCS#11 library.
    static let providerTypes: Set<UInt8> = [20, 26]

    /// Reads a message: a byte for its type and its content.
    init(_ message: [UInt8]) throws(SSHError) {
        var reader = SSHReader(message)
        switch try reader.byte("the type") {
        case 11: self = .identities
        case 13:
            let blob = try reader.string("the key")
            let data = try reader.string("the data")
            self = .sign(blob: blob, data: data, flags: try reader.uint32("the flags"))
        case let type where type == 17 || type == 25:
            do { self = try Self.addition(&reader, isConstrained: type == 25) } catch {
                guard case .notInSecurityKey = error else { throw error }
                self = .other
            }
            return
        case 18: self = .remove(blob: try reader.string("the key"))
        case 19: self = .removeAll
        case 22: self = .lock(try Self.passphrase(&reader))
        case 23: self = .unlock(try Self.passphrase(&reader))
        case Self.extensionType:
            let name = try reader.text("the extension")
            guard name == "session-bind@openssh.com" else {
                self = .otherExtension(name, reader.rest())
                return
            }
            self = .bind(try SessionBinding(&reader))
        default:
            self = .other
            return
        }
        try reader.finish("the request")
    }

    private static func passphrase(_ reader: inout SSHReader) throws(SSHError) -> SharedSecret {
        var bytes = try reader.string("the passphrase")
        defer { Secret.wipe(&bytes) }
        return SharedSecret(Secret(bytes))
    }

    /// The maximum size of a comment in bytes.
    private static let commentLimit = 1024

    private static func addition(
        _ reader: inout SSHReader, isConstrained: Bool
    ) throws(SSHError) -> AgentRequest {
        var (file, certificate) = try SecurityKeyFile.takeCertified(&reader)
        guard (try? PublicKey(subjectPublicKeyInfo: file.publicKey.key.subjectPublicKeyInfo)) != nil else {
            throw .malformed("a key that is not a point on its curve")
        }
        file.comment = try reader.comment()
        guard file.comment.utf8.count <= commentLimit else {
            throw .malformed("a comment of \(file.comment.utf8.count) bytes")
        }
        let plain = SSHIdentity(file)
        guard let identity = certificate.map(plain.with) ?? plain else {
            throw .malformed("a certificate of another key")
        }
        if isConstrained { return .add(identity, try AgentConstraints(&reader)) }
        try reader.finish("the key")
        return .add(identity, AgentConstraints())
    }
}

/// The constraints of an added key.
struct AgentConstraints: Hashable, Sendable {
    /// The lifetime in seconds; `nil` for unlimited.
    var lifetime: UInt32?
    /// Whether the user must confirm each use.
    var needsConfirmation = false
    /// The hosts that the key is for; empty for any.
    var destinations: [DestinationConstraint] = []
    /// The size of the hosts in bytes.
    private(set) var bytes = 0

    init() {}

    /// Reads constraints. Refuses unknown ones, so that a key is never offered more widely than requested, and those
    /// given twice.
    init(_ reader: inout SSHReader) throws(SSHError) {
        var seen: Set<[UInt8]> = []
        while !reader.isAtEnd {
            let number = try reader.byte("the constraint")
            let name = number == Self.extensionType ? try reader.text("the extension") : ""
            guard seen.insert([number] + name.utf8).inserted else {
                throw .malformed("constraint \(number) '\(name)' given twice")
            }
            switch (number, name) {
            case (1, _): lifetime = try reader.uint32("the lifetime")
            case (2, _): needsConfirmation = true
            // ssh-add (OpenSSH 9.2) sends the library for FIDO keys; here it is always ykit.
            case (_, "sk-provider@openssh.com"): _ = try reader.string("the provider")
            case (_, "restrict-destination-v00@openssh.com"):
                let remaining = reader.remaining
                destinations = try DestinationConstraint.all(&reader)
                bytes = remaining - reader.remaining
            default: throw .malformed("constraint \(number) '\(name)'")
            }
        }
    }

    /// The type of constraints that have a name.
    private static let extensionType: UInt8 = 255
}

/// The SSH session of a connection to the agent (`session-bind@openssh.com`).
public struct SessionBinding: Hashable, Sendable {
    /// The host key of the server.
    public let hostKey: [UInt8]
    /// The identifier of the session.
    public let session: [UInt8]
    /// Whether the connection to the agent was forwarded to that server, instead of being used to log in there.
    public let isForwarding: Bool

    /// Reads the extension and verifies the host's signature over the session.
    init(_ reader: inout SSHReader) throws(SSHError) {
        hostKey = try reader.string("the host key")
        session = try reader.string("the session")
        let signature = try SSHSignature(wire: try reader.string("the signature"))
        isForwarding = try reader.bool("the purpose")
        guard signature.isValid(for: session, by: try SSHPublicKey(hostKey: hostKey)) else {
            throw .wrongSignature("the host's signature of the session is wrong")
        }
    }
}

/// An agent's reply.
enum AgentReply {
    case failure, success, extensionFailure
    /// The answer of an extension.
    case extensionResponse(String, [UInt8])
    /// The blobs of the keys and their comments.
    case identities([(blob: [UInt8], comment: [UInt8])])
    case signature(SSHSignature)

    /// The maximum size of the keys in a list. OpenSSH's clients read messages of at most 256 KiB.
    private static let listLimit = (256 << 10) - 16

    /// The message: a byte for its type and its content.
    var bytes: [UInt8] {
        switch self {
        case .failure: return [5]
        case .success: return [6]
        case .extensionFailure: return [28]
        case .extensionResponse(let name, let content):
            var writer = SSHWriter()
            writer.byte(29)
            writer.string(name)
            writer.append(content)
            return writer.bytes
        case .identities(let keys):
            var list = SSHWriter()
            var count: UInt32 = 0
            for key in keys where list.bytes.count + 8 + key.blob.count + key.comment.count <= Self.listLimit {
                list.string(key.blob)
                list.string(key.comment)
                count += 1
            }
            var writer = SSHWriter()
            writer.byte(12)
            writer.uint32(count)
            writer.append(list.bytes)
            return writer.bytes
        case .signature(let signature):
            var writer = SSHWriter()
            writer.byte(14)
            writer.string(signature.wire)
            return writer.bytes
        }
    }

    /// The keys in another agent's reply, unchanged.
    static func foreignIdentities(_ message: [UInt8]) -> [(blob: [UInt8], comment: [UInt8])]? {
        var reader = SSHReader(message)
        guard (try? reader.byte("the type")) == 12, let count = try? reader.uint32("the number"), count <= 4096 else {
            return nil
        }
        var keys: [(blob: [UInt8], comment: [UInt8])] = []
        for _ in 0..<count {
            guard let blob = try? reader.string("a key"), let comment = try? reader.string("its comment") else {
                return nil
            }
            keys.append((blob, comment))
        }
        return keys
    }
}

/// Why an agent refused a signature without asking the user.
public enum SSHAgentRefusal: Hashable, Sendable {
    /// The client is on another machine, and the agent serves only this one.
    case forwarded
    /// The login is not that of the connection's session.
    case otherSession
    /// The credential is a website's: it signs only SSH data, and nothing for clients on other machines.
    case website
    /// The key is restricted to other hosts.
    case destination
}

/// The purpose of a signature, parsed from the data to sign.
public enum SignaturePurpose: Hashable, Sendable {
    /// A login (RFC 4252 §7).
    case login(user: String, session: [UInt8], hostKey: [UInt8]?)
    /// A file, in a namespace such as `git`.
    case file(namespace: String)
    /// Other data of this many bytes.
    case other(bytes: Int)

    /// Parses the data to sign.
    ///
    /// - Parameters:
    ///   - data: The data to sign.
    ///   - blob: The key that signs it, if it is known. A login with a different key counts as other data.
    public init(_ data: [UInt8], by blob: [UInt8]? = nil) {
        self = Self.file(data) ?? Self.login(data, blob) ?? .other(bytes: data.count)
    }

    /// Whether the data is SSH data, which no other protocol mistakes for its own.
    var isOfSSH: Bool {
        if case .other = self { return false }
        return true
    }

    /// PROTOCOL.sshsig: namespace, reserved, hash algorithm, digest.
    private static func file(_ data: [UInt8]) -> SignaturePurpose? {
        guard data.starts(with: "SSHSIG".utf8) else { return nil }
        var reader = SSHReader(Array(data.dropFirst(6)))
        guard let namespace = try? reader.text("the namespace"), (try? reader.string("the reserved string")) != nil,
            (try? reader.text("the hash algorithm")) != nil, (try? reader.string("the digest")) != nil, reader.isAtEnd
        else { return nil }
        return .file(namespace: namespace)
    }

    private static func login(_ data: [UInt8], _ blob: [UInt8]?) -> SignaturePurpose? {
        var reader = SSHReader(data)
        guard let session = try? reader.string("the session"), !session.isEmpty,
            (try? reader.byte("the message")) == 50, let user = try? reader.text("the user"),
            (try? reader.text("the service")) == "ssh-connection", let method = try? reader.text("the method"),
            (try? reader.bool("the signature")) == true, (try? reader.text("the algorithm")) != nil,
            let key = try? reader.string("the key"), blob.map({ $0 == key }) ?? true
        else { return nil }
        switch method {
        case "publickey": return reader.isAtEnd ? .login(user: user, session: session, hostKey: nil) : nil
        case "publickey-hostbound-v00@openssh.com":
            guard let host = try? reader.string("the host key"), reader.isAtEnd else { return nil }
            return .login(user: user, session: session, hostKey: host)
        default: return nil
        }
    }
}
