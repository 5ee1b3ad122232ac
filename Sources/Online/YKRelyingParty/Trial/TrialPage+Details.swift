// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

extension TrialPage {
    /// What the page lists below a step that passed, in the order of display.
    static func details(of result: TrialResult) -> [(name: String, words: String)] {
        guard result.outcome == .passed else { return [] }
        guard let response = result.response else {
            return [("browser", "the key is already registered (InvalidStateError)")]
        }
        var details = [(name: "user", words: response.flags.userState)]
        if let credential = response.credential {
            let transports = credential.transports.map(\.rawValue)
            details += [
                ("algorithm", credential.algorithm?.description ?? "unknown"),
                ("model", credential.isAnonymous ? "not disclosed" : "AAGUID \(Hex.uuid(credential.aaguid))"),
                ("attestation", words(for: credential)),
                ("transports", transports.isEmpty ? "not reported" : transports.listed()),
            ]
        } else {
            details.append(("signatures so far", String(response.counter)))
        }
        details += response.extensions.members.compactMap { row(of: $0.key, $0.value) }
        switch result.step {
        case .prf: details.append(("secrets", "two, of 32 bytes each"))
        case .largeBlobRead: details.append(("data", "\(TrialVerifier.blobLength) bytes, the same as were stored"))
        default: break
        }
        return details
    }

    private static func words(for credential: TrialResponse.Credential) -> String {
        guard credential.trust != .none else { return "none" }
        return "\(credential.format.rawValue), signed by \(credential.trust.description(isAnchored: false))"
    }

    /// The result of a client extension; `nil` if a row of the step says more.
    private static func row(of name: String, _ value: JSONValue) -> (name: String, words: String)? {
        switch name {
        case "credProps":
            guard let isDiscoverable = value["rk"]?.bool else { return nil }
            return ("stored on the key", isDiscoverable ? "yes" : "no")
        case "prf":
            guard let isEnabled = value["enabled"]?.bool else { return nil }
            return ("secrets (prf)", isEnabled ? "supported" : "not supported")
        case "largeBlob":
            if let isSupported = value["supported"]?.bool {
                return ("data (largeBlob)", isSupported ? "supported" : "not supported")
            }
            return value["written"]?.bool.map { ("data", $0 ? "stored" : "not stored") }
        default: return (name, value.text)
        }
    }
}
