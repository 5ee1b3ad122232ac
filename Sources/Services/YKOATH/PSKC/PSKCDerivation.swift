// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

/// How the key of a container is derived from a passphrase: PBKDF2 (RFC 6030 §6.2).
struct PSKCDerivation: Sendable {
    /// Maximum number of rounds, so that a file cannot keep this computer busy for minutes.
    static let roundLimit = 10_000_000

    let salt: [UInt8]
    let rounds: Int
    let length: Int
    let hash: HashAlgorithm

    init(_ method: XMLNode) throws(PSKCError) {
        let name = method.attributes["Algorithm"] ?? ""
        guard name.lowercased().hasSuffix("#pbkdf2") else { throw .unsupported(name) }
        guard let parameters = method.first("PBKDF2-params") else { throw .field("PBKDF2-params", "") }
        guard let salt = parameters.first("Salt")?.value("Specified") else { throw .field("Salt", "") }
        self.salt = try salt.base64("Salt")
        rounds = try Self.number(parameters, "IterationCount", in: 1...Self.roundLimit)
        length = try Self.number(parameters, "KeyLength", in: 16...32)
        let function = parameters.first("PRF")?.attributes["Algorithm"]
        guard let hash = function.map({ HashAlgorithm(xmlName: $0) }) ?? .sha1 else {
            throw .unsupported(function ?? "")
        }
        self.hash = hash
    }

    func key(_ passphrase: SharedSecret, _ cancellation: Cancellation) throws(PSKCError) -> Secret {
        let result = AbandonableWork.run(cancellation) { [self] () -> Result<SharedSecret, CryptoFault> in
            do throws(CryptoFault) {
                let key = try hash.pbkdf2(passphrase.value, salt: salt, rounds: rounds, length: length)
                return .success(SharedSecret(key))
            } catch { return .failure(error) }
        }
        guard let result else { throw .cancelled }
        do { return try result.get().value.copy() } catch { throw .crypto(error) }
    }

    private static func number(
        _ parameters: XMLNode, _ name: String, in range: ClosedRange<Int>
    ) throws(PSKCError) -> Int {
        let text = parameters.value(name) ?? ""
        guard let number = Int(text), range.contains(number) else { throw .unusable(name, text) }
        return number
    }
}
