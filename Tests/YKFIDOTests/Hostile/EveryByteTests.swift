// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKWire

@testable import YKFIDO

/// Every byte of every good answer with every other value: an error of its own type or a value, never a trap.
struct EveryByteTests {
    /// How an answer is read.
    struct Reading: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let good: [UInt8]
        let read: @Sendable (CTAPSession) throws(CTAPError) -> Void

        init<Command: CTAPCommand & SendableMetatype>(
            _ command: @escaping @Sendable () -> Command, _ good: CBOR.Map
        ) {
            testDescription = command().name
            self.good = CBOR.map(good).reply
            read = { session throws(CTAPError) in _ = try session.send(command()) }
        }
    }

    static let readings: [Reading] = [
        Reading({ GetInfo() }, Operation.info),
        Reading(
            {
                MakeCredential(
                    clientDataHash: hash, relyingParty: RelyingParty(id: "example.com"), user: FIDOUser(id: [1]))
            }, Operation.made),
        Reading({ GetAssertion(rpID: "example.com", clientDataHash: hash) }, Operation.signed.with(5, 2)),
        Reading({ GetNextAssertion() }, Operation.signed),
        Reading({ ClientPIN.GetPINRetries() }, [3: 8, 4: false]),
        Reading({ ClientPIN.GetUVRetries() }, [5: 3]),
        Reading({ ClientPIN.GetKeyAgreement(.two) }, [1: .map(Operation.agreementKey)]),
        Reading(
            { ClientPIN.GetToken(.two, platformKey: Operation.point, .pin(hash: [])) },
            [2: .bytes(.init(repeating: 1, count: 48))]),
        Reading({ CredentialManagementRequest.metadata.command(.credentialManagement, nil) }, [1: 1, 2: 20]),
        Reading(
            { CredentialManagementRequest.firstRelyingParty.command(.credentialManagement, nil) },
            Operation.party.with(5, 2)),
        Reading(
            { CredentialManagementRequest.firstCredential(rpIDHash: hash).command(.credentialManagement, nil) },
            Operation.stored.with(9, 2)),
        Reading({ BioEnrollmentRequest.sensor.command(.bioEnrollment, nil) }, [2: 1, 3: 5, 8: 20]),
        Reading(
            { BioEnrollmentRequest.list.command(.bioEnrollment, nil) }, [7: [[1: .bytes([1]), 2: "thumb"]]]),
        Reading(
            { BioEnrollmentRequest.begin(timeout: nil).command(.bioEnrollment, nil) },
            [4: .bytes([1]), 5: 0, 6: 1]),
        Reading({ LargeBlobs.Get(offset: 0, count: 100) }, Operation.blobs),
    ]

    /// A link that gives the same answer to everything.
    private final class Parrot: FIDOLink {
        let environment = ServiceEnvironment.instant
        let profile = FIDOLinkProfile(carrier: .hid, hasCTAP2: true, hasU2F: true)
        let generation = 0
        let messages = 0
        var reply: [UInt8] = []
        func call(
            _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
        ) throws(FIDOLinkError) -> [UInt8] { reply }
        func rest() {}
        func close() {}
    }

    @Test(arguments: readings) func everyByte(_ reading: Reading) throws {
        let parrot = Parrot()
        let session = CTAPSession(parrot)
        parrot.reply = reading.good
        try reading.read(session)
        for position in reading.good.indices {
            for value in Variations.made(of: Array(UInt8.min ... .max), at: position) {
                parrot.reply[position] = value
                try? reading.read(session)
            }
            parrot.reply[position] = reading.good[position]
        }
    }

    /// A status alone is an error of the command, whatever its number, but for the one that says "done".
    @Test(arguments: readings) func everyStatus(_ reading: Reading) {
        let parrot = Parrot()
        let session = CTAPSession(parrot)
        for value in UInt8(1) ... .max {
            parrot.reply = [value]
            do {
                try reading.read(session)
                Issue.record("status \(value)")
            } catch {
                expect(error.status?.rawValue, is: value)
            }
        }
    }
}
