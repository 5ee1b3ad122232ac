// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Shows the remaining PIN retries.
struct FIDO2PINRetries: Verb {
    static let about = About(
        "retries", "Show how many PIN retries are left. Asking uses up none.",
        members: ["hasPin", "pinRetries", "needsReplug", "uvRetries"])

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFIDO()
        let info = try await service.info()
        guard info.takesPIN else { throw FIDOError.unsupported("clientPin") }
        guard info.hasPIN else { return Answer("no PIN is set", ["hasPin": false]) }
        let retries = try await service.pinRetries()
        var answer = Answer(
            ["\(retries.count) \(retries.count == 1 ? "try" : "tries") left"],
            [
                "hasPin": true, "pinRetries": .int(Int64(retries.count)),
                "needsReplug": .bool(retries.needsPowerCycle),
            ])
        if retries.count == 0 { answer.lines = ["the PIN is blocked for good, only a reset helps"] }
        if retries.needsPowerCycle {
            answer.lines.append("the key accepts no PIN until it is unplugged and plugged in again")
        }
        if info.hasBuiltInUV, let own = try? await service.uvRetries() {
            answer.members["uvRetries"] = .int(Int64(own))
            answer.lines.append("\(own) tries left for the key's own verification")
        }
        return answer
    }
}
