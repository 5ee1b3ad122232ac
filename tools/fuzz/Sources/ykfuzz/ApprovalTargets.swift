// SPDX-License-Identifier: Apache-2.0

import YKApproval
import YKCrypto
import YKWire

extension FuzzTarget {
    /// The server's key of the requests in the corpus.
    private static let approvalKey = PublicKey.rsa(modulus: [UInt8](repeating: 0xC5, count: 256), exponent: [1, 0, 1])

    /// Links that enrol push accounts, their requests, and the history.
    static let approvals: [FuzzTarget] = [
        FuzzTarget(name: "push-link") { bytes in
            guard let link = try? PushLink(String(decoding: bytes, as: UTF8.self)) else { return }
            require(!link.serial.isEmpty && !link.serial.contains("|"), "a serial number that changes what is signed")
        },
        FuzzTarget(name: "push-request") { bytes in
            guard let json = try? JSONValue(parsing: bytes) else { return }
            let request = try? PushRequest(
                json, serial: "PIPU0000CAFE", url: "https://pi.example/ttype/push", key: approvalKey)
            require(request == nil, "a request that nobody signed")
            let shown = PushRequest.shown(json["question"]?.string ?? "", limit: 200)
            require(shown.unicodeScalars.count <= 200, "a text that is not cut")
        },
        FuzzTarget(name: "approval-history") { bytes in
            var history = ApprovalHistory(parsing: bytes)
            require(history.events.count == history.lines.count, "an event without its line")
            _ = history.prune(at: 1 << 40)
        },
    ]
}
