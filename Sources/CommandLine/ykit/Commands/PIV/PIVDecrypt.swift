// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKPIV
import YKWire

/// Decrypts a message.
struct PIVDecrypt: Verb {
    static let about = About(
        "decrypt", "Decrypt a message with the RSA key in a slot.",
        discussion: """
            The message is as long as the key, as 'openssl pkeyutl -encrypt' makes it. Its default with OAEP \
            is --hash sha1. For keys on curves there is 'ykit piv derive'.
            """, members: ["slot", "algorithm", "padding", "hash", "plaintext", "output"])

    @Option(name: .shortAndLong, help: PIVSlot.help) var slot: PIVSlot

    @Argument(help: "The file with the message, - for standard input.", completion: .file) var file = "-"

    @Option(help: "How the message was padded: pkcs1 or oaep.") var padding: PaddingChoice = .pkcs1

    @Option(help: "The hash of OAEP: sha256, sha384, sha512 or sha1.") var hash: HashChoice = .sha256

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where the plain text goes.", valueName: "file"), completion: .file)
    var output = "-"

    @Option(help: "The kind of key, if the card does not report it.") var algorithm: PIVAlgorithm?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    /// The padding of a message.
    enum PaddingChoice: String, CaseIterable, ExpressibleByArgument {
        case pkcs1, oaep
    }

    func answer(in world: World) async throws -> Answer {
        let target = try FileOutput(output, isSecret: true, force: replacing.force, world)
        let message = try Files.read(file)
        let service = try await world.openPIV()
        var unlocking = PIVUnlocking(world, service, pin)
        let use = try await unlocking.prepare(slot, algorithm, .decrypt, for: "decrypt")
        let padding = padding == .oaep ? DecryptionPadding.oaep(hash.algorithm) : .pkcs1
        let plaintext = try await use.touching(world) {
            try await service.decrypt(message, use.slot, padding: padding, algorithm: use.algorithm)
        }
        var answer = Answer("the plain text is in \(output)", [:])
        let bytes = plaintext.value.copyBytes()
        let isText = String(validating: bytes, as: UTF8.self).map { $0 == $0.printable } ?? false
        try target.put(bytes, isText: isText, &answer)
        answer.members["slot"] = .string(slot.description)
        answer.members["algorithm"] = .string(use.algorithm.description)
        answer.members["padding"] = .string(self.padding.rawValue)
        answer.members["hash"] = self.padding == .oaep ? .string(hash.rawValue) : .null
        answer.members["plaintext"] = output == "-" ? .string(Base64.encodeURL(bytes)) : .null
        answer.members["output"] = .string(output)
        return answer
    }
}
