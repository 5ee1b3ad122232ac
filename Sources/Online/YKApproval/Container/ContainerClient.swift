// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKPrivacyIDEA
public import YKTransport
import YKWire

/// Registers a key as a container of a privacyIDEA server, synchronizes it, moves it to another key, and unregisters
/// it.
public struct ContainerClient: Sendable {
    private let http: any HTTPClient
    private let random: any RandomSource
    /// Timeout for a request.
    public var timeout = Duration.seconds(30)

    /// Creates a client.
    public init(_ http: any HTTPClient, _ random: any RandomSource) {
        self.http = http
        self.random = random
    }

    /// Registers a key with a link.
    ///
    /// - Parameters:
    ///   - key: The device's key, on P-384.
    ///   - model: The device model to report to the server, without `|`.
    ///   - passphrase: The answer to the link's question.
    /// - Throws: `malformed` for a key on another curve, `passphraseNeeded`, `server` with the refusal, or the error of
    ///   the key.
    public func register(
        _ link: ContainerLink, _ key: some ApprovalKey, model: String, passphrase: SharedSecret?, _ trust: HTTPTrust
    ) async throws {
        guard case .ec(.p384, _) = key.publicKey else {
            throw ApprovalError.malformed("the key of a container is on P-384")
        }
        guard link.passphrasePrompt == nil || passphrase != nil else {
            throw ApprovalError.passphraseNeeded(link.passphrasePrompt ?? "")
        }
        let phrase = link.passphrasePrompt == nil ? nil : passphrase?.text
        let signed = ContainerAccount.registration(link, model: model, passphrase: phrase)
        var fields = JSONValue.Object()
        fields["container_serial"] = .string(link.serial)
        fields["signature"] = .string(try await signature(over: signed, key))
        fields["public_client_key"] = .string(
            PEM.encode("PUBLIC KEY", key.publicKey.subjectPublicKeyInfo))
        fields["device_brand"] = .string(ContainerAccount.brand)
        fields["device_model"] = .string(model)
        fields["scope"] = .string(ContainerAccount.scope(link.address, "register/finalize"))
        if link.sendsPassphrase, let phrase { fields["passphrase"] = .string(phrase) }
        let sent = JSONValue.object(fields)
        let path = "/container/register/finalize"
        do { _ = try await call(link.server, trust, path, sent) } catch {
            guard case .server(let cause) = error, cause.leavesOpen else { throw error }
            // The server may have the key: the link is good once, so the same request is either accepted now, or
            // refused because the container is registered.
            do { _ = try await call(link.server, trust, path, sent) } catch {
                guard case .server(.refused(400, 3000, _)) = error else { throw error }
            }
        }
    }

    /// Synchronizes a container. Each token that the device does not yet hold gets a new secret.
    ///
    /// - Parameters:
    ///   - container: The container, with the tokens that it holds.
    ///   - key: The device's key.
    /// - Returns: The server's update; store it before using it.
    /// - Throws: `server`, `malformed`, or the error of the key.
    public func synchronize(
        _ container: ContainerAccount, _ key: some ApprovalKey
    ) async throws -> ContainerUpdate {
        let exchange: ContainerExchange
        do {
            var number = try random.draw(32, secret: true)
            defer { Secret.wipe(&number) }
            exchange = try ContainerExchange(Secret(number))
        } catch is LinkError { throw ApprovalError.random }
        let held: JSONValue = [
            "serial": .string(container.serial), "type": "smartphone",
            "tokens": .array(
                container.tokens.map {
                    ["serial": .string($0.serial), "tokentype": .string($0.type.uppercased())]
                }),
        ]
        let value = try await signed(
            container, key, "synchronize",
            [("public_enc_key_client", exchange.publicKey), ("container_dict_client", held.text)])
        return try exchange.open(value)
    }

    /// Starts the rollover to another key.
    ///
    /// - Returns: The link with which the other key registers, valid for minutes. The current key remains valid until
    ///   then.
    /// - Throws: `server`, `malformed`, or the error of the key.
    public func rollover(_ container: ContainerAccount, _ key: some ApprovalKey) async throws -> String {
        let value = try await signed(container, key, "rollover", [])
        guard let text = value["container_url"]?["value"]?.string else {
            throw ApprovalError.malformed("the server gave no link for the other key")
        }
        let link = try ContainerLink(text)
        guard link.serial == container.serial, link.server.origin == container.server.origin else {
            throw ApprovalError.otherServer(link.server.origin, enrolled: container.server.origin)
        }
        return text
    }

    /// Requests a challenge to check that the server knows the container; nothing is signed or changed.
    ///
    /// - Throws: `server`, with the number 3001 if the container is not registered.
    public func check(_ container: ContainerAccount) async throws(ApprovalError) {
        _ = try await call(
            container.server, container.trust, "/container/challenge",
            [
                "container_serial": .string(container.serial),
                "scope": .string(ContainerAccount.scope(container.address, "rollover")),
            ])
    }

    /// Unregisters the container: the server deletes the device's key.
    ///
    /// - Throws: `server`, or the error of the key.
    public func terminate(_ container: ContainerAccount, _ key: some ApprovalKey) async throws {
        _ = try await signed(container, key, "register/terminate/client", [])
    }

    /// Fetches a challenge for an operation, signs it, and sends it with the operation's fields.
    private func signed(
        _ container: ContainerAccount, _ key: some ApprovalKey, _ operation: String, _ fields: [(String, String)]
    ) async throws -> JSONValue {
        guard key.publicKey == container.publicKey else { throw ApprovalError.wrongKey(container.account.name) }
        let scope = ContainerAccount.scope(container.address, operation)
        let challenge = try await call(
            container.server, container.trust, "/container/challenge",
            ["container_serial": .string(container.serial), "scope": .string(scope)])
        guard let nonce = challenge["nonce"]?.string, let time = challenge["time_stamp"]?.string,
            nonce.utf8.count <= 128, time.utf8.count <= 64, !(nonce + time).contains(bytesOf: "|")
        else { throw ApprovalError.malformed("the server gave no challenge") }
        if let algorithm = challenge["enc_key_algorithm"]?.string, algorithm != "x25519" {
            throw ApprovalError.malformed("the server uses \(algorithm) for key agreement, not x25519")
        }
        let text = ([nonce, time, container.serial, scope] + fields.map(\.1)).joined(separator: "|")
        var sent = JSONValue.Object()
        sent["container_serial"] = .string(container.serial)
        sent["scope"] = .string(scope)
        sent["signature"] = .string(try await signature(over: text, key))
        for (name, value) in fields { sent[name] = .string(value) }
        return try await call(container.server, container.trust, "/container/" + operation, .object(sent))
    }

    private func signature(over text: String, _ key: some ApprovalKey) async throws -> String {
        Base64.encodeURL(try await key.signed(text), padded: true)
    }

    private func call(
        _ server: HTTPURL, _ trust: HTTPTrust, _ path: String, _ fields: JSONValue
    ) async throws(ApprovalError) -> JSONValue {
        var client = PrivacyIDEA(server, http, random)
        client.trust = trust
        client.timeout = timeout
        do { return try await client.call(.post, path, fields).value } catch { throw .server(error) }
    }
}

extension ServerError {
    /// Whether the server may have carried out the request: it was reached, but gave no usable answer.
    fileprivate var leavesOpen: Bool {
        switch self {
        case .http(.failed), .http(.timedOut), .http(.tooLarge), .http(.redirected): true
        case .http: false
        case .malformed: true
        case .status(let status): status >= 500
        case .refused, .signature, .random: false
        }
    }
}
