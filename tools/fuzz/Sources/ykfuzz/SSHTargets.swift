// SPDX-License-Identifier: Apache-2.0

import Dispatch
import YKCrypto
import YKSSH

extension FuzzTarget {
    static let ssh: [FuzzTarget] = [
        FuzzTarget(name: "ssh-key") { bytes in
            // The numbers of RSA may be written with leading zeros, everything else in one way only.
            if let key = try? SSHPublicKey(blob: bytes), key.type != "ssh-rsa" {
                require(key.blob == bytes, "a public key is written as it was read")
            }
            _ = try? SecurityKeyFile(parsing: bytes)
            let text = String(decoding: bytes, as: UTF8.self)
            _ = try? SSHPublicKey.parse(line: text)
            if let file = try? SecurityKeyFile(parsing: bytes) {
                let again = try? SecurityKeyFile(parsing: Array(file.text(check: 1).utf8))
                require(again == file, "a key file is written as it was read")
            }
        },
        FuzzTarget(name: "ssh-signature") { bytes in
            if let signature = try? SSHSignature(wire: bytes) {
                require(signature.wire == bytes, "a signature is written as it was read")
            }
            if let file = try? SSHFileSignature(parsing: bytes) {
                _ = file.isValid(digest: [UInt8](repeating: 0, count: file.hash.digestSize))
                let again = try? SSHFileSignature(parsing: Array(file.text.utf8))
                require(again == file, "a signature of a file is written as it was read")
            }
            let signers = AllowedSigners(bytes)
            if let key = SSHPublicKey(.ed25519([UInt8](repeating: 1, count: 32))),
                let signature = try? SSHSignature([UInt8](repeating: 1, count: 64), by: key)
            {
                let file = SSHFileSignature(publicKey: key, namespace: "file", hash: .sha512, signature: signature)
                _ = signers.check(file, identity: "me@lab", now: 1)
            }
        },
        FuzzTarget(name: "ssh-certificate") { bytes in
            if let certificate = try? SSHCertificate(blob: bytes) {
                require(certificate.blob == bytes, "a certificate is written as it was read")
            }
            _ = try? SSHCertificate.parse(line: String(decoding: bytes, as: UTF8.self))
        },
        FuzzTarget(name: "ssh-agent") { bytes in
            let done = DispatchSemaphore(value: 0)
            Task {
                let agent = SSHAgent(NoKeys())
                var connection = SSHAgent.Connection { message in message.reversed() }
                for message in pieces(bytes) where message.first != 23 {
                    let reply = await agent.reply(to: message, on: &connection)
                    require(!reply.isEmpty || message.isEmpty, "each message has an answer")
                }
                done.signal()
            }
            done.wait()
        },
    ]
}

private struct NoKeys: SSHKeySource {
    func identities() async -> [SSHIdentity] {
        SSHPublicKey(.ed25519([UInt8](repeating: 1, count: 32))).map { [SSHIdentity(publicKey: $0, comment: "")] } ?? []
    }

    func sign(_ request: SSHSignatureRequest) async -> SSHSignature? { nil }
}
