// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKHTTP
import YKPrivacyIDEA
import YKTestSupport
import YKWire

@testable import YKApproval

/// What a privacyIDEA server answered, from `Tests/YKPrivacyIDEATests/exchanges`.
struct RecordedPushTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("YKPrivacyIDEATests/exchanges")

    /// The steps of the flows with these numbers, in order.
    private func steps(_ flows: [String]) throws -> [JSONValue] {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        var steps: [JSONValue] = []
        for name in names where flows.contains(String(name.prefix(2))) {
            let bytes = Array(try Data(contentsOf: Self.folder.appendingPathComponent(name)))
            steps += try JSONValue(parsing: bytes)["steps"]?.array ?? []
        }
        return steps
    }

    /// Every enrolment link of the recordings is read, and says what the server was asked for.
    @Test func readsEveryLink() throws {
        var count = 0
        for step in try steps(["02", "08", "24", "26", "29", "30", "31"]) {
            guard let text = step["response"]?["body"]?["detail"]?["pushurl"]?["value"]?.string else { continue }
            let link = try PushLink(text)
            expect(link.serial, is: step["response"]?["body"]?["detail"]?["serial"]?.string)
            expect(link.url.target, is: "/ttype/push")
            count += 1
        }
        #expect(count > 10)
    }

    /// Every request of the recordings is signed by the key that the server gave at the enrolment of its serial number.
    @Test func verifiesEveryRequest() throws {
        var keys: [String: PublicKey] = [:]
        var count = 0
        for step in try steps(["02", "03", "04", "05", "06", "07", "08", "26", "28", "29", "30", "33"]) {
            let body = step["response"]?["body"]
            if let serial = body?["detail"]?["serial"]?.string, let text = body?["detail"]?["public_key"]?.string {
                keys[serial] = try PublicKey(rsaPublicKey: Base64.decode(text.filter { !$0.isNewline }))
            }
            for entry in body?["result"]?["value"]?.array ?? [] {
                guard let serial = entry["serial"]?.string, entry["nonce"] != nil, let key = keys[serial] else {
                    continue
                }
                let url = try #require(entry["url"]?.string)
                let request = try PushRequest(entry, serial: serial, url: url, key: key)
                #expect(request.takesReason && request.nonce.count == 32)
                var forged = try #require(entry.object)
                forged["question"] = .string(request.question + " ")
                #expect(throws: PushRequestFault.signature) {
                    try PushRequest(.object(forged), serial: serial, url: url, key: key)
                }
                count += 1
            }
        }
        #expect(count > 15)
    }

    /// The texts that the recorded client signed are those of ``PushText``: checked with the key that it enrolled.
    @Test func signsWhatTheRecordedClientSigned() throws {
        var keys: [String: PublicKey] = [:]
        var (polls, answers) = (0, 0)
        for step in try steps(["02", "03", "04", "05", "06", "30"]) {
            let request = step["request"]
            let sent = request?["data"] ?? request?["params"] ?? .null
            guard request?["path"]?.string == "/ttype/push", let serial = sent["serial"]?.string else { continue }
            if let key = sent["pubkey"]?.string, step["response"]?["body"]?["result"]?["status"] == true {
                keys[serial] = try PublicKey(subjectPublicKeyInfo: Base64.decode(key))
            }
            guard let signature = sent["signature"]?.string, let key = keys[serial],
                step["response"]?["body"]?["result"]?["value"] != false,
                let bytes = try? Base32.decode(signature)
            else { continue }
            expect(PushText.encoded(bytes), is: signature)
            var text = ""
            if let timestamp = sent["timestamp"]?.string {
                text = PushText.poll(serial: serial, timestamp: timestamp)
                polls += 1
            } else if sent["decline"] != nil {
                let reason = sent["decline_reason"]?.string.flatMap { DeclineReason(rawValue: $0) }
                guard (sent["decline_reason"] == nil) == (reason == nil) else { continue }
                text = PushText.decline(of: sent["nonce"]?.string ?? "", serial: serial, reason)
                answers += 1
            } else {
                text = PushText.approval(
                    of: sent["nonce"]?.string ?? "", serial: serial, number: sent["presence_answer"]?.string)
                answers += 1
            }
            #expect(key.isValid(bytes, for: Array(text.utf8), .sha256), "\(text)")
        }
        #expect(polls > 5 && answers > 4)
    }
}
