// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKHardware
import YKInventory
import YKWire

/// The files and volumes of this machine that refer to keys.
struct InventoryFiles: ParsableArguments {
    static let title = "File Options"

    @Option(
        "--file <file>",
        help: """
            Look up the keys of this file or LUKS2 volume: SSH, age, pam_u2f. May be repeated; by default the SSH keys, the \
            pam_u2f file and the volumes of this machine.
            """, completion: .file)
    var files: [String] = []

    @Flag("--no-files", help: "Look only at the keys, not at files.") var noFiles = false

    func check() throws {
        if noFiles, !files.isEmpty { throw UsageError("--file and --no-files cannot be combined") }
    }

    /// Returns the references of the files.
    func references(_ run: Run) throws(Explanation) -> [CredentialReference] {
        if noFiles { return [] }
        var found: [CredentialReference] = []
        for file in files { found += try Self.references(of: file) }
        guard files.isEmpty else { return found }
        for file in Self.defaultFiles(run) { found += (try? Self.references(of: file)) ?? [] }
        for volume in Self.volumes {
            do { found += try Self.references(of: volume) } catch {
                run.terminal.note("\(error.message); as root, ykit also shows which key opens this volume")
            }
        }
        return found
    }

    static func references(of file: String) throws(Explanation) -> [CredentialReference] {
        let bytes = try Files.read(file, upTo: CredentialReference.readLimit)
        do throws(ReferenceError) {
            return try CredentialReference.all(in: bytes, of: file, host: Machine.name)
        } catch { throw Explanation(Concerning(.file(file), error)) }
    }

    /// The private key files next to the public keys of security keys, and the mapping file of pam_u2f. Other private
    /// keys are not read.
    private static func defaultFiles(_ run: Run) -> [String] {
        guard run.variable("HOME")?.hasPrefix("/") == true else { return [] }
        let mapping = UserFolder.config.base { run.variable($0) }.map { $0 + "/Yubico/u2f_keys" }
        return (sshKeys(run) + [mapping].compactMap(\.self)).filter(Files.isFile)
    }

    /// The private key files next to the public keys of security keys in ~/.ssh.
    static func sshKeys(_ run: Run) -> [String] {
        guard let home = run.variable("HOME"), home.hasPrefix("/") else { return [] }
        let keys = SystemFile.names(in: home + "/.ssh").sorted().filter { name in
            guard name.hasSuffix(".pub") else { return false }
            let start = try? Files.read("\(home)/.ssh/\(name)", upTo: 3)
            return start == Array("sk-".utf8)
        }
        return keys.map { "\(home)/.ssh/\($0.dropLast(4))" }.filter(Files.isFile)
    }

    /// The LUKS2 volumes, as udev has found them.
    private static var volumes: [String] {
        SystemFile.names(in: "/sys/class/block").sorted().compactMap { name in
            guard let number = SystemFile.text("/sys/class/block/\(name)/dev")?.trimmed,
                let facts = SystemFile.text("/run/udev/data/b\(number)", limit: 1 << 16)?.split(separator: "\n"),
                facts.contains("E:ID_FS_TYPE=crypto_LUKS"), facts.contains("E:ID_FS_VERSION=2")
            else { return nil }
            return "/dev/\(name)"
        }
    }
}
