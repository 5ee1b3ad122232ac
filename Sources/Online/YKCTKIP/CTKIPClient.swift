// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
public import YKSecurID
public import YKTransport
public import YKWire

/// Fetches a token from a server with CT-KIP (RFC 4758, two rounds) as implemented by RSA's servers. Client and server
/// both contribute to the seed, which is never sent over the network.
///
/// RSA's servers deviate from the RFC: they announce the key as PKCS#1 v1.5 but use OAEP (SHA-1), and the pseudorandom
/// function takes its inputs in a different order.
public struct CTKIPClient: Sendable {
    private let http: any HTTPClient
    private let random: any RandomSource
    /// How the server's certificate is verified.
    public var trust = HTTPTrust()
    /// Timeout for each of the two requests.
    public var timeout = Duration.seconds(30)
    /// Maximum size of a reply in bytes.
    static let replyLimit = 1 << 20

    /// Creates a client.
    public init(_ http: any HTTPClient, _ random: any RandomSource) {
        self.http = http
        self.random = random
    }

    /// Fetches a token.
    ///
    /// The server's authentication code is compared in constant time; if it differs, the token is discarded. Errors
    /// never contain the activation code, even if the server's reply does.
    ///
    /// - Parameters:
    ///   - url: The URL of the server's CT-KIP service.
    ///   - code: The activation code, which servers accept only once.
    public func token(from url: HTTPURL, _ code: ActivationCode) async throws(CTKIPError) -> SecurIDToken {
        do { return try await exchange(url, code) } catch { throw error.without(code) }
    }

    private func exchange(_ url: HTTPURL, _ code: ActivationCode) async throws(CTKIPError) -> SecurIDToken {
        let opening = try await send(CTKIPMessages.hello, "StartService", url, code)
        let hello = try CTKIPHello(opening.message)
        let exchange = try CTKIPExchange(hello, random)
        let nonce = CTKIPMessages.nonce(session: hello.session, encrypted: exchange.encryptedNonce, hello.nonce)
        let closing = try await send(nonce, "ServerFinished", url, code)
        let finished = try CTKIPFinished(closing.message, session: hello.session)
        guard constantTimeEqual(try exchange.mac(), finished.mac) else { throw .mac }
        return try finished.token(exchange.seed, provisioning: closing.provisioning)
    }

    private func send(
        _ message: String, _ action: String, _ url: HTTPURL, _ code: ActivationCode
    ) async throws(CTKIPError) -> CTKIPReply {
        let body = CTKIPMessages.envelope(message, code.text)
        var request = HTTPRequest(post: url, Array(body.utf8), type: "application/vnd.otps.ct-kip")
        request.fields += [
            HTTPField("Authorization", code.text), HTTPField("SOAPAction", action), HTTPField("User-Agent", "HTTPPOST"),
        ]
        request.trust = trust
        request.timeout = timeout
        request.limit = Self.replyLimit
        let response: HTTPResponse
        do { response = try await http.send(request) } catch { throw .http(error) }
        // A SOAP fault may come with status 500 (SOAP 1.1 §6.2).
        guard response.status == 200 || response.status == 500 else { throw .status(response.status) }
        do { return try CTKIPReply(response.body, code) } catch {
            switch error {
            case .xml, .reply: throw response.status == 200 ? error : .status(response.status)
            default: throw error
            }
        }
    }
}

/// The client's contribution, and the values derived from both nonces.
struct CTKIPExchange {
    /// The client's nonce, encrypted for the server.
    let encryptedNonce: [UInt8]
    /// The seed: the key agreed by both sides.
    let seed: SharedSecret
    private let number: SharedSecret

    init(_ hello: CTKIPHello, _ random: any RandomSource) throws(CTKIPError) {
        var number: [UInt8]
        let padding: [UInt8]
        do {
            number = try random.draw(16, secret: true)
            padding = try random.draw(HashAlgorithm.sha1.digestSize, secret: true)
        } catch { throw .random }
        defer { Secret.wipe(&number) }
        try self.init(hello, number: number, padding: padding)
    }

