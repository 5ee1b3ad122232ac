// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKLUKS
import YKTransport

/// A key slot that is removed, after a backup of the header.
struct LUKSRemovedSlot: ParsableArguments {
    @Option("--keyslot <n>", help: "The key slot to remove.") var keyslot: Int?

    @Option(
        "--backup <file>",
        help: "Where to write the backup of the header, including the removed slot (default: luks-UUID.header).",
        completion: .file)
    var file: String?

    func check() throws {
        guard LUKS2Metadata.numbers.contains(number) else { throw UsageError("missing --keyslot 0 to 31") }
    }

    var number: Int { keyslot ?? -1 }

    /// Opens the file, before anything is changed.
    func open(_ volume: LUKSVolume) throws -> (path: String, file: FileOutput) {
        let name = volume.header.uuid.utf8.allSatisfy { $0 != 0x2F } ? volume.header.uuid : "volume"
        let path = file ?? "luks-\(name).header"
        return (path, try FileOutput(file: path, isSecret: true, force: nil))
    }

    /// Writes the backup: what 'cryptsetup luksHeaderRestore' reads.
    func write(_ volume: LUKSVolume, to file: FileOutput) throws {
        let bytes = try Files.read(volume.path, upTo: volume.header.backupSize)
        guard bytes.count == volume.header.backupSize else {
            throw Concerning(
                .volume(volume.path), LUKSError.damaged("its key material ends after \(bytes.count) bytes"))
        }
        try file.prepare(bytes)
        try file.commit()
    }
}

/// Removes a key slot.
struct LUKSRemove: Verb {
    static let uses: GlobalUse = [.device, .virtual, .plan]
    static let about = About(
        "Remove a key slot of a volume, and its token.",
        discussion: """
            The key need not be plugged in, so a lost key can be removed. The volume is unlocked through another slot, \
            which proves that this slot works; the last slot is never removed. The header is first saved to a file, \
            from which 'cryptsetup luksHeaderRestore' restores the slot. Delete the file when it is no longer needed: \
            with it, the removed key can still open the volume.
            """,
        examples: [
            Example("sudo ykit luks remove /dev/sda2 --keyslot 2"),
            Example("sudo ykit luks remove /dev/sda2 --keyslot 2 --unlock-with 23456789"),
        ])
    typealias Reported = (uuid: String, slot: Int, backup: String)
    static let answer = Shape<Reported>(
        Member("uuid") { $0.uuid }, Member("removedKeyslot") { $0.slot },
        Member("backup", "of the header") { $0.backup })

    @OptionGroup var place: LUKSPlace

    @OptionGroup var removed: LUKSRemovedSlot
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var unlocking: LUKSUnlocking

    func run(in run: Run) async throws -> Outcome<Reported> {
        let volume = try place.open(isChanged: true)
        let keyslot = removed.number
        try volume.changing { () throws(LUKSError) in try volume.metadata.checkRemovable(keyslot) }
        let cryptsetup = try volume.cryptsetup(run)
        run.describe("write a backup of the header to \(file(volume).printable)")
        run.describe("remove key slot \(keyslot) of \(volume.name)", ["cryptsetup luksKillSlot"])
        for token in volume.metadata.tokens(of: keyslot) where token.keyslots == [keyslot] {
            run.describe("remove token \(token.number)", ["cryptsetup token remove"])
        }
        try run.endPlan(nil)
        let (path, saved) = try removed.open(volume)
        let remaining = try await unlocking.open(volume, besides: keyslot, cryptsetup, in: run)
        try confirmation.ask(volume.question(keyslot, path), in: run)
        try removed.write(volume, to: saved)
        try run.showing("removing key slot \(keyslot) of \(volume.name)") {
            try volume.changing { () throws(LUKSError) in
                try volume.metadata.remove(slot: keyslot, from: volume.path, remaining: remaining, cryptsetup)
            }
        }
        return Outcome(
            (uuid: volume.header.uuid, slot: keyslot, backup: path),
            ["removed key slot \(keyslot) of \(volume.name)", "the previous header is in \(path.printable)"])
    }

