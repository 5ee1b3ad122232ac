// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKRelyingParty
import YKTestSupport
import YKWire

/// What the metadata say about a model, and the order of lists.
struct MetadataStatusTests {
    private func entry(_ reports: JSONValue) throws -> MetadataEntry {
        let blob = try MetadataBLOB(
            payload: ["no": 1, "nextUpdate": "2026-02-01", "entries": [["statusReports": reports]]])
        return try #require(blob.entries.first)
    }

    @Test func theLatestCertificationCounts() throws {
        let entry = try entry([
            ["status": "FIDO_CERTIFIED_L2", "effectiveDate": "2025-02-01", "certificateNumber": "2"],
            ["status": "FIDO_CERTIFIED", "effectiveDate": "2020-02-01", "certificateNumber": "0"],
            ["status": "FIPS140_CERTIFIED_L2", "effectiveDate": "2025-09-01"],
            ["status": "NOT_FIDO_CERTIFIED", "effectiveDate": "2026-06-01"],
            ["status": "FIDO_CERTIFIED_L1"],
        ])
        expect(entry.certification(at: today)?.certificateNumber, is: "2")
        let before = try #require(UTCDate(2019, 1, 1)).seconds
        expect(entry.certification(at: before)?.status.rawValue, is: "FIDO_CERTIFIED_L1")
        expect(entry.certification(at: today + 366 * 86_400)?.status, is: .notCertified)
        try expect(self.entry([]).certification(at: today), is: nil)
        let twice = try self.entry([["status": "FIDO_CERTIFIED_L1"], ["status": "FIDO_CERTIFIED_L2"]])
        expect(twice.certification(at: today)?.status.rawValue, is: "FIDO_CERTIFIED_L2")
    }

    @Test("A level counts before FIDO_CERTIFIED of the same day or later")
    func theLevelCounts() throws {
        let real = try entry([
            ["status": "FIDO_CERTIFIED_L1", "effectiveDate": "2020-05-12", "certificateNumber": "FIDO20020180918001"],
            ["status": "FIDO_CERTIFIED", "effectiveDate": "2020-05-12"],
            ["status": "FIDO_CERTIFIED", "effectiveDate": "2021-05-12"],
        ])
        expect(real.certification(at: today)?.status.rawValue, is: "FIDO_CERTIFIED_L1")
        expect(real.certification(at: today)?.certificateNumber, is: "FIDO20020180918001")
        let plus = try entry([["status": "FIDO_CERTIFIED_L1plus"], ["status": "FIDO_CERTIFIED_L1"]])
        expect(plus.certification(at: today)?.status.rawValue, is: "FIDO_CERTIFIED_L1plus")
        try expect(entry([["status": "FIDO_CERTIFIED"]]).certification(at: today)?.status, is: .certified)
    }

    @Test("An odd entry does not affect the others")
    func oddEntries() throws {
        let blob = try MetadataBLOB(payload: [
            "no": 1, "nextUpdate": "2026-02-01",
            "entries": [
                nil, ["aaguid": "00"], ["statusReports": [["x": 1]]],
                [
                    "aaguid": "", "attestationCertificateKeyIdentifiers": ["00"],
                    "statusReports": [
                        [
                            "status": "REVOKED", "certificate": "AQ\nID", "authenticatorVersion": "5",
                            "effectiveDate": 7,
                        ],
                        ["status": "REVOKED", "batchCertificate": 1, "certificateNumber": 12],
                    ],
                ],
            ],
        ])
        #expect(blob.entries.count == 1 && blob.faults.count == 4)
        let reports = try #require(blob.entries.first).reports
        #expect(reports.map(\.certificate) == [[1, 2, 3], nil] && reports[0].authenticatorVersion == 5)
        #expect(reports[0].effectiveDate == nil && reports[1].certificateNumber == "12")
        expect(blob.faults.last, is: "entries[3].statusReports[1].batchCertificate: not base64")
    }

    @Test func warnsOfTheWholeModel() throws {
        let entry = try entry([
            ["status": "REVOKED", "effectiveDate": "2026-06-01"],
            ["status": "USER_VERIFICATION_BYPASS", "effectiveDate": "2025-01-01", "url": "https://example.com/"],
            ["status": "ATTESTATION_KEY_COMPROMISE", "certificate": "AQID"],
            ["status": "ATTESTATION_KEY_COMPROMISE", "batchCertificate": "AQID"],
            ["status": "UPDATE_AVAILABLE", "authenticatorVersion": 5],
        ])
        expect(entry.warnings(at: today).map(\.status), is: [.userVerificationBypass])
        expect(entry.warnings(at: today)[0].url, is: "https://example.com/")
        #expect(entry.reports(at: today).count == 2 && entry.update(at: today)?.authenticatorVersion == 5)
        try expect(self.entry([]).update(at: today), is: nil)
    }

    @Test func refusesOlderLists() throws {
        func list(_ number: Int64) throws -> MetadataBLOB {
            try MetadataBLOB(payload: ["no": .int(number), "nextUpdate": "2026-02-01", "entries": []])
        }
        var floor = MetadataFloor()
        try floor.accept(try list(7), anchors: [[1]])
        try floor.accept(try list(7), anchors: [[1]])
        try floor.accept(try list(3), anchors: [[2]])
        #expect(throws: MetadataError.rollback(from: 7, to: 6)) { try floor.accept(try list(6), anchors: [[1]]) }
        #expect(throws: MetadataError.rollback(from: 7, to: 5)) { try floor.accept(try list(5), anchors: [[2], [1]]) }
        var read = try MetadataFloor(parsing: Array(floor.json.text.utf8))
        #expect(throws: MetadataError.rollback(from: 7, to: 6)) { try read.accept(try list(6), anchors: [[1]]) }
        try read.accept(try list(8), anchors: [[1]])
        for text in ["", "{}", #"{"version":2,"seen":{}}"#, #"{"version":1,"seen":{"x":"y"}}"#] {
            #expect(throws: MetadataError.malformed("the record of lists")) {
                try MetadataFloor(parsing: Array(text.utf8))
            }
        }
    }

    @Test func hasTheRootsOfTheFIDOAlliance() {
        expect(
            MetadataBLOB.fidoAllianceAnchors.map { Hex.encode(HashAlgorithm.sha256.hash($0)) },
            is: [
                "4fa3126d8d3a11d1c4855a4f807cbad6cf919d3a5a88b03bea2c6372d93c40c9",
                "cbb522d7b7f127ad6a0113865bdf1cd4102e7d0759af635a7cf4720dc963c53b",
            ])
    }
}
