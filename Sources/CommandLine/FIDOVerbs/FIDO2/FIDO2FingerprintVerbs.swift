// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
package import TerminalIO
import Verbs
package import YKFIDO
import YKWire

/// Commands for fingerprints.
struct FIDO2Fingerprints: ParsableCommand {
    static let about = About(
        "Manage the fingerprints of a key with a sensor.",
        subcommands: [
            "info": FIDO2FingerprintsShow.self, "list": FIDO2FingerprintsList.self, "add": FIDO2FingerprintsAdd.self,
            "rename": FIDO2FingerprintsRename.self, "delete": FIDO2FingerprintsDelete.self,
        ],
        examples: [Example("ykit fido2 fingerprints add --name \"right thumb\"")])
}

extension Fingerprint: Report {
    package static let members: [Member<Self>] = [
        Member("id", "hexadecimal") { $0.id }, Member("name") { $0.name },
    ]

    /// The template identifier in hexadecimal, as other tools print it.
    var id: String { Hex.encode(template) }

    /// The name, or else the identifier.
    fileprivate var words: String { name.map { "'\($0.printable)'" } ?? id }
}

extension Fingerprint: IdentifiedEntry {
    package static func wholeTests(_ name: String) -> [(Fingerprint) -> Bool] {
        let id = name.lowercased()
        return [{ $0.id == id }, { $0.name == name }]
    }

    package static func partTests(_ part: String) -> [(Fingerprint) -> Bool] { [] }

    package static var noun: String { "fingerprint" }
    package static var listing: String { "ykit fido2 fingerprints list" }
    package var candidate: String { id }
}

extension FIDOService {
    /// Throws if a name is longer than the key accepts for a fingerprint, since it would refuse the name only after the
    /// enrollment.
    fileprivate func check(fingerprintName name: String) throws {
        guard let limit = try fingerprintSensor().maxNameLength, name.utf8.count > limit else { return }
        throw Explanation.usage("a name of \(name.utf8.count) bytes is too long; this key accepts at most \(limit)")
    }
}

extension Run {
    /// Opens the FIDO application of a key with a fingerprint sensor and a PIN.
    func openFingerprints(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let service = try await openFIDO(pin, for: reason)
        let info = try await service.info()
        guard info.hasBioEnrollment else { throw FIDOError.unsupported("bioEnroll") }
        guard info.hasPIN else { throw FIDOError.pinNotSet }
        return service
    }
}

/// Lists fingerprints.
struct FIDO2FingerprintsList: Verb {
    static let about = About(
        "List the enrolled fingerprints. Requires the PIN.",
        examples: [Example("ykit fido2 fingerprints list")])
    static let answer = Shape(Item<[Fingerprint]>("fingerprints"))

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<[Fingerprint]> {
        let service = try await run.openFingerprints(pin, for: "list its fingerprints")
        let all = try await service.fingerprints()
        let lines = Table.lines(all.map { [$0.id, $0.name?.printable ?? ""] })
        return Outcome(all, all.isEmpty ? ["no fingerprints"] : lines.map(\.trimmed))
    }
}

/// Enrolls a fingerprint.
struct FIDO2FingerprintsAdd: Verb {
    static let about = About(
        "Enroll a fingerprint. ^C cancels the enrollment.",
        examples: [Example("ykit fido2 fingerprints add --name thumb")])
    static let answer = Shape(Item<Fingerprint>("fingerprint"), Item<Int>("samples", "how many were taken"))

    @Option("--name", help: "A name for the fingerprint.") var name: String?

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<(Fingerprint, Int)> {
        let service = try await run.openFingerprints(pin, for: "enroll a fingerprint")
        if let name { try await service.check(fingerprintName: name) }
        run.terminal.say("touch the sensor repeatedly until enrollment is complete")
        var sample = try await service.beginEnrollment()
        var count = 1
        do {
            while sample.remaining > 0 {
                Self.tell(sample, run.terminal)
                sample = try await service.nextSample(of: sample.template)
                count += 1
            }
        } catch {
            try? await service.cancelEnrollment()
            throw error
        }
        Self.tell(sample, run.terminal)
        if let name { try await service.renameFingerprint(sample.template, to: name) }
        let made = Fingerprint(template: sample.template, name: name)
        return Outcome((made, count), "enrolled fingerprint \(made.id)\(name.map { " '\($0.printable)'" } ?? "")")
    }

