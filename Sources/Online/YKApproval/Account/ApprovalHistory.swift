// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// An entry of the history: the request, the answer, and the texts that both sides signed.
public struct ApprovalEvent: Hashable, Sendable {
    /// The time of the answer, in seconds since 1970.
    public let time: Int64
    /// The identifier of the account.
    public let account: String
    /// The decision: `approved`, `declined`, `cancelled`, or another word for other kinds of accounts.
    public let decision: String
    /// Whether the server accepted the answer; `nil` if it did not reply.
    public let isAccepted: Bool?
    /// The request as received, with the server's signature.
    public let challenge: JSONValue
    /// The text that the account's key signed.
    public let signedText: String
    /// The signature of the account's key, as sent.
    public let signature: String

    /// Creates an event.
    public init(
        time: Int64, account: String, decision: String, isAccepted: Bool?, challenge: JSONValue, signedText: String,
        signature: String
    ) {
        (self.time, self.account, self.decision, self.isAccepted) = (time, account, decision, isAccepted)
        (self.challenge, self.signedText, self.signature) = (challenge, signedText, signature)
    }

    /// The nonce of the request that was answered.
    public var nonce: String? { challenge["nonce"]?.string }

    init?(_ json: JSONValue) {
        guard let time = json["time"]?.int, let account = json["account"]?.string,
            let decision = json["decision"]?.string, let challenge = json["challenge"],
            let signedText = json["text"]?.string, let signature = json["signature"]?.string
        else { return nil }
        self.init(
            time: time, account: account, decision: decision, isAccepted: json["accepted"]?.bool, challenge: challenge,
            signedText: signedText, signature: signature)
    }

    /// The members of a line and of lists.
    public var json: JSONValue {
        [
            "time": .int(time), "account": .string(account), "decision": .string(decision),
            "accepted": isAccepted.map(JSONValue.bool) ?? .null, "challenge": challenge, "text": .string(signedText),
            "signature": .string(signature),
        ]
    }
}

/// The lines of a history: JSON objects, each with the SHA-256 of the line before it, so that changes and gaps are
/// detected.
public struct ApprovalHistory: Sendable {
    /// The events, oldest first.
    public private(set) var events: [ApprovalEvent] = []
    /// The lines as they are in the file.
    public private(set) var lines: [String] = []
    /// The number of the first line, counted from 1, that does not follow from the previous line or is malformed.
    public private(set) var fault: Int?

    /// The retention period of events: 90 days.
    public static let age = Duration.seconds(90 * 86_400)

    /// Reads a file. Malformed lines are skipped, and reported as ``fault``.
    public init(parsing bytes: [UInt8]) {
        var hash: String?
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            let json = try? JSONValue(parsing: Array(line))
            let event = json.flatMap { ApprovalEvent($0) }
            let previous = json?["previous"]?.string
            if event == nil || index > 0 && previous != hash { fault = fault ?? index + 1 }
            if let event {
                events.append(event)
                lines.append(String(decoding: line, as: UTF8.self))
            }
            hash = Hex.encode(HashAlgorithm.sha256.hash(line))
        }
        head = hash
    }

    /// The hash of the last line, which reveals a truncated history; `nil` for an empty one.
    public private(set) var head: String?

    /// Appends an event and returns its line.
    ///
    /// - Parameter last: The hash of the last line written, as recorded elsewhere, so that a line changed or removed
    ///   since then does not become part of the chain.
    public mutating func append(_ event: ApprovalEvent, after last: String? = nil) -> String {
        var object = event.json.object ?? JSONValue.Object()
        object["previous"] = (last ?? head).map(JSONValue.string) ?? .null
        let line = JSONValue.object(object).text
        events.append(event)
        lines.append(line)
        head = Hex.encode(HashAlgorithm.sha256.hash(Array(line.utf8)))
        return line
    }

    /// Removes events older than ``age``; returns whether there were any. The remaining lines still form a chain.
    public mutating func prune(at now: Int64) -> Bool {
        guard fault == nil else { return false }
        let old = events.prefix { $0.time < now - Self.age.components.seconds }.count
        events.removeFirst(old)
        lines.removeFirst(old)
        return old > 0
    }

    /// Returns whether a request of an account was answered and the server accepted the answer.
    public func isAnswered(_ nonce: String, account: String) -> Bool {
        events.contains { $0.account == account && $0.nonce == nonce && $0.isAccepted == true }
    }
}
