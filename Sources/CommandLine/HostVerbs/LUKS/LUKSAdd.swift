// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKLUKS
import YKWire

/// Enrolls a key.
struct LUKSAdd: Verb {
    static let uses: GlobalUse = [.device, .virtual, .plan]
    static let about = About(
        "add", "Let a key open a volume.",
        discussion: """
            Creates a FIDO2 credential that derives a passphrase, adds a key slot with it, and writes the token from \
            which 'ykit luks key' and systemd-cryptsetup derive it again. Two touches are required. The volume is \
            unlocked with a passphrase, a file, or a key that opens it already.
            """,
        examples: [
            Example("sudo ykit luks add /dev/sda2", "Enroll the key that is plugged in."),
            Example("sudo ykit luks add /dev/sda2 --piv 9d", "Enroll the key in a PIV slot."),
            Example(
                "sudo ykit luks add /dev/sda2 --device 23456789 --unlock-with 12345678",
                "Enroll a spare key; the first one unlocks the volume."),
        ])

    @OptionGroup var place: LUKSPlace

    @OptionGroup var agreement: Agreement
    @OptionGroup var unlocking: LUKSUnlocking
    @OptionGroup var key: LUKSNewKey

    func check() throws {
        try key.check()
        try unlocking.check()
    }

    func run(in run: Run) async throws -> Outcome<LUKSEnrolled> {
        let volume = try place.open(isChanged: true)
        let cryptsetup = try volume.changing { () throws(LUKSError) in try Cryptsetup.installed() }
        let prepared = try await key.prepare(volume, run)
        if let own = prepared.own.first {
            try agreement.ask(
                "this key already opens \(volume.name) with token \(own.number), "
                    + "and enrolling it again adds no spare: enroll it?",
                in: run)
        }
        try key.plan(volume, run)
        try run.endPlan(nil)
        let present = try await unlocking.open(volume, cryptsetup, in: run)
        let enrollment = try await key.enroll(prepared, volume, run)
        let added = try run.showing("adding a key slot to \(volume.name)") {
            try volume.changing { () throws(LUKSError) in
                try enrollment.add(to: volume.path, volume.metadata, present: present, cryptsetup)
            }
        }
        let report = LUKSEnrolled(volume, enrollment, prepared.name, slot: added.slot, token: added.token)
        return Outcome(report, "\(prepared.name.words) opens key slot \(added.slot) of \(volume.name)")
    }
}

/// A key that was enrolled.
struct LUKSEnrolled: Report {
    let uuid: String
    let kind: String
    let key: LUKSKeyName
    let slot: Int
    let token: Int
    let credential: [UInt8]?
    /// The slot that was removed, and the backup that contains it.
    var removed: (slot: Int, backup: String)?

    init(_ volume: LUKSVolume, _ enrollment: LUKSEnrollment, _ key: LUKSKeyName, slot: Int, token: Int) {
        (uuid, self.key, self.slot, self.token) = (volume.header.uuid, key, slot, token)
        if case .fido2(let token) = enrollment.kind {
            (kind, credential) = ("fido2", token.credential)
        } else {
            (kind, credential) = ("pkcs11", nil)
        }
    }

    static let members: [Member<Self>] = [
        Member("uuid") { $0.uuid }, Member("keyslot") { $0.slot }, Member("token", "its number") { $0.token },
        Member("kind", "fido2 or pkcs11") { $0.kind }, Member("key") { $0.key },
        Member("credentialId", "of fido2") { $0.credential.map(Base64.encodeURL) },
        Member("removedKeyslot", "by 'replace'") { $0.removed?.slot },
        Member("backup", "of the header, by 'replace'") { $0.removed?.backup },
    ]
}