    private static func tell(_ sample: FingerprintSample, _ terminal: Terminal) {
        let meaning = sample.feedback.meaning ?? "feedback \(sample.feedback.rawValue)"
        terminal.say("\(meaning), \(sample.remaining) more")
    }
}

/// Names a fingerprint.
struct FIDO2FingerprintsRename: Verb {
    static let about = About(
        "Rename a fingerprint.",
        examples: [Example("ykit fido2 fingerprints rename thumb \"left thumb\"")])
    static let answer = Shape(Item<Fingerprint>("fingerprint"))

    @Argument("fingerprint", help: "The fingerprint: its identifier or its name.") var fingerprint: EntryQuery

    @Argument("name", help: "The new name.") var name: String

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Fingerprint> {
        let service = try await run.openFingerprints(pin, for: "name a fingerprint")
        try await service.check(fingerprintName: name)
        let found = try run.entry(toChange: fingerprint, in: try await service.fingerprints(), .forPart) {
            "rename the fingerprint \($0.words)?"
        }
        try await service.renameFingerprint(found.template, to: name)
        return Outcome(
            Fingerprint(template: found.template, name: name), "fingerprint \(found.id) is now '\(name.printable)'")
    }
}

/// Deletes a fingerprint from the key.
struct FIDO2FingerprintsDelete: Verb {
    static let about = About(
        "Delete a fingerprint.",
        examples: [Example("ykit fido2 fingerprints delete thumb")])
    static let answer = Shape(Item<Fingerprint>("fingerprint"))

    @Argument("fingerprint", help: "The fingerprint: its identifier or its name.") var fingerprint: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Fingerprint> {
        let service = try await run.openFingerprints(pin, for: "delete a fingerprint")
        let all = try await service.fingerprints()
        let found = try run.entry(toChange: fingerprint, in: all, .always(unless: confirmation)) {
            "the fingerprint \($0.words) would have to be enrolled again: delete it?"
        }
        try await service.removeFingerprint(found.template)
        return Outcome(found, "deleted the fingerprint \(found.words)")
    }
}

/// Shows the properties of the fingerprint sensor.
struct FIDO2FingerprintsShow: Verb {
    static let about = About(
        "Show details of the fingerprint sensor. Needs no PIN.",
        examples: [Example("ykit fido2 fingerprints info")])

    /// The sensor, and whether a fingerprint is enrolled.
    struct Sensor: Report {
        let sensor: FingerprintSensor
        let isEnrolled: Bool
        static let members: [Member<Self>] = [
            Member(
                "sensor", "touch or swipe", title: "sensor",
                words: { $0 == "swipe" ? "swipe the finger over it" : "touch it with the finger" }
            ) { $0.sensor.isSwiped ? "swipe" : "touch" },
            Member(
                "samples", "good samples needed for one finger", title: "good samples for one finger",
                absent: "not reported"
            ) { $0.sensor.samplesNeeded },
            Member("maxNameLength", "bytes", title: "longest name", absent: "not reported", words: { "\($0) bytes" }) {
                $0.sensor.maxNameLength
            },
            Member(
                "enrolled", "whether a fingerprint is enrolled", title: "fingerprints",
                words: { $0 ? "enrolled" : "none enrolled" }
            ) { $0.isEnrolled },
        ]
    }

    func run(in run: Run) async throws -> Outcome<Sensor> {
        let service = try await run.openFIDO()
        let info = try await service.info()
        guard info.hasBioEnrollment else { throw FIDOError.unsupported("bioEnroll") }
        let sensor = try await service.fingerprintSensor()
        let isEnrolled = (info.option(.bioEnroll) ?? info.option(.userVerificationMgmtPreview)) == true
        let report = Sensor(sensor: sensor, isEnrolled: isEnrolled)
        return Outcome(report, report.details)
    }
}
