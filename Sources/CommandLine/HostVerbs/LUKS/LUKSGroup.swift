// SPDX-License-Identifier: Apache-2.0

package import Arguments
import Glibc
import TerminalIO
import Verbs
import YKFIDO
import YKLUKS

/// Commands for encrypted volumes.
package struct LUKSGroup: ParsableCommand {
    package static let about = About(
        "LUKS2 volumes that security keys open.",
        discussion: """
            A key opens a volume through a key slot and a token in the volume's header, in the formats of \
            systemd-cryptenroll: each opens what the other has enrolled. The token holds no secret. Volumes are changed \
            by cryptsetup.
            """,
        subcommands: [
            "list": LUKSList.self, "add": LUKSAdd.self, "replace": LUKSReplace.self,
            ["remove", "delete"]: LUKSRemove.self, "key": LUKSKey.self,
        ],
        examples: [Example("ykit luks list /dev/sda2")])

    package init() {}
}

/// The volume that the command line names.
struct LUKSPlace: ParsableArguments {
    @Argument("volume", help: "The LUKS2 volume: a block device, or a file.", completion: .file) var volume: String

    @Option("--header <file>", help: "The file with the volume's detached header.", completion: .file)
    var header: String?

    /// Reads the header.
    ///
    /// - Parameter isChanged: Whether the volume is about to be changed, which requires write permission.
    func open(isChanged: Bool = false) throws -> LUKSVolume {
        try LUKSVolume(volume, header: header, isChanged: isChanged)
    }
}

/// A volume that the command line names, with its header.
struct LUKSVolume {
    /// The absolute path of the encrypted data.
    let data: String
    /// The absolute path of the volume or file with the header, which cryptsetup changes.
    let path: String
    let header: LUKS2Header

    var metadata: LUKS2Metadata { header.metadata }
    var name: String { path.printable }

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - detached: The file with the header; `nil` if the volume begins with it.
    ///   - isChanged: Whether it is about to be changed, which requires write permission.
    init(_ name: String, header detached: String? = nil, isChanged: Bool = false) throws {
        data = Files.absolute(name)
        path = detached.map(Files.absolute) ?? data
        do throws(Explanation) {
            let bytes = try Files.read(path, upTo: LUKS2Header.readLimit)
            do throws(LUKSError) { header = try LUKS2Header(bytes) } catch {
                throw Explanation(Concerning(.volume(path), error))
            }
            guard !isChanged || access(path, W_OK) == 0 else { throw Files.failure("cannot write to", path) }
        } catch {
            guard error.exit == .permission else { throw error }
            var refused = error
            refused.hint = "volumes belong to root: repeat the command with sudo"
            throw refused
        }
    }

    /// Finds the program that changes the volume.
    func cryptsetup(_ run: Run) throws(Concerning) -> Cryptsetup {
        try changing { () throws(LUKSError) in try Cryptsetup.installed(path: run.variable("PATH")) }
    }

    /// Reads the header again after a change.
    func reread() throws -> LUKSVolume { try LUKSVolume(data, header: path) }

    /// Warnings about the header.
    var warnings: [Warning] {
        var warnings: [Warning] = []
        if header.isOtherCopyStale {
            warnings.append(
                Warning("header-damaged", "one copy of the header is damaged or old: 'cryptsetup repair' restores it"))
        }
        for token in metadata.tokens {
            if case .malformed(let reason) = token.kind {
                warnings.append(Warning("token-unusable", "token \(token.number) is unusable: \(reason.printable)"))
            } else if token.isOfKey, token.keyslots.allSatisfy({ metadata.keyslot($0) == nil }) {
                warnings.append(
                    Warning(
                        "token-without-slot",
                        "token \(token.number) has no key slot, as after an interrupted removal: cryptsetup token remove "
                            + "--token-id \(token.number) \(path.shellQuoted)"))
            }
        }
        return warnings
    }

    /// Runs a change, and explains its errors.
    func changing<Value>(_ change: () throws(LUKSError) -> Value) throws(Concerning) -> Value {
        do { return try change() } catch { throw Concerning(.volume(path), error) }
    }
}

extension LUKSToken {
    /// The kind of token, for people.
    var words: String {
        switch kind {
        case .fido2(let token):
            (["security key (FIDO2)"] + (token.isVerified ? ["PIN"] : []) + (token.needsTouch ? ["touch"] : []))
                .joined(separator: ", ")
        case .pkcs11(let token): "security key (PIV" + (token.slot.map { " slot \($0)" } ?? "") + ")"
        case .recovery: "recovery key"
        case .other: "token of type \(type.printable)"
        case .malformed: "unusable token of type \(type.printable)"
        }
    }

    /// The kind of token, for programs.
    var kindName: String {
        switch kind {
        case .fido2: "fido2"
        case .pkcs11: "pkcs11"
        case .recovery: "recovery"
        case .other, .malformed: "other"
        }
    }

    /// The key that the token names, for people.
    var keyWords: String? {
        let words = [name?.printable, serial?.printable].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }
}
