// SPDX-License-Identifier: Apache-2.0

public import Arguments
package import Verbs
package import YKCrypto
package import YKKeys
public import YKPIV
package import YKUse
import YKWire
package import YKX509

extension Run {
    /// The timeout for generating an RSA key, unless the user sets one.
    static let generationPatience = Duration.seconds(300)

    /// Opens the PIV application of the selected key, or of one of other keys, with a longer timeout for key generation.
    package func openPIV(isPatient: Bool = false, of key: Key? = nil) async throws -> PIVService {
        try await open(PIVService.self, patience: isPatient ? Self.generationPatience : nil, of: key)
    }

    /// Returns the person who confirms that PIV data is overwritten; `nil` if nobody is asked.
    package func overwriting(_ service: PIVService, force: Bool) -> PIVOverwriting? {
        force ? nil : perform { PIVOverwriting(service, person) }
    }
}

extension PIVSlot: ExpressibleByArgument, LosslessStringConvertible {
    /// The help for a slot.
    package static let help =
        "One of \(mainWords), \(retiredWords), \(attestation); 'ykit help slots' lists them."

    /// The completions for the shell.
    public static var choices: [String] { all.map(\.description) }
}

extension PIVAlgorithm: ExpressibleByArgument, LosslessStringConvertible {
    /// The possible values.
    public static var allValueStrings: [String] { known.map(\.description) }
}

extension PIVObjectID: ExpressibleByArgument, LosslessStringConvertible {}

extension ManagementKeyType: ExpressibleByArgument, LosslessStringConvertible {
    /// The possible values.
    public static var allValueStrings: [String] { known.map(\.description) }
}

extension PINPolicy: ExpressibleByArgument, LosslessStringConvertible {
    /// The possible values.
    public static var allValueStrings: [String] {
        [`default`, never, once, always, matchOnce, matchAlways].map(\.description)
    }

    /// The policies that every verb with a policy accepts.
    package static let plain: [PINPolicy] = [.never, .once, .always]
}

extension TouchPolicy: ExpressibleByArgument, LosslessStringConvertible {
    /// The policies, without the default of the key.
    package static let plain: [TouchPolicy] = [.never, .always, .cached]

    /// The possible values.
    public static var allValueStrings: [String] { [`default`, never, always, cached].map(\.description) }
}

/// A hash function by its name.
package enum HashChoice: String, CaseIterable, ExpressibleByArgument {
    case sha1, sha256, sha384, sha512

    package var algorithm: HashAlgorithm {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }
}

extension PublicKey {
    /// The key as PEM.
    package var pem: String { PEM.encode("PUBLIC KEY", subjectPublicKeyInfo) }
}

extension X509Certificate {
    /// The certificate as PEM.
    package var pem: String { PEM.encode("CERTIFICATE", der) }
}
