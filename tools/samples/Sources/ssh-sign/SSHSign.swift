// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import YKSSH
import YKit

/// Signs a file with the key in PIV slot 9a, as `ssh-keygen -Y sign` does: `ssh-sign FILE [--virtual]`.
///
/// Writes `FILE.sig`, and prints the signer's line for the file of allowed signers, with which
/// `ssh-keygen -Y verify -f SIGNERS -I me -n file -s FILE.sig < FILE` verifies it.
@main
struct SSHSign {
    enum Problem: Error {
        case noFile, unsupportedKey
    }

    static func main() async throws {
        let isVirtual = CommandLine.arguments.contains("--virtual")
        guard let path = CommandLine.arguments.dropFirst().first(where: { $0 != "--virtual" }) else {
            throw Problem.noFile
        }
        let message = Array(try Data(contentsOf: URL(filePath: path)))
        let key = try await (isVirtual ? KeyRing(source: .virtual(.demonstration())) : KeyRing()).only()
        let piv = try await key.open(PIVService.self)
        if isVirtual {
            try await piv.authenticate(with: .defaultKey())
            _ = try await piv.generateKey(.authentication, .p256)
        }
        guard let signer = SSHPublicKey(try await piv.publicKey(.authentication)) else { throw Problem.unsupportedKey }

        try await piv.verify(try pin(isVirtual))
        let digest = HashAlgorithm.sha512.hash(message)
        let data = SSHFileSignature.signedData(namespace: "file", hash: .sha512, digest: digest)
        let bytes = try await piv.sign(.message(data), .authentication, hash: signer.hash ?? .sha512)
        let signature = SSHFileSignature(
            publicKey: signer, namespace: "file", hash: .sha512, signature: try SSHSignature(bytes, by: signer))
        try Data(signature.text.utf8).write(to: URL(filePath: path + ".sig"))
        print("me \(signer.line(comment: ""))")
        await piv.close()
    }

    private static func pin(_ isVirtual: Bool) throws -> PIVPIN {
        if isVirtual { return .defaultPIN() }
        print("PIN:")
        return try PIVPIN(Secret(utf8: readLine() ?? ""))
    }
}
