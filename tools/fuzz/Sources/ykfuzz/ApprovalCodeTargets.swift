// SPDX-License-Identifier: Apache-2.0

import YKApproval
import YKCrypto

extension FuzzTarget {
    /// Suites of OCRA, links of accounts, what TiQR services and containers answer.
    static let approvalCodes: [FuzzTarget] = [
        FuzzTarget(name: "ocra-suite") { bytes in
            // A suite, a line feed, and the challenge.
            let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
            guard let suite = try? OCRASuite(String(decoding: parts[0], as: UTF8.self)) else { return }
            var input = OCRAInput(parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : "1")
            if suite.hasCounter { input.counter = .max }
            if suite.pinHash != nil { input.pin = SharedSecret(Secret([0x31])) }
            if let length = suite.sessionLength { input.session = [UInt8](repeating: 1, count: length) }
            if suite.timeStep != nil { input.time = .max }
            guard let response = try? suite.response(Secret([1, 2, 3]), input) else { return }
            let length = suite.digits == 0 ? suite.hash.digestSize * 2 : suite.digits
            require(response.utf8.count == length, "a response of another length")
        },
        FuzzTarget(name: "approval-link") { bytes in
            guard let link = try? ApprovalLink(String(decoding: bytes, as: UTF8.self)) else { return }
            _ = (link.kind, link.protocolName, link.server, link.serial)
            guard case .code(let code) = link, let step = code.twoStep, step.rounds <= 1000 else { return }
            let secret = try? step.secret(server: code.account.secret.value, part: Secret([1]))
            require(secret?.value.count == step.secretSize, "a secret of another length")
        },
        FuzzTarget(name: "container-update") { bytes in
            guard let update = try? ContainerUpdate(SharedSecret(Secret(bytes))) else { return }
            let links = try? update.links()
            require((try? ContainerUpdate(links: links ?? []).links()) == links, "links change when written and read")
            _ = try? update.confirmed()
        },
        FuzzTarget(name: "tiqr-answer") { bytes in _ = try? TiQRResult(bytes) },
    ]
}
