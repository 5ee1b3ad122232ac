// SPDX-License-Identifier: Apache-2.0

package import YKCrypto
package import YKPIV
package import YKSecureChannel
package import YKTransport
package import YKX509

/// The protocol and key of a secure channel to open.
package struct ChannelChoice: Hashable, Sendable {
    /// The protocols.
    package enum Kind: String, CaseIterable, Sendable {
        case scp03 = "03"
        case a = "11a"
        case b = "11b"
        case c = "11c"
    }

    package let kind: Kind
    /// The version of the key; 0 for the first available.
    package let version: UInt8

    package init(_ kind: Kind, version: UInt8 = 0) { (self.kind, self.version) = (kind, version) }

    /// Whether the channel also authenticates this host by a key of its own.
    package var authenticatesHost: Bool { kind == .a || kind == .c }

    /// Returns the credential for SCP03, and whether its keys are public.
    ///
    /// - Parameter keys: The keys as text; `nil` for those of the factory.
    package func scp03(
        _ keys: SharedSecret?
    ) throws(CardError) -> (credential: SecureChannelCredential, isFactory: Bool) {
        let keys = if let keys { try SCP03Keys(given: keys.value) } else { SCP03Keys.factory }
        return (.scp03(keys, version: version), keys.isFactory)
    }

    /// Returns the credential for SCP11.
    ///
    /// - Parameter trust: How the key is authenticated; `nil` if it is not.
    package func scp11(host: ChannelHost?, trust: ChannelTrust?) -> SecureChannelCredential {
        .scp11(
            SCP11Variant(rawValue: kind.rawValue) ?? .b, version: version, host: host?.key,
            trust: ChannelTrust.required(trust))
    }
}

/// How a key is authenticated in SCP11: by its public key, or by the authority of its certificate.
package struct ChannelTrust: Sendable {
    private let trust: SCP11Trust

    /// Trusts a public key; `nil` unless the file has one on P-256.
    package init?(key file: KeyFile) throws {
        let key = try file.publicKey ?? file.certificate()?.publicKey ?? file.privateKey?.publicKey
        guard case .ec(.p256, let point)? = key else { return nil }
        trust = .key(point)
    }

    /// Trusts an authority; `nil` unless the file has its certificate.
    package init?(authority file: KeyFile) {
        guard let certificate = file.certificates.first else { return nil }
        trust = .authority(certificate.der)
    }

    /// The trust in a key that requires a secure channel.
    package static func required(_ given: ChannelTrust?) -> SCP11Trust { given?.trust ?? .unverified }
}

/// The key of this host for SCP11, with its certificates.
package struct ChannelHost: Sendable {
    fileprivate let key: SCP11HostKey

    /// Takes them from a file; `nil` unless it has a private key on P-256.
    ///
    /// - Parameter authority: Which authority of the card verifies the certificates; by default looked up.
    package init?(_ file: KeyFile, authority: SCPKeyReference?) throws {
        guard let key = file.privateKey, case .ec(.p256, let point) = key.publicKey else { return nil }
        let scalar = try key.scalar()
        do throws(SecureChannelFault) {
            self.key = try SCP11HostKey(
                privateKey: scalar, certificates: file.certificates.chain(to: point).map(\.der),
                authority: authority ?? SCPKeyReference(id: 0x10, version: 0))
        } catch { throw CardError.secureChannel(error) }
    }
}

extension SCP03Keys {
    /// Parses SCP03 keys.
    package init(given text: borrowing Secret) throws(CardError) {
        do { try self.init(text: text) } catch { throw .secureChannel(error) }
    }
}

extension [X509Certificate] {
    /// Returns the certificates from the CA down to that of a key, without self-signed ones.
    package func chain(to point: [UInt8]) -> [X509Certificate] {
        guard var next = first(where: { $0.publicKey == .ec(.p256, point: point) }) else { return [] }
        var chain = [next]
        while chain.count < count, next.issuer != next.subject,
            let issuer = first(where: { $0.subject.description == next.issuer.description && $0.issuer != $0.subject }),
            !chain.contains(issuer)
        {
            chain.insert(issuer, at: 0)
            next = issuer
        }
        return chain
    }
}