    init(_ hello: CTKIPHello, number: [UInt8], padding: [UInt8]) throws(CTKIPError) {
        self.number = SharedSecret(Secret(number))
        do {
            let block = try RSAPadding.oaep(Secret(number), .sha1, seed: padding, size: hello.modulus.count)
            var bytes = block.copyBytes()
            defer { Secret.wipe(&bytes) }
            encryptedNonce = try PublicKey.rsa(modulus: hello.modulus, exponent: hello.exponent).rsaPublic(bytes)
            seed = SharedSecret(
                Secret(
                    try Self.function(Secret(number), hello.modulus + Array("Key generation".utf8) + hello.nonce)))
        } catch { throw .crypto(error) }
    }

    /// Returns the authentication code that the server must send.
    func mac() throws(CTKIPError) -> [UInt8] {
        var input = Array("MAC 2 Computation".utf8) + number.value.copyBytes()
        defer { Secret.wipe(&input) }
        do { return try Self.function(seed.value, input) } catch { throw .crypto(error) }
    }

    /// Computes the first block of CT-KIP-PRF-AES in RSA's order of inputs, with the counter last (RFC 4758 Appendix
    /// D.2).
    private static func function(_ key: borrowing Secret, _ input: [UInt8]) throws(CryptoFault) -> [UInt8] {
        try AESCMAC.code(input + [0, 0, 0, 1], key: key)
    }
}

extension CTKIPClient {
    /// Reads a recorded reply and runs every check that does not need the client's nonce.
    ///
    /// - Returns: The name of the message: `ServerHello` or `ServerFinished`.
    /// - Throws: The errors of ``token(from:_:)``.
    public static func message(of reply: [UInt8], _ code: ActivationCode) throws(CTKIPError) -> String {
        let reply = try CTKIPReply(reply, code)
        if reply.message.name == "ServerHello" {
            _ = try CTKIPHello(reply.message)
        } else {
            let session = reply.message.attributes["SessionID"] ?? ""
            let seed = SharedSecret(Secret([UInt8](repeating: 0, count: SecurIDToken.seedSize)))
            _ = try CTKIPFinished(reply.message, session: session).token(seed, provisioning: reply.provisioning)
        }
        return reply.message.name
    }
}

extension CTKIPError {
    /// Returns the error with the activation code removed, since a server may repeat it in any part of its reply.
    func without(_ code: ActivationCode) -> CTKIPError {
        func clean(_ text: String) -> String { code.removed(from: text) }
        return switch self {
        case .token(.field(let name)): .token(.field(clean(name)))
        case .xml(let error): .xml(WireError(error.code, at: error.offset, clean(error.reason)))
        case .fault(let kind, let message): .fault(kind: clean(kind), clean(message))
        case .reply(let reason): .reply(clean(reason))
        case .http(.redirected(let place, let status)): .http(.redirected(to: clean(place), status: status))
        case .http(.unreachable(let reason)): .http(.unreachable(clean(reason)))
        case .http(.certificate(let reason)): .http(.certificate(clean(reason)))
        case .http(.failed(let number, let reason)): .http(.failed(number, clean(reason)))
        default: self
        }
    }
}

/// Why a token could not be fetched from a CT-KIP server. No error contains the activation code.
public enum CTKIPError: Error, Hashable, Sendable {
    /// The request to the server failed.
    case http(HTTPError)
    /// The server answered with an HTTP status other than 200.
    case status(Int)
    /// The server refused the activation code.
    case activationRefused
    /// The server reported a fault, given by its class and message.
    case fault(kind: String, String)
    /// The XML of the server's reply cannot be read.
    case xml(WireError)
    /// The server's reply violates the protocol.
    case reply(String)
    /// The server's message authentication code is wrong: the exchange was modified.
    case mac
    /// The server's token has a value outside its range.
    case token(SecurIDError)
    /// A cryptographic operation failed.
    case crypto(CryptoFault)
    /// The system provided no random bytes.
    case random
}
