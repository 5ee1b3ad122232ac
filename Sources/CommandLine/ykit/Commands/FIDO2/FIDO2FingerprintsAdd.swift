// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKTransport
import YKWire

/// Enrols a fingerprint.
struct FIDO2FingerprintsAdd: Verb {
    static let about = About(
        "add", "Enrol a fingerprint. ^C cancels the enrolment.", members: ["fingerprint", "samples"])

    @Option(help: "What to call it.") var name: String?

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFingerprints(pin, for: "enrol a fingerprint")
        world.terminal.say("put the finger on the sensor, and lift it, until it is enough")
        var sample = try await service.beginEnrollment()
        var count: Int64 = 1
        do {
            while sample.remaining > 0 {
                Self.tell(sample, world.terminal)
                sample = try await service.nextSample(of: sample.template)
                count += 1
            }
        } catch {
            try? await service.cancelEnrollment()
            throw error
        }
        Self.tell(sample, world.terminal)
        if let name { try await service.renameFingerprint(sample.template, to: name) }
        let id = Hex.encode(sample.template)
        return Answer(
            "enrolled fingerprint \(id)\(name.map { " '\($0.printable)'" } ?? "")",
            [
                "fingerprint": ["id": .string(id), "name": name.map(JSON.string) ?? .null],
                "samples": .int(count),
            ])
    }

    private static func tell(_ sample: FingerprintSample, _ terminal: Terminal) {
        let meaning = sample.feedback.meaning ?? "feedback \(sample.feedback.rawValue)"
        terminal.say("\(meaning), \(sample.remaining) more")
    }
}
