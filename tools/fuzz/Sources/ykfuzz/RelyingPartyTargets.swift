// SPDX-License-Identifier: Apache-2.0

import Dispatch
import YKFIDO
import YKRelyingParty
import YKTransport
import YKWire

/// A relying party whose challenges are known, so that an input can answer them.
private struct FixedRandom: RandomSource {
    func draw(_ count: Int, secret: Bool) -> [UInt8] { [UInt8](repeating: 7, count: count) }
}

private let party: WebAuthnRelyingParty? = {
    let environment = ServiceEnvironment(random: FixedRandom(), clock: FixedClock(1_760_000_000))
    let memory = MemoryCeremonies(environment: environment)
    var party = try? WebAuthnRelyingParty(
        id: "example.com", name: "Example", origins: ["https://example.com"], ceremonies: memory,
        environment: environment)
    party?.attestation = .indirect
    return party
}()

/// The record of a credential that every account has.
private func record(_ id: [UInt8]) -> CredentialRecord? {
    try? CredentialRecord(
        json: [
            "id": .string(Base64.encodeURL(id)), "user": "AQ", "signCount": 1, "uvInitialized": true,
            "backupEligible": false, "backupState": false, "aaguid": "AAAAAAAAAAAAAAAAAAAAAA",
            "publicKey": .string(
                "pQECAyYgASFYIGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWIlggT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
            ),
        ])
}

private func judge(_ bytes: [UInt8]) async {
    guard let party else { return }
    if let begun = try? await party.beginRegistration(of: FIDOUser(id: [1]), session: "s"),
        let made = try? await party.finishRegistration(
            bytes, token: begun.token, session: "s", isRegistered: { _ in false })
    {
        require((try? CredentialRecord(json: made.record.json)) == made.record, "a record changes")
    }
    guard let begun = try? await party.beginAuthentication(of: [1], session: "s") else { return }
    _ = try? await party.finishAuthentication(bytes, token: begun.token, session: "s", find: record)
}

extension FuzzTarget {
    /// What browsers and the metadata service send a relying party.
    static let relyingParties: [FuzzTarget] = [
        FuzzTarget(name: "relying-party") { bytes in
            let done = DispatchSemaphore(value: 0)
            Task {
                await judge(bytes)
                done.signal()
            }
            done.wait()
        },
        FuzzTarget(name: "metadata") { bytes in
            _ = try? MetadataBLOB(jwt: bytes, anchors: [], at: 1_760_000_000)
            guard let json = try? JSONValue(parsing: bytes), let blob = try? MetadataBLOB(payload: json) else { return }
            for entry in blob.entries {
                let found = blob.entry(aaguid: entry.aaguid ?? [])
                require(entry.aaguid == nil || found?.aaguid == entry.aaguid, "a model is not found")
            }
        },
        FuzzTarget(name: "related-origins") { bytes in
            guard let related = try? RelatedOrigins(parsing: bytes) else { return }
            require((try? RelatedOrigins(parsing: Array(related.json.text.utf8))) == related, "a document changes")
            let read = related.origins.filter { (try? Origin($0)).map(related.permits) ?? false }
            require(read.count + related.ignored.count == related.origins.count, "an origin is lost")
        },
    ]
}
