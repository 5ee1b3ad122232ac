// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKHardware
import YKInventory
import YKUse
import YKWire

/// Lists what a key opens, in a form that can be saved.
struct InventoryVerb: Verb {
    static let uses: GlobalUse = [.device, .virtual, .channel]
    static let about = About(
        "List what a key opens, to be saved and compared with another key.",
        discussion: """
            Passkeys, OATH accounts, keys and certificates of PIV and OpenPGP, SSH keys, keys for age, logins with \
            pam_u2f, LUKS2 volumes, OTP slots, YubiHSM credentials and Secrets. The output contains no secrets, but reveals where the key is used. 'ykit \
            compare' reads it in place of the key. Nothing is written to the key, and no touch is required.

            On a terminal the list is a table; in a file or a pipe it is JSON, the form that 'ykit compare' reads.
            """,
        examples: [
            Example("ykit inventory"), Example("ykit inventory > first.json", "Save what this key opens."),
            Example("ykit inventory --passkeys > first.json", "The same with passkeys, which requires the PIN."),
        ])

    @Flag("--passkeys", help: "Also list passkeys; requires the PIN.") var passkeys = false

    @OptionGroup var files: InventoryFiles
    @OptionGroup var pin: PINOptions

    func check() throws {
        try files.check()
        if !passkeys, pin.places.isGiven || pin.text != nil { throw UsageError("the PIN options require --passkeys") }
    }

    func run(in run: Run) async throws -> Outcome<InventoryReport> {
        let references = try files.references(run)
        let reading = try await run.inventory(references, pin: passkeys ? pin : nil)
        let report = InventoryReport(inventory: reading.inventory)
        let isForPeople = run.terminal.isOutputTerminal
        var outcome = Outcome(report, isForPeople ? report.lines : [reading.inventory.json.text])
        outcome.answer.warnings = reading.warnings
        return outcome
    }
}

extension Run {
    /// Reads what a key opens.
    ///
    /// - Parameter pin: The source of the PIN for listing passkeys; `nil` to omit them.
    func inventory(
        _ references: [CredentialReference], pin: PINOptions?
    ) async throws -> InventoryReader.Reading {
        var reader = InventoryReader(try await foundKey())
        reader.references = references
        if let pin {
            let credential = fidoCredential(pin, for: "list its passkeys")
            pins = credential
            reader.listsPasskeys = true
            reader.interaction = credential.interaction
        }
        reader.unlock = { service in try await self.unlock(service, PasswordOptions()) }
        let reading = try await reader.read(at: now)
        try checkInterrupted()
        return reading
    }
}

extension InventoryReader.Reading {
    /// Why some of the key's contents are missing.
    var warnings: [Warning] {
        problems.map { problem in
            Warning(Explanation(problem.error)) {
                "the \(problem.kind.words) of \(inventory.key.words) were not read: \($0)"
            }
        }
    }
}

/// What a key opens, in the form of a saved inventory.
struct InventoryReport: Report {
    let inventory: Inventory

    static let members: [Member<InventoryReport>] = [
        Member("format", "the name of the format of a saved inventory") { _ in Inventory.format },
        Member("formatVersion") { _ in Inventory.formatVersion },
        Member("key") { $0.inventory.key },
        Member("time", "seconds since 1970") { $0.inventory.time },
        Member("timeUTC", "the same in RFC 3339") { UTCDate.timestamp($0.inventory.time) },
        Member("timestamp", "the same as timeUTC") { UTCDate.timestamp($0.inventory.time) },
        Member("items") { $0.inventory.items },
        Member("kinds", "the kinds that were looked for") { report in
            Inventory.Kind.allCases.filter(report.inventory.kinds.contains).map(\.rawValue)
        },
        Member("gaps", "what was not read") { $0.inventory.gaps },
    ]

    /// The items by kind, with their number, and what was not read.
    var lines: [String] {
        var lines = [inventory.key.words]
        for kind in Inventory.Kind.allCases {
            let items = inventory.items.filter { $0.kind == kind }
            guard !items.isEmpty else { continue }
            lines += ["", Style.bold.around("\(kind.words) (\(items.count))")] + items.map { "  \($0.name.printable)" }
        }
        if inventory.items.isEmpty { lines += ["", "nothing that ykit can list"] }
        guard !inventory.gaps.isEmpty else { return lines }
        return lines + ["", "not read"] + inventory.gaps.map { "  " + $0.words }.asProse
    }
}

extension InventoriedKey: Report {
    static let members: [Member<InventoriedKey>] = [
        Member("name") { $0.name }, Member("serial") { $0.serial }, Member("firmware") { $0.version },
    ]

    /// Name and serial number.
    var words: String { name.printable + (serial.map { " \($0.printable)" } ?? "") }
}

extension Inventory.Item: Report {
    static let members: [Member<Inventory.Item>] = [
        Member("kind") { $0.kind },
        Member("target", "what the item opens; used to match the items of two keys") { $0.target },
        Member("name") { $0.name },
        Member("mark", "equal for the same secret or private key; not itself secret") { $0.mark },
        Member("relyingParty", "of a passkey") { $0.relyingParty },
    ]
}

extension Inventory.Kind: Reportable {}

extension Inventory.Gap: Report {
    static let members: [Member<Inventory.Gap>] = [
        Member("kind") { $0.kind },
        Member("reason", "not-requested, locked, failed or unknown") { $0.reason.rawValue },
    ]
}

extension Inventory.Kind {
    /// Its items, in the plural.
    var words: String {
        switch self {
        case .passkey: "passkeys"
        case .oath: "OATH accounts"
        case .piv: "PIV keys"
        case .openPGP: "OpenPGP keys"
        case .ssh: "SSH keys"
        case .age: "keys for age"
        case .pamU2F: "logins with pam_u2f"
        case .luks: "LUKS2 volumes"
        case .otp: "OTP slots"
        case .hsmAuth: "YubiHSM credentials"
        case .secrets: "entries of Secrets"
        }
    }

    /// How to add to a second key what only the first one has.
    var advice: String {
        switch self {
        case .passkey: "register the second key at the site: the address follows each passkey"
        case .oath: "add the account to both keys while its QR code is shown; sites show it again only for a new secret"
        case .piv: "generate a key in the same slot and have it certified; keep the first key to read old mail"
        case .openPGP: "add subkeys of the second key; a decryption key can only be copied from a backup"
        case .ssh: "'ykit ssh generate', then add the public key wherever the first one is authorized"
        case .age: "'ykit age generate', then encrypt files to both recipients"
        case .pamU2F: "'ykit fido2 register --format pam-u2f --append FILE' with the second key"
        case .luks: "'ykit luks add VOLUME' with the second key"
        case .otp: "program the slot of both keys with one secret: 'ykit otp chalresp SLOT' on each"
        case .hsmAuth: "'ykit hsmauth add' with the same key or password"
        case .secrets: "'ykit secrets add' with the same secret, while the site shows it"
        }
    }
}

extension Inventory.Gap {
    /// What was not read, and why.
    var words: String {
        switch reason {
        case .notRequested: "the \(kind.words) were not listed, which requires the PIN: --passkeys"
        case .locked: "the \(kind.words) are locked with a password"
        case .failed: "the \(kind.words) could not be read"
        case .unknown: "for some \(kind.words) the key does not report whether they are its own"
        }
    }
}

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