    private func file(_ volume: LUKSVolume) -> String { removed.file ?? "luks-\(volume.header.uuid).header" }
}

extension LUKSVolume {
    /// The question before a slot is removed.
    func question(_ slot: Int, _ backup: String) -> String {
        let tokens = metadata.tokens(of: slot)
        let what = tokens.map { [$0.words, $0.keyWords].compactMap(\.self).joined(separator: " ") }
        let words = what.isEmpty ? "passphrase or key file" : what.joined(separator: ", ")
        return "remove key slot \(slot) of \(name) (\(words)), after a backup of the header to \(backup.printable)?"
    }
}

/// Replaces a key.
struct LUKSReplace: Verb {
    static let uses: GlobalUse = [.device, .virtual, .plan]
    static let about = About(
        "Let a key open a volume in place of another.",
        discussion: """
            Enrolls the new key as 'ykit luks add' does, proves that it opens the volume, and only then removes the key slot \
            of the old one. First the header is saved to a file, as by 'ykit luks remove'. A run that is interrupted leaves \
            a volume that both keys open.
            """,
        examples: [
            Example("sudo ykit luks replace /dev/sda2 --keyslot 1 --device 23456789"),
            Example("sudo ykit luks replace /dev/sda2 --keyslot 1 --plan", "Show what would be done."),
        ])

    @OptionGroup var place: LUKSPlace

    @OptionGroup var removed: LUKSRemovedSlot
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var unlocking: LUKSUnlocking
    @OptionGroup var key: LUKSNewKey

    func run(in run: Run) async throws -> Outcome<LUKSEnrolled> {
        let volume = try place.open(isChanged: true)
        let keyslot = removed.number
        guard volume.metadata.keyslot(keyslot) != nil else {
            throw Concerning(.volume(volume.path), LUKSError.noSuchSlot(keyslot))
        }
        let cryptsetup = try volume.cryptsetup(run)
        let saved = try run.perform { try removed.open(volume) }
        let prepared = try await key.prepare(volume, run)
        try key.plan(volume, run)
        try run.endPlan(
            "remove key slot \(keyslot) of \(volume.name), after a backup of the header", ["cryptsetup luksKillSlot"])
        guard let (path, file) = saved else { return .printed }
        try confirmation.ask(volume.question(keyslot, path), in: run)
        let present = try await unlocking.open(volume, cryptsetup, in: run)
        let enrollment = try await key.enroll(prepared, volume, run)
        try removed.write(volume, to: file)
        let added = try run.showing("adding a key slot to \(volume.name)") {
            try volume.changing { () throws(LUKSError) in
                try enrollment.add(to: volume.path, volume.metadata, present: present, cryptsetup)
            }
        }
        if run.environment.cancellation.isCancelled {
            throw Explanation(
                "interrupted", .interrupted,
                "interrupted; \(prepared.name.words) opens key slot \(added.slot), and slot \(keyslot) is not removed",
                hint: "ykit luks remove \(volume.name) --keyslot \(keyslot)")
        }
        let changed = try volume.reread()
        try run.showing("removing key slot \(keyslot) of \(volume.name)") {
            try changed.changing { () throws(LUKSError) in
                try changed.metadata.remove(
                    slot: keyslot, from: volume.path, remaining: enrollment.passphrase, cryptsetup)
            }
        }
        var report = LUKSEnrolled(volume, enrollment, prepared.name, slot: added.slot, token: added.token)
        report.removed = (keyslot, path)
        return Outcome(
            report,
            [
                "\(prepared.name.words) opens key slot \(added.slot) of \(volume.name), and slot \(keyslot) is removed",
                "the previous header is in \(path.printable)",
            ])
    }
}
