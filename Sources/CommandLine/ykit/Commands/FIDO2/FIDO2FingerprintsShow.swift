// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Shows the properties of the fingerprint sensor.
struct FIDO2FingerprintsShow: Verb {
    static let about = About(
        "info", "Show what the fingerprint sensor is like. No PIN is needed.",
        members: ["sensor", "samples", "maxNameLength", "enrolled"])

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFIDO()
        let info = try await service.info()
        guard info.hasBioEnrollment else { throw FIDOError.unsupported("bioEnroll") }
        let sensor = try await service.fingerprintSensor()
        let isEnrolled = (info.option(.bioEnroll) ?? info.option(.userVerificationMgmtPreview)) == true
        let rows = [
            ["sensor", sensor.isSwiped ? "the finger is swiped over it" : "the finger is put on it"],
            ["good samples for one finger", sensor.samplesNeeded.map { String($0) } ?? "not told"],
            ["longest name", sensor.maxNameLength.map { "\($0) bytes" } ?? "not told"],
            ["fingerprints", isEnrolled ? "enrolled" : "none enrolled"],
        ]
        return Answer(
            Table.lines(rows),
            [
                "sensor": sensor.isSwiped ? "swipe" : "touch",
                "samples": sensor.samplesNeeded.map { .int(Int64(clamping: $0)) } ?? .null,
                "maxNameLength": sensor.maxNameLength.map { .int(Int64(clamping: $0)) } ?? .null,
                "enrolled": .bool(isEnrolled),
            ])
    }
}
