// SPDX-License-Identifier: Apache-2.0

import YKit

/// Reads the PIV certificate for authentication, signs with its key and checks the signature. A key in software has none,
/// so there a key is generated first.
@main
struct Certificate {
    static func main() async throws {
        let isVirtual = CommandLine.arguments.contains("--virtual")
        let key = try await (isVirtual ? KeyRing(source: .virtual(.demonstration())) : KeyRing()).only()
        let piv = try await key.open(PIVService.self)
        let publicKey = try await isVirtual ? generatedKey(piv) : certifiedKey(piv)

        let message = Array("a message".utf8)
        try await piv.verify(try pin(isVirtual))
        let signature = try await piv.sign(.message(message), .authentication)
        print("signature \(Hex.encode(signature))")
        print(publicKey.isValid(signature, for: message, .sha256) ? "valid" : "not valid")
        await piv.close()
    }

    enum Problem: Error {
        case unknownKind
    }

    private static func certifiedKey(_ piv: PIVService) async throws -> PublicKey {
        let certificate = try await piv.certificate(.authentication)
        print("certificate of \(certificate.subject)")
        guard let publicKey = certificate.publicKey else { throw Problem.unknownKind }
        return publicKey
    }

    private static func generatedKey(_ piv: PIVService) async throws -> PublicKey {
        try await piv.authenticate(with: .defaultKey())
        return try await piv.generateKey(.authentication, .p256)
    }

    private static func pin(_ isVirtual: Bool) throws -> PIVPIN {
        if isVirtual { return .defaultPIN() }
        print("PIN:")
        return try PIVPIN(Secret(utf8: readLine() ?? ""))
    }
}
